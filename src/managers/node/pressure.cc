#include "managers/node/pressure.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace denselet::node {

namespace {

constexpr std::string_view kMemory = "/proc/meminfo";
constexpr std::string_view kLoad = "/proc/loadavg";
// Both limit the tasks of the whole machine.
constexpr std::string_view kTaskLimits[] = {"/proc/sys/kernel/pid_max",
                                            "/proc/sys/kernel/threads-max"};

std::string_view TextOf(const FileTexts& files, std::string_view path) {
  const auto found = files.find(path);
  return found == files.end() ? std::string_view{} : std::string_view(found->second);
}

std::optional<uint64_t> NumberAtFront(std::string_view text) {
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{}) return std::nullopt;
  return number;
}

std::optional<SignalReading> MemoryOf(std::string_view meminfo) {
  const Result<uint64_t> total = MemoryBytes(meminfo, "MemTotal:");
  const Result<uint64_t> free = MemoryBytes(meminfo, "MemFree:");
  const Result<uint64_t> inactive = MemoryBytes(meminfo, "Inactive(file):");
  if (!total || !free || !inactive) return std::nullopt;
  const uint64_t available = *free > *total ? *total : *free + std::min(*inactive, *total - *free);
  return SignalReading{.available = available, .capacity = *total};
}

// "1.36 3.49 4.53 2/3518 3715089": 3518 tasks.
std::optional<uint64_t> TasksOf(std::string_view loadavg) {
  const size_t slash = loadavg.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return NumberAtFront(loadavg.substr(slash + 1));
}

std::optional<SignalReading> PidsOf(const FileTexts& files) {
  std::optional<uint64_t> most;
  for (const std::string_view path : kTaskLimits) {
    const std::optional<uint64_t> limit = NumberAtFront(TextOf(files, path));
    if (limit && (!most || *limit < *most)) most = limit;
  }
  const std::optional<uint64_t> tasks = TasksOf(TextOf(files, kLoad));
  if (!most || !tasks) return std::nullopt;
  return SignalReading{.available = *most - std::min(*tasks, *most), .capacity = *most};
}

size_t ConditionOf(PressureSignal signal) {
  switch (signal) {
    case PressureSignal::kMemoryAvailable:
      return 0;
    case PressureSignal::kNodeFsAvailable:
    case PressureSignal::kNodeFsInodesFree:
      return 1;
    case PressureSignal::kPidAvailable:
      return 2;
  }
  return 0;
}

kube::Quantity Units(uint64_t number) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  return kube::Quantity::FromUnits(static_cast<int64_t>(std::min(number, kMost)));
}

bool IsMet(const EvictionThreshold& threshold, const SignalReading& reading) {
  return (threshold.Of(Units(reading.capacity)) - Units(reading.available)).Sign() > 0;
}

}  // namespace

const std::vector<std::string>& PressureFiles() {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> paths{std::string(kMemory), std::string(kLoad)};
    for (const std::string_view path : kTaskLimits) paths.emplace_back(path);
    return paths;
  }();
  return files;
}

PressureFacts ParsePressureFacts(const FileTexts& files) {
  PressureFacts facts;
  At(facts, PressureSignal::kMemoryAvailable) = MemoryOf(TextOf(files, kMemory));
  At(facts, PressureSignal::kPidAvailable) = PidsOf(files);
  return facts;
}

void PressureTracker::Observe(const PressureFacts& facts, TimePoint now) {
  observed_at_ = now;
  for (Condition& condition : conditions_) condition.last = Pressure::kNo;
  for (const PressureThreshold& threshold : thresholds_) {
    Condition& condition = conditions_[ConditionOf(threshold.signal)];
    condition.asked_for = true;
    const std::optional<SignalReading>& reading = facts[static_cast<size_t>(threshold.signal)];
    if (reading && IsMet(threshold.value, *reading)) {
      condition.last = Pressure::kYes;
      condition.met_at = now;
    } else if (!reading && condition.last == Pressure::kNo) {
      condition.last = Pressure::kUnknown;
    }
  }
}

Pressure PressureTracker::Of(const Condition& condition, TimePoint now) const {
  if (observed_at_ && !condition.asked_for) return Pressure::kNo;
  if (condition.met_at && now - *condition.met_at < transition_period_) return Pressure::kYes;
  if (!observed_at_ || now - *observed_at_ > kReadingAgeMax) return Pressure::kUnknown;
  return condition.last;
}

Pressures PressureTracker::Now(TimePoint now) const {
  return {.memory = Of(conditions_[0], now),
          .disk = Of(conditions_[1], now),
          .pid = Of(conditions_[2], now)};
}

}  // namespace denselet::node
