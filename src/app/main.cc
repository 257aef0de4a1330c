#include <cstdio>
#include <span>

#include "app/command_line.h"
#include "reactor/real_clock.h"

namespace {

int Fail(const denselet::Error& error) {
  std::fprintf(stderr, "Error: %s\nRun 'denselet --help' for usage.\n", error.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace denselet::app;
  const denselet::reactor::RealClock clock;
  const auto line = ParseCommandLine(std::span<const char* const>(argv, argv + argc).subspan(1));
  if (!line) return Fail(line.error());
  if (line->command == Command::kHelp) return std::fputs(HelpText().c_str(), stdout) < 0;
  if (line->command == Command::kVersion) return std::fputs(VersionText().c_str(), stdout) < 0;

  const auto backend = ChooseReactor(*line, clock);
  if (!backend) return Fail(backend.error());
  if (line->command == Command::kVersionRaw) {
    return std::fputs(RawVersionText(*backend).c_str(), stdout) < 0;
  }
  std::fputs(
      "Error: this version of denselet cannot run pods yet; see the status table in README.md\n",
      stderr);
  return 1;
}
