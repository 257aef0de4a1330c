#include <gmock/gmock.h>

#include "app/features/gate_table.h"
#include "app/flags/flag_table.h"
#include "app/flags/parsed_flags.h"

namespace denselet::app {
namespace {

using testing::HasSubstr;

TEST(HelpText, NamesEveryFlagOnceUnderItsGroup) {
  const std::string help = HelpText(100);
  for (const FlagSpec& flag : AllFlags()) {
    const std::string name = "--" + std::string(flag.name);
    size_t count = 0;
    for (const char* end : {"\n", " "}) {
      for (const std::string& lead :
           {std::string("\n      "), std::string("\n  -") + flag.letter + ", "}) {
        if (help.find(lead + name + end) != std::string::npos) ++count;
      }
    }
    EXPECT_EQ(count, 1u) << name;
    EXPECT_THAT(help, HasSubstr("\n" + std::string(flag.group) + ":\n"));
  }
}

TEST(HelpText, ShowsTypesDefaultsAndDeprecations) {
  const std::string help = HelpText(0);
  EXPECT_THAT(help, HasSubstr("\n  -v, --v Level\n          how much is logged\n"));
  EXPECT_THAT(help, HasSubstr("\n      --version version[=true]\n"));
  EXPECT_THAT(help, HasSubstr("\n      --root-dir string (default \"/var/lib/kubelet\")\n"));
  EXPECT_THAT(help, HasSubstr("\n      --fail-cgroupv1 (default true)\n"));
  EXPECT_THAT(help, HasSubstr("\n      --max-pods int32 (default 110)\n          pods on this node "
                              "(DEPRECATED: set maxPods in the file given by --config instead)\n"));
}

TEST(HelpText, ListsTheGatesUnderTheirFlag) {
  const std::string help = HelpText(100);
  const size_t flag = help.find("--feature-gates");
  const size_t next = help.find("\n      --", flag);
  for (const std::string& line : GateHelpLines()) {
    const size_t at = help.find("\n          " + line + "\n");
    EXPECT_GT(at, flag) << line;
    EXPECT_LT(at, next) << line;
  }
}

TEST(HelpText, KeepsToTheColumns) {
  for (const size_t columns : {60u, 80u, 100u}) {
    const std::string help = HelpText(columns);
    for (size_t begin = help.find("\nGeneral:\n"); begin < help.size();) {
      const size_t end = std::min(help.find('\n', begin), help.size());
      const std::string line = help.substr(begin, end - begin);
      const bool one_word = line.find(' ', 10) == std::string::npos;
      const bool prose = line.starts_with("          ") && line.find("true|false (") == line.npos;
      if (prose && !one_word) {
        EXPECT_LE(line.size(), columns) << line;
      }
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace denselet::app
