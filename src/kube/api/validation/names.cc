#include "kube/api/validation/names.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace denselet::kube {
namespace {

constexpr size_t kLabelSizeMax = 63;
constexpr size_t kSubdomainSizeMax = 253;
constexpr size_t kPortNameSizeMax = 15;

constexpr std::string_view kLabelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainPattern =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kUnderscorePattern =
    "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kKeyPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kKeyRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLowerAlphanumeric(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlphanumeric(char c) { return IsLowerAlphanumeric(c) || IsUpper(c); }

// "RULE (e.g. 'a', or 'b', regex used for validation is 'PATTERN')"
std::string Mismatch(std::string_view rule, std::string_view pattern,
                     std::initializer_list<std::string_view> examples) {
  std::string text(rule);
  text += " (";
  for (const std::string_view example : examples) {
    text.append(example == *examples.begin() ? "e.g. '" : " or '").append(example).append("', ");
  }
  return text.append("regex used for validation is '").append(pattern).append("')");
}

std::string TooLong(size_t size_max, std::string_view unit) {
  return "must be no more than " + std::to_string(size_max) + " " + std::string(unit);
}

bool IsLabelOf(std::string_view text, bool underscore) {
  if (underscore && text.starts_with('_')) text.remove_prefix(1);
  return !text.empty() && IsLowerAlphanumeric(text.front()) && IsLowerAlphanumeric(text.back()) &&
         std::ranges::all_of(text, [&](char c) {
           return IsLowerAlphanumeric(c) || c == '-' || (underscore && c == '_');
         });
}

bool IsKeyName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

// The rules for prefixes of keys count bytes, those for names characters; both mean bytes.
NameFaults CheckSubdomain(std::string_view name, std::string_view unit) {
  NameFaults faults;
  if (name.size() > kSubdomainSizeMax) faults.push_back(TooLong(kSubdomainSizeMax, unit));
  if (!IsDns1123Subdomain(name)) {
    faults.push_back(
        Mismatch("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                 "characters, '-' or '.', and must start and end with an alphanumeric character",
                 kSubdomainPattern, {"example.com"}));
  }
  return faults;
}

void CheckKeyPrefix(std::string_view prefix, NameFaults& faults) {
  if (prefix.empty()) {
    faults.push_back("prefix part must be non-empty");
    return;
  }
  for (const std::string& fault : CheckSubdomain(prefix, "bytes")) {
    faults.push_back("prefix part " + fault);
  }
}

// Names of files in a volume must not lead out of it.
void CheckNoStepUp(std::string_view name, NameFaults& faults) {
  if (name == ".")
    faults.push_back("must not be '.'");
  else if (name == "..")
    faults.push_back("must not be '..'");
  else if (name.starts_with(".."))
    faults.push_back("must not start with '..'");
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (IsUpper(c)) c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string Join(const NameFaults& texts, std::string_view separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty()) joined += separator;
    joined += text;
  }
  return joined;
}

std::string OutOfRange(int64_t lowest, int64_t highest) {
  return "must be between " + std::to_string(lowest) + " and " + std::to_string(highest) +
         ", inclusive";
}

bool IsDns1123Label(std::string_view name) { return IsLabelOf(name, false); }

bool IsDns1123Subdomain(std::string_view name) {
  return std::ranges::all_of(Split(name, '.'), IsDns1123Label);
}

NameFaults CheckDns1123Label(std::string_view name) {
  NameFaults faults;
  if (name.size() > kLabelSizeMax) faults.push_back(TooLong(kLabelSizeMax, "characters"));
  if (IsDns1123Label(name)) return faults;
  faults.push_back(
      IsDns1123Subdomain(name)
          ? "must not contain dots"
          : Mismatch("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                     "characters or '-', and must start and end with an alphanumeric character",
                     kLabelPattern, {"my-name", "123-abc"}));
  return faults;
}

NameFaults CheckDns1123Subdomain(std::string_view name) {
  return CheckSubdomain(name, "characters");
}

NameFaults CheckDns1123SubdomainWithUnderscore(std::string_view name) {
  NameFaults faults;
  if (name.size() > kSubdomainSizeMax) faults.push_back(TooLong(kSubdomainSizeMax, "characters"));
  const bool fits =
      std::ranges::all_of(Split(name, '.'), [](auto label) { return IsLabelOf(label, true); });
  if (!fits) {
    faults.push_back(
        Mismatch("a lowercase RFC 1123 subdomain must consist of lower case "
                 "alphanumeric characters, '_', '-' or '.', and must start and end "
                 "with an alphanumeric character",
                 kUnderscorePattern, {"example.com"}));
  }
  return faults;
}

