// What a simulated process does, in words: those a shell would understand (sleep 5; echo x; exit 1)
// and some of our own. From the container's command, its environment, or the pod's annotations.
// Pure.
//
//   sleep D          nothing for D ("5", "1.5s", "inf")
//   echo TEXT        a line on standard output
//   log D TEXT       from here on a line every D
//   exit N           the end; so are true, false and oom (killed for memory: 137, OOMKilled)
//   message TEXT     into the termination message
//   healthy          in a container: probes succeed from here on. Run by exec: 0 if they do, else 1
//   unhealthy        in a container: probes fail from here on
//   on-term D N      what SIGTERM does: the end after D with code N (without it: at once, 143)
//   ignore-term      only SIGKILL ends it
//
// Statements are separated by ;, && or new lines. Any other word takes no time, but as the last
// statement of a container it runs for ever.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace denselet::cri_sim {

struct ScriptStep {
  enum class Kind : uint8_t {
    kSleep,
    kEcho,
    kLog,
    kExit,
    kOom,
    kMessage,
    kHealthy,
    kUnhealthy,
    kOnTerm,
    kIgnoreTerm,
    kOther,
  };
  Kind kind = Kind::kOther;
  Duration time{};  // Duration::max(): for ever
  int32_t code = 0;
  std::string text;

  friend bool operator==(const ScriptStep&, const ScriptStep&) = default;
};

std::vector<ScriptStep> ParseScript(std::string_view text);

// What a shell would be given: the text behind `sh -c`, or the words with blanks between.
std::string ScriptOfCommand(const std::vector<std::string>& argv);

}  // namespace denselet::cri_sim
