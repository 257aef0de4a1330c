#include <cerrno>
#include <cstdio>
#include <span>
#include <string>

#include "app/command_line.h"
#include "reactor/real_clock.h"

namespace {

int Fail(const denselet::Error& error) {
  std::fprintf(stderr, "Error: %s\nRun 'denselet --help' for usage.\n", error.message().c_str());
  return 1;
}

// The program's exit code. Flushed here: at the program's end nobody would see that it failed.
int Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  const auto error = denselet::Error::FromErrno(errno, "standard output");
  std::fprintf(stderr, "Error: %s\n", error.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace denselet::app;
  const denselet::reactor::RealClock clock;
  const auto line = ParseCommandLine(std::span<const char* const>(argv, argv + argc).subspan(1));
  if (!line) return Fail(line.error());
  if (line->command == Command::kHelp) return Print(HelpText());
  if (line->command == Command::kVersion) return Print(VersionText());

  const auto backend = ChooseReactor(*line, clock);
  if (!backend) return Fail(backend.error());
  if (line->command == Command::kVersionRaw) return Print(RawVersionText(*backend));
  std::fputs(
      "Error: this version of denselet cannot run pods yet; see the status table in README.md\n",
      stderr);
  return 1;
}
