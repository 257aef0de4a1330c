// Values that are lists, maps or records in one word.
#include <set>

#include "app/flags/flag_value.h"
#include "app/flags/text.h"
#include "kube/api/validation/names.h"
#include "kube/api/values/quantity.h"

namespace denselet::app {
namespace {

Error Bad(std::string message) { return Error(ErrorCode::kInvalid, std::move(message)); }

struct Halves {
  std::string left;
  std::string right;
};

// Blanks around either are gone.
Result<Halves> SplitPair(std::string_view text, char separator, std::string_view wanted) {
  if (text.find(separator) == std::string_view::npos) {
    return Bad("malformed pair, expect " + std::string(wanted));
  }
  const std::string_view left = TakeUntil(text, separator);
  return Halves{std::string(Trimmed(left)), std::string(Trimmed(text))};
}

// Calls `use` for each part between commas that is not empty, until one fails.
template <class Use>
Status ForEachPart(std::string_view text, Use use) {
  for (const std::string_view part : Split(text, ',')) {
    if (part.empty()) continue;
    if (Status status = use(part); !status) return status;
  }
  return Ok();
}

// --- taints ---

bool IsEffect(std::string_view text) {
  return text == "NoSchedule" || text == "PreferNoSchedule" || text == "NoExecute";
}

Error BadTaint(std::string_view text, const std::vector<std::string>& why = {}) {
  std::string message = "invalid taint spec: " + std::string(text);
  if (!why.empty()) message += ", " + Joined(why, "; ");
  return Bad(message);
}

// "key=value:effect", "key:effect", or "key", which has no effect.
Result<TaintText> ParseTaint(std::string_view text) {
  TaintText taint;
  const auto parts = Split(text, ':');
  if (parts.size() > 2) return BadTaint(text);
  taint.key = parts.front();
  if (parts.size() == 2) {
    taint.effect = parts.back();
    if (!IsEffect(taint.effect)) {
      return Bad("invalid taint effect: " + taint.effect + ", unsupported taint effect");
    }
    const auto pair = Split(parts.front(), '=');
    if (pair.size() > 2) return BadTaint(text);
    taint.key = pair.front();
    if (pair.size() == 2) taint.value = pair.back();
    if (const auto faults = kube::CheckLabelValue(taint.value); !faults.empty()) {
      return BadTaint(text, faults);
    }
  }
  if (const auto faults = kube::CheckQualifiedName(taint.key); !faults.empty()) {
    return BadTaint(text, faults);
  }
  return taint;
}

// --- memory kept on NUMA nodes ---

Result<MemoryReservationText> ParseNodeReservation(std::string_view text) {
  const auto parts = Split(text, ':');
  if (parts.size() != 2) {
    return Bad(
        "the reserved memory has incorrect format, expected "
        "numaNodeID:type=quantity[,type=quantity...], got " +
        std::string(text));
  }
  const Result<int64_t> node = ParseDecimal(parts.front());
  if (!node) {
    return Bad("failed to convert the NUMA node ID, expected integer, got " +
               std::string(parts.front()));
  }
  MemoryReservationText reservation;
  reservation.numa_node = static_cast<int32_t>(*node);
  for (const std::string_view part : Split(parts.back(), ',')) {
    const auto limit = Split(part, '=');
    if (limit.size() != 2) {
      return Bad("the reserved limit has incorrect value, expected type=quantity, got " +
                 std::string(part));
    }
    if (limit.front() != "memory" && !limit.front().starts_with("hugepages-")) {
      return Bad("memory type conversion error, unknown type: " + Quoted(limit.front()));
    }
    auto quantity = kube::Quantity::Normalize(limit.back());
    if (!quantity) return Bad("failed to parse the quantity: " + std::string(limit.back()));
    reservation.limits[std::string(limit.front())] = *std::move(quantity);
  }
  return reservation;
}

}  // namespace

Result<FlagValue> ParseTextPairs(std::string_view text, char separator) {
  const std::string wanted = std::string("string") + separator + "string";
  TextPairs pairs;
  const Status status = ForEachPart(text, [&](std::string_view part) -> Status {
    auto pair = SplitPair(part, separator, wanted);
    if (!pair) return pair.error();
    pairs.pairs.emplace_back(std::move(pair->left), std::move(pair->right));
    return Ok();
  });
  if (!status) return status.error();
  return FlagValue(std::move(pairs));
}

Result<FlagValue> ParseOnePair(std::string_view text) {
  auto pair = SplitPair(text, '=', "string=string");
  if (!pair) return pair.error();
  TextPairs pairs;
  pairs.pairs.emplace_back(std::move(pair->left), std::move(pair->right));
  return FlagValue(std::move(pairs));
}

Result<FlagValue> ParseSwitches(std::string_view text) {
  SwitchPairs switches;
  const Status status = ForEachPart(text, [&](std::string_view part) -> Status {
    auto pair = SplitPair(part, '=', "string=bool");
    if (!pair) return pair.error();
    const Result<bool> on = ParseBool(pair->right);
    if (!on) {
      return Bad("invalid value of " + pair->left + ": " + pair->right +
                 ", err: " + on.error().message());
    }
    switches.pairs.emplace_back(std::move(pair->left), *on);
    return Ok();
  });
  if (!status) return status.error();
  return FlagValue(std::move(switches));
}

FlagValue ParseLabels(std::string_view text) {
  TextPairs pairs;
  for (std::string_view part : Split(text, ',')) {
    if (part.empty()) continue;
    const std::string_view key = Trimmed(TakeUntil(part, '='));
    pairs.pairs.emplace_back(key, Trimmed(part));
  }
  return pairs;
}

Result<FlagValue> ParseTaints(std::string_view text) {
  std::vector<TaintText> taints;
  if (text.empty()) return FlagValue(std::move(taints));
  std::set<std::pair<std::string, std::string>> seen;
  for (std::string_view part : Split(text, ',')) {
    // A dash at the end takes a taint away, for others who share this form: nothing comes of it.
    const bool removal = part.ends_with('-');
    if (removal) part.remove_suffix(1);
    Result<TaintText> taint = ParseTaint(part);
    if (!taint) return taint.error();
    if (removal) continue;
    if (taint->effect.empty()) return BadTaint(part);
    if (!seen.emplace(taint->key, taint->effect).second) {
      return Bad("duplicated taints with the same key and effect: {" + taint->key + " " +
                 taint->value + " " + taint->effect + " <nil>}");
    }
    taints.push_back(*std::move(taint));
  }
  return FlagValue(std::move(taints));
}

Result<FlagValue> ParseReservedMemory(std::string_view text) {
  std::vector<MemoryReservationText> reservations;
  if (text.empty()) return FlagValue(std::move(reservations));
  for (const std::string_view part : Split(text, ';')) {
    Result<MemoryReservationText> reservation = ParseNodeReservation(part);
    if (!reservation) return reservation.error();
    reservations.push_back(*std::move(reservation));
  }
  return FlagValue(std::move(reservations));
}

Result<FlagValue> ParseVmodule(std::string_view text) {
  std::vector<FileVerbosity> items;
  const Status status = ForEachPart(text, [&](std::string_view part) -> Status {
    const auto halves = Split(part, '=');
    if (halves.size() != 2 || halves.front().empty() || halves.back().empty()) {
      return Bad(Quoted(part) + " does not have the pattern=N format");
    }
    const Result<uint64_t> level = ParseUint(halves.back(), 31);
    if (!level) {
      return Bad("parsing verbosity in " + Quoted(part) + ": " + level.error().message());
    }
    items.push_back({std::string(halves.front()), static_cast<uint32_t>(*level)});
    return Ok();
  });
  if (!status) return status.error();
  return FlagValue(std::move(items));
}

}  // namespace denselet::app
