// The shapes of names in Kubernetes. Each function returns what is wrong with a value, in
// upstream's words; nothing if it is fine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace denselet::kube {

using NameFaults = std::vector<std::string>;

// "web-1", 63 at most.
NameFaults CheckDns1123Label(std::string_view name);
// "web.example.com", 253 at most.
NameFaults CheckDns1123Subdomain(std::string_view name);
// With '_' at the beginning and within labels.
NameFaults CheckDns1123SubdomainWithUnderscore(std::string_view name);
// A prefix of a name, to which something is appended: may end in a dash.
NameFaults CheckDns1123SubdomainPrefix(std::string_view prefix);

// Keys of labels, annotations, resources: "example.com/name".
NameFaults CheckQualifiedName(std::string_view name);
NameFaults CheckLabelValue(std::string_view value);

NameFaults CheckPortNumber(int64_t port);
NameFaults CheckPortName(std::string_view name);
NameFaults CheckHttpHeaderName(std::string_view name);
NameFaults CheckEnvVarName(std::string_view name);
NameFaults CheckConfigMapKey(std::string_view key);
// Users and groups.
NameFaults CheckId(int64_t id);
// Without leading zeros or a plus sign.
NameFaults CheckDecimalInteger(std::string_view text);

std::string OutOfRange(int64_t lowest, int64_t highest);

bool IsDns1123Label(std::string_view name);
bool IsDns1123Subdomain(std::string_view name);

// Parts of `text` between separators; one, empty, for an empty text.
std::vector<std::string_view> Split(std::string_view text, char separator);
std::string ToLower(std::string_view text);
std::string Join(const NameFaults& texts, std::string_view separator);

inline constexpr std::string_view kNegative = "must be greater than or equal to 0";
inline constexpr std::string_view kNotPositive = "must be greater than zero";

}  // namespace denselet::kube
