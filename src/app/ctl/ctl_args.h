// The command line of denseletctl.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace denselet::app {

enum class CtlCommand : uint8_t {
  kHelp,
  kVersion,
  kPods,
  kTop,
  kPod,
  kPleg,
  kMetrics,
  kAgent,
};

struct CtlArgs {
  CtlCommand command = CtlCommand::kHelp;
  std::string socket = {};  // never empty
  bool json = false;
  std::string pod = {};                   // of kPod: as it was written
  std::optional<std::string> ns = {};     // -n
  Duration interval = Seconds(1);         // of kTop
  std::string note = {};                  // of kTop: below the table, on a terminal
  std::optional<Duration> time_max = {};  // of kTop: --for
};

// `default_socket` where none is named. kInvalid: what is wrong, in a sentence.
Result<CtlArgs> ParseCtlArgs(std::span<const char* const> words, std::string_view default_socket);

std::string CtlHelpText(std::string_view default_socket);

}  // namespace denselet::app
