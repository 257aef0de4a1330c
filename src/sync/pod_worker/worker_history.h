// The last things that a worker did, for people. Of a thousand pods nobody asks about most: our own
// words, of which nearly all of it consists, are kept by their address, at 32 bytes a line.
//
// A plain value of one worker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sync/decide/pod_state.h"

namespace denselet::sync {

inline constexpr size_t kTransitionsMax = 32;  // then the oldest goes

struct WorkerTransition {
  TimePoint at;
  Phase phase;
  std::string what;
};

class WorkerHistory {
 public:
  // `word` is never destroyed: a literal, or the name of a value.
  void Did(TimePoint now, Phase phase, std::string_view word);
  void WaitsFor(TimePoint now, Phase phase, std::string_view word);
  // A text of others, or with one in it.
  void Tell(TimePoint now, Phase phase, std::string text);

  // The oldest first.
  std::vector<WorkerTransition> All() const;

 private:
  enum class Kind : uint8_t { kDid, kWaitsFor, kText };
  struct Line {
    TimePoint at;
    const char* word;
    std::unique_ptr<std::string> text;  // of kText
    uint32_t word_size;
    Phase phase;
    Kind kind;
  };

  void Add(Line line);

  std::vector<Line> lines_;
};

}  // namespace denselet::sync
