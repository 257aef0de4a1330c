// Whether the node runs out of memory, disk or process numbers: the kubelet's eviction signals,
// held against the thresholds of evictionHard and evictionSoft.
//
// What is measured here: memory.available, nodefs.available, nodefs.inodesFree and pid.available.
// The image file system is the runtime's to tell; its thresholds count once somebody asks it.
//
// Pure functions and a pure class, on any thread; host_facts.h reads the files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "managers/node/machine_facts.h"
#include "managers/node/node_config.h"

namespace denselet::node {

enum class Pressure : uint8_t {
  kUnknown,  // it could not be measured
  kNo,
  kYes,
};

struct Pressures {
  Pressure memory = Pressure::kUnknown;
  Pressure disk = Pressure::kUnknown;
  Pressure pid = Pressure::kUnknown;

  friend bool operator==(const Pressures&, const Pressures&) = default;
};

struct SignalReading {
  uint64_t available = 0;
  uint64_t capacity = 0;

  friend bool operator==(const SignalReading&, const SignalReading&) = default;
};

// By signal; nothing: it could not be read.
using PressureFacts = std::array<std::optional<SignalReading>, kPressureSignals>;

inline std::optional<SignalReading>& At(PressureFacts& facts, PressureSignal signal) {
  return facts[static_cast<size_t>(signal)];
}

// All that is looked at, except for the file system.
const std::vector<std::string>& PressureFiles();

// memory.available is what is free and what the kernel holds of files that were not used lately, as
// the kubelet counts it for the whole machine; pid.available is the smaller of the kernel's two
// limits less the tasks that there are.
PressureFacts ParsePressureFacts(const FileTexts& files);

// A condition stays for a while after its cause is gone (evictionPressureTransitionPeriod), so that
// it does not come and go with every pod.
class PressureTracker {
 public:
  // An older reading says nothing about now.
  static constexpr Duration kReadingAgeMax = Minutes(2);

  PressureTracker(std::vector<PressureThreshold> thresholds, Duration transition_period)
      : thresholds_(std::move(thresholds)), transition_period_(transition_period) {}

  void Observe(const PressureFacts& facts, TimePoint now);
  // Where no threshold was set there is no pressure, whatever there is.
  Pressures Now(TimePoint now) const;

 private:
  // Memory, disk, PIDs.
  static constexpr size_t kConditions = 3;
  struct Condition {
    bool asked_for = false;
    Pressure last = Pressure::kUnknown;  // by the last reading
    std::optional<TimePoint> met_at = {};
  };

  Pressure Of(const Condition& condition, TimePoint now) const;

  const std::vector<PressureThreshold> thresholds_;
  const Duration transition_period_;
  std::array<Condition, kConditions> conditions_;
  std::optional<TimePoint> observed_at_;
};

}  // namespace denselet::node
