#include "bench/cri_sim/script.h"

#include <charconv>

namespace denselet::cri_sim {
namespace {

using Kind = ScriptStep::Kind;

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view TakeWord(std::string_view& rest) {
  rest = Trim(rest);
  const size_t end = rest.find_first_of(" \t");
  const std::string_view word = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : Trim(rest.substr(end));
  return word;
}

std::string_view Unquote(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

Duration ParseTime(std::string_view word) {
  if (word == "inf" || word == "infinity") return Duration::max();
  double seconds = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seconds);
  if (error == std::errc() && end == word.data() + word.size() && seconds >= 0) {
    return seconds > 1e9 ? Duration::max() : Duration(static_cast<int64_t>(seconds * 1e9));
  }
  const Result<Duration> parsed = ParseDuration(word);
  return parsed && *parsed >= Duration::zero() ? *parsed : Duration::zero();
}

int32_t ParseCode(std::string_view word) {
  int32_t code = 0;
  std::from_chars(word.data(), word.data() + word.size(), code);
  return code;
}

std::string_view Basename(std::string_view path) { return path.substr(path.rfind('/') + 1); }

ScriptStep ParseStatement(std::string_view statement) {
  std::string_view rest = statement;
  const std::string_view word = Basename(TakeWord(rest));
  if (word == "sleep") return {Kind::kSleep, ParseTime(rest), 0, {}};
  if (word == "echo") return {Kind::kEcho, {}, 0, std::string(Unquote(rest))};
  if (word == "log") {
    const Duration every = ParseTime(TakeWord(rest));
    return {Kind::kLog, every, 0, std::string(Unquote(rest))};
  }
  if (word == "exit") return {Kind::kExit, {}, ParseCode(rest), {}};
  if (word == "true") return {Kind::kExit, {}, 0, {}};
  if (word == "false") return {Kind::kExit, {}, 1, {}};
  if (word == "oom") return {Kind::kOom, {}, 137, {}};
  if (word == "message") return {Kind::kMessage, {}, 0, std::string(Unquote(rest))};
  if (word == "healthy") return {Kind::kHealthy, {}, 0, {}};
  if (word == "unhealthy") return {Kind::kUnhealthy, {}, 0, {}};
  if (word == "on-term") {
    const Duration time = ParseTime(TakeWord(rest));
    return {Kind::kOnTerm, time, ParseCode(rest), {}};
  }
  if (word == "ignore-term") return {Kind::kIgnoreTerm, {}, 0, {}};
  return {Kind::kOther, {}, 0, std::string(statement)};
}

}  // namespace

std::vector<ScriptStep> ParseScript(std::string_view text) {
  std::vector<ScriptStep> steps;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(";\n"), text.find("&&"));
    const std::string_view statement = Trim(text.substr(0, end));
    if (!statement.empty()) steps.push_back(ParseStatement(statement));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + (text[end] == '&' ? 2 : 1));
  }
  return steps;
}

std::string ScriptOfCommand(const std::vector<std::string>& argv) {
  if (argv.size() >= 3 && argv[1] == "-c" && Basename(argv[0]).ends_with("sh")) return argv[2];
  std::string text;
  for (const std::string& word : argv) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace denselet::cri_sim