NameFaults CheckDns1123SubdomainPrefix(std::string_view prefix) {
  // Upstream replaces the last two characters by an 'a', not the last one.
  if (prefix.size() < 2 || !prefix.ends_with('-')) return CheckDns1123Subdomain(prefix);
  return CheckDns1123Subdomain(std::string(prefix.substr(0, prefix.size() - 2)) + "a");
}

NameFaults CheckQualifiedName(std::string_view name) {
  NameFaults faults;
  const auto parts = Split(name, '/');
  const std::string mismatch = Mismatch(kKeyRule, kKeyPattern, {"MyName", "my.name", "123-abc"});
  if (parts.size() > 2) {
    faults.push_back("a valid label key " + mismatch +
                     " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    return faults;
  }
  if (parts.size() == 2) CheckKeyPrefix(parts[0], faults);
  const std::string_view last = parts.back();
  if (last.empty()) faults.push_back("name part must be non-empty");
  if (last.size() > kLabelSizeMax) faults.push_back("name part " + TooLong(kLabelSizeMax, "bytes"));
  if (!IsKeyName(last)) faults.push_back("name part " + mismatch);
  return faults;
}

NameFaults CheckLabelValue(std::string_view value) {
  NameFaults faults;
  if (value.size() > kLabelSizeMax) faults.push_back(TooLong(kLabelSizeMax, "bytes"));
  if (!value.empty() && !IsKeyName(value)) {
    faults.push_back(
        Mismatch("a valid label must be an empty string or consist of alphanumeric characters, "
                 "'-', '_' or '.', and must start and end with an alphanumeric character",
                 "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", {"MyValue", "my_value", "12345"}));
  }
  return faults;
}

NameFaults CheckPortNumber(int64_t port) {
  constexpr int64_t kPortMax = 65535;
  if (port >= 1 && port <= kPortMax) return {};
  return {OutOfRange(1, kPortMax)};
}

NameFaults CheckPortName(std::string_view name) {
  NameFaults faults;
  if (name.size() > kPortNameSizeMax) faults.push_back(TooLong(kPortNameSizeMax, "characters"));
  const bool plain =
      std::ranges::all_of(name, [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
  if (!plain || name.empty()) {
    faults.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::ranges::none_of(name, IsLower))
    faults.push_back("must contain at least one letter (a-z)");
  if (name.find("--") != name.npos) faults.push_back("must not contain consecutive hyphens");
  if (name.starts_with('-') || name.ends_with('-')) {
    faults.push_back("must not begin or end with a hyphen");
  }
  return faults;
}

NameFaults CheckHttpHeaderName(std::string_view name) {
  const bool fits = std::ranges::all_of(name, [](char c) { return IsAlphanumeric(c) || c == '-'; });
  if (fits && !name.empty()) return {};
  return {Mismatch("a valid HTTP header must consist of alphanumeric characters or '-'",
                   "[-A-Za-z0-9]+", {"X-Header-Name"})};
}

NameFaults CheckEnvVarName(std::string_view name) {
  if (name.empty()) return {"environment variable name must be non-empty"};
  if (std::ranges::all_of(name, [](char c) { return c >= ' ' && c < 0x7f && c != '='; })) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

NameFaults CheckConfigMapKey(std::string_view key) {
  NameFaults faults;
  if (key.size() > kSubdomainSizeMax) faults.push_back(TooLong(kSubdomainSizeMax, "characters"));
  const bool fits = std::ranges::all_of(
      key, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
  if (!fits || key.empty()) {
    faults.push_back(
        Mismatch("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                 "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  CheckNoStepUp(key, faults);
  return faults;
}

NameFaults CheckId(int64_t id) {
  constexpr int64_t kIdMax = std::numeric_limits<int32_t>::max();
  if (id >= 0 && id <= kIdMax) return {};
  return {OutOfRange(0, kIdMax)};
}

NameFaults CheckDecimalInteger(std::string_view text) {
  if (text.empty()) return {"must be non-empty"};
  if (text == "0") return {};
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool fits = !text.empty() && text.front() != '0' && std::ranges::all_of(text, IsDigit);
  if (fits) return {};
  return {"must be a valid decimal integer in canonical form"};
}

}  // namespace denselet::kube
