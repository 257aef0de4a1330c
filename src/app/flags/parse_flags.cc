#include "app/flags/flag_table.h"
#include "app/flags/flag_value.h"
#include "app/flags/parsed_flags.h"
#include "app/flags/text.h"

namespace denselet::app {
namespace {

// One walk over the words. What is wrong is written down, and the walk goes on: an operator should
// not have to find faults one start at a time.
class Parser {
 public:
  explicit Parser(std::span<const char* const> args) : words_(args.begin(), args.end()) {}

  FlagResult Run() {
    while (at_ < words_.size()) {
      const std::string_view word = words_[at_++];
      if (word == "--") {
        while (at_ < words_.size()) others_.push_back(words_[at_++]);
      } else if (word.starts_with("--")) {
        TakeLong(word);
      } else if (word.size() > 1 && word.starts_with('-')) {
        TakeShort(word.substr(1));
      } else {
        others_.push_back(word);
      }
    }
    ChooseCommand();
    return std::move(result_);
  }

 private:
  void Fail(std::string message) { result_.errors.push_back(std::move(message)); }

  // The kubelet's flags are refused in its words, our own in those of our configuration.
  static std::string Refusal(const FlagSpec& flag, std::string_view value, const Error& error) {
    const std::string name = "--" + std::string(flag.name);
    if (flag.name.starts_with("denselet-")) {
      return name + ": found " + Quoted(value) + ", wanted " + error.message();
    }
    const std::string letter = flag.letter == 0 ? "" : std::string{'-', flag.letter, ',', ' '};
    return "invalid argument " + Quoted(value) + " for " + Quoted(letter + name) +
           " flag: " + error.message();
  }

  void Use(const FlagSpec& flag, std::string_view value) {
    if (const auto parsed = ParseFlagValue(flag.type, value); !parsed) {
      return Fail(Refusal(flag, value, parsed.error()));
    }
    result_.flags.uses.push_back({std::string(flag.name), std::string(value)});
    if (flag.deprecation.empty()) return;
    result_.warnings.push_back("Flag --" + std::string(flag.name) + " has been deprecated, " +
                               flag.deprecation);
  }

  // What follows a flag that nobody knows is taken for its value, unless it is a flag.
  void DropValue() {
    if (at_ < words_.size() && !words_[at_].starts_with('-')) ++at_;
  }

  void TakeLong(std::string_view word) {
    std::string_view value = word.substr(2);
    if (value.starts_with('-') || value.starts_with('=')) {
      return Fail("bad flag syntax: " + std::string(word));
    }
    const bool assigned = value.find('=') != std::string_view::npos;
    const std::string_view name = TakeUntil(value, '=');
    const FlagSpec* flag = FindFlag(name);
    if (flag == nullptr) {
      Fail("unknown flag: --" + std::string(name));
      if (!assigned) DropValue();
    } else if (assigned) {
      Use(*flag, value);
    } else if (!flag->WithoutValue().empty()) {
      Use(*flag, flag->WithoutValue());
    } else if (at_ < words_.size()) {
      Use(*flag, words_[at_++]);
    } else {
      Fail("flag needs an argument: --" + std::string(name));
    }
  }

  // Letters of flags, one after the other; the rest behind one that takes a value is that value.
  void TakeShort(std::string_view letters) {
    while (!letters.empty()) {
      const std::string where = QuotedChar(letters.front()) + " in -" + std::string(letters);
      const FlagSpec* flag = FindFlagByLetter(letters.front());
      const std::string_view rest = letters.substr(1);
      if (flag == nullptr) {
        Fail("unknown shorthand flag: " + where);
        if (rest.empty()) DropValue();
        return;
      }
      if (rest.size() > 1 && rest.starts_with('=')) return Use(*flag, rest.substr(1));
      if (!flag->WithoutValue().empty()) {
        Use(*flag, flag->WithoutValue());
        letters = rest;
        continue;
      }
      if (!rest.empty()) return Use(*flag, rest);
      if (at_ < words_.size()) return Use(*flag, words_[at_++]);
      return Fail("flag needs an argument: " + where);
    }
  }

  // Who asks for help need not know the rest.
  bool ChooseHelp() {
    const auto word = [&](size_t i) { return i < others_.size() ? others_[i] : ""; };
    const bool of_config = word(0) == "config" || (word(0) == "help" && word(1) == "config");
    const bool asked = word(0) == "help" || (word(0) == "config" && word(1) == "help");
    if (!asked && !result_.flags.Bool("help")) return false;
    result_.flags.command = of_config ? Command::kConfigHelp : Command::kHelp;
    return true;
  }

  void ChooseCommand() {
    if (ChooseHelp()) return;
    if (!others_.empty()) ChooseSubcommand();
    ParsedFlags& flags = result_.flags;
    if (flags.Has("output") && flags.command != Command::kConfigPrint) {
      Fail("flag --output is for config print alone");
    }
    const std::string version = flags.Text("version");
    if (version == "raw") {
      flags.command = Command::kVersionRaw;
    } else if (!version.starts_with('v') && *ParseBool(version)) {
      flags.command = Command::kVersion;
    }
  }

  void ChooseSubcommand() {
    if (others_[0] != "config") return Fail("unknown command " + std::string(others_[0]));
    const std::string_view verb = others_.size() > 1 ? others_[1] : "";
    if (verb == "check") {
      result_.flags.command = Command::kConfigCheck;
      result_.flags.files.assign(others_.begin() + 2, others_.end());
    } else if (verb == "print") {
      result_.flags.command = Command::kConfigPrint;
      if (others_.size() > 2) {
        Fail("unknown argument of config print: " + std::string(others_[2]));
      }
    } else {
      Fail(verb.empty() ? "config needs one of the words check and print"
                        : "unknown command config " + std::string(verb));
    }
  }

  std::vector<std::string_view> words_;
  size_t at_ = 0;
  std::vector<std::string_view> others_;  // words that are neither flags nor their values
  FlagResult result_;
};

}  // namespace

FlagResult ParseFlags(std::span<const char* const> args) { return Parser(args).Run(); }

}  // namespace denselet::app
