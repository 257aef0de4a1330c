#include <cstdio>
#include <span>

#include "app/command_line.h"

int main(int argc, char** argv) {
  using namespace denselet::app;
  const auto line = ParseCommandLine(std::span<const char* const>(argv, argv + argc).subspan(1));
  if (!line) {
    std::fprintf(stderr, "Error: %s\nRun 'denselet --help' for usage.\n",
                 line.error().message().c_str());
    return 1;
  }
  switch (line->command) {
    case Command::kHelp:
      std::fputs(HelpText().c_str(), stdout);
      return 0;
    case Command::kVersion:
    case Command::kVersionRaw:
      std::fputs(VersionText(line->command).c_str(), stdout);
      return 0;
    case Command::kRun:
      std::fputs(
          "Error: this version of denselet cannot run pods yet; see the status table in "
          "README.md\n",
          stderr);
      return 1;
  }
}
