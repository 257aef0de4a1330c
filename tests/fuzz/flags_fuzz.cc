// Any command line is either refused in words, or every value in it is one of its flag's type.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/flags/flag_table.h"
#include "app/flags/flag_value.h"
#include "app/flags/parsed_flags.h"
#include "app/flags/validate_flags.h"
#include "base/check.h"

namespace denselet::app {
namespace {

void CheckUse(const ParsedFlags& flags, const FlagUse& use) {
  const FlagSpec* flag = FindFlag(use.name);
  CHECK(flag != nullptr && flag->name == use.name);
  CHECK(ParseFlagValue(flag->type, use.value));
  CHECK(flags.Has(use.name));
  CHECK(flags.Texts(use.name).back() == flags.Text(use.name));
}

}  // namespace
}  // namespace denselet::app

// The input: one word a line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet::app;
  std::vector<std::string> words(1);
  for (size_t i = 0; i < size; ++i) {
    const char c = static_cast<char>(data[i]);
    if (c == '\n') {
      words.emplace_back();
    } else if (c != '\0') {
      words.back() += c;
    }
  }
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  const FlagResult result = ParseFlags(args);
  for (const std::string& error : result.errors) CHECK(!error.empty());
  CHECK(result.warnings.size() <= result.flags.uses.size());
  for (const FlagUse& use : result.flags.uses) CheckUse(result.flags, use);
  for (const auto& fault : ValidateFlags(result.flags)) CHECK(!fault.message.empty());
  return 0;
}
