#include "app/flags/flag_value.h"

#include "app/flags/text.h"
#include "app/version.h"
#include "app/version_rule.h"
#include "kube/api/values/quantity.h"

namespace denselet::app {
namespace {

template <class T>
Result<FlagValue> Value(Result<T> parsed) {
  if (!parsed) return parsed.error();
  return FlagValue(*std::move(parsed));
}

Result<FlagValue> Unsigned(Result<uint64_t> parsed) {
  if (!parsed) return parsed.error();
  return FlagValue(static_cast<int64_t>(*parsed));
}

// The standard library's flags say little of what is wrong.
Result<FlagValue> Plainly(Result<FlagValue> parsed) {
  if (parsed) return parsed;
  const bool range = parsed.error().message().ends_with("value out of range");
  return Error(ErrorCode::kInvalid, range ? "value out of range" : "parse error");
}

Result<FlagValue> ParseIp(std::string_view text) {
  if (text.empty() || IsIpAddress(text)) return FlagValue(std::string(text));
  return Error(ErrorCode::kInvalid, Quoted(text) + " is not a valid IP address");
}

Result<FlagValue> ParseQuantity(std::string_view text) {
  return Value(kube::Quantity::Normalize(text));
}

Result<FlagValue> ParseVersion(std::string_view text) {
  if (text == "raw") return FlagValue(std::string(text));
  if (!text.starts_with("v")) {
    const Result<bool> wanted = ParseBool(text);
    if (!wanted) return wanted.error();
    return FlagValue(std::string(*wanted ? "true" : "false"));
  }
  if (Status status = CheckReportedVersion(text, kKubernetesVersion); !status) {
    return status.error();
  }
  return FlagValue(std::string(text));
}

// Of denselet's own flags: an error says what is wanted, and no more.
Result<FlagValue> ParseCount(std::string_view text) {
  const Result<uint64_t> count = ParseUint(text, 32);
  if (!count || *count > kShardsMax) {
    return Error(ErrorCode::kInvalid, "a number, 0 to " + std::to_string(kShardsMax));
  }
  return FlagValue(static_cast<int64_t>(*count));
}

Result<FlagValue> ParsePeriod(std::string_view text) {
  const Result<Duration> period = ParseDuration(text);
  if (!period || *period <= Duration::zero()) {
    return Error(ErrorCode::kInvalid, "a duration above 0s, such as 5m or 1s");
  }
  return FlagValue(*period);
}

Result<FlagValue> ParseOutput(std::string_view text) {
  if (text == "yaml" || text == "json") return FlagValue(std::string(text));
  return Error(ErrorCode::kInvalid, "expected yaml or json");
}

Result<FlagValue> ParseReactor(std::string_view text) {
  if (text == "auto" || text == "uring" || text == "epoll") return FlagValue(std::string(text));
  return Error(ErrorCode::kInvalid, "auto, uring or epoll");
}

}  // namespace

Result<FlagValue> ParseFlagValue(FlagType type, std::string_view text) {
  switch (type) {
    case FlagType::kString:
      return FlagValue(std::string(text));
    case FlagType::kBool:
      return Value(ParseBool(text));
    case FlagType::kInt32:
      return Value(ParseInt(text, 32));
    case FlagType::kInt64:
      return Value(ParseInt(text, 64));
    case FlagType::kLevel:
      return Unsigned(ParseUint(text, 31));
    case FlagType::kDuration:
      return Value(ParseDuration(text));
    case FlagType::kIp:
      return ParseIp(text);
    case FlagType::kQuantity:
      return ParseQuantity(text);
    case FlagType::kStrings:
      return Value(ReadCsvRecord(text));
    case FlagType::kPairs:
      return ParseTextPairs(text, '=');
    case FlagType::kPair:
      return ParseOnePair(text);
    case FlagType::kSwitches:
      return ParseSwitches(text);
    case FlagType::kThresholds:
      return ParseTextPairs(text, '<');
    case FlagType::kHeaders:
      return ParseTextPairs(text, ':');
    case FlagType::kLabels:
      return ParseLabels(text);
    case FlagType::kTaints:
      return ParseTaints(text);
    case FlagType::kReservedMemory:
      return ParseReservedMemory(text);
    case FlagType::kVmodule:
      return ParseVmodule(text);
    case FlagType::kVersion:
      return ParseVersion(text);
    case FlagType::kGoBool:
      return Plainly(Value(ParseBool(text)));
    case FlagType::kGoInt:
      return Plainly(Value(ParseInt(text, 64)));
    case FlagType::kGoDuration:
      return Plainly(Value(ParseDuration(text)));
    case FlagType::kCount:
      return ParseCount(text);
    case FlagType::kPeriod:
      return ParsePeriod(text);
    case FlagType::kReactor:
      return ParseReactor(text);
    case FlagType::kOutput:
      return ParseOutput(text);
  }
  return Error(ErrorCode::kBug, "a flag without a type");
}

}  // namespace denselet::app
