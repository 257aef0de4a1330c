// How the simulated runtime behaves: by flags, by a scenario file and through the control socket,
// all in the same JSON (settings_json.h). A plain value of the Simulator's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace denselet::cri_sim {

struct Latency {
  enum class Kind : uint8_t { kNone, kFixed, kUniform, kLognormal };
  Kind kind = Kind::kNone;
  Duration low{};    // of a lognormal one: the median
  Duration high{};   // uniform
  double sigma = 0;  // lognormal

  Duration Draw(Random& random) const;
};

// Whether something goes wrong: `count` times for sure, then with the probability.
struct Chance {
  uint64_t count = 0;
  double probability = 0;

  bool any() const { return count > 0 || probability > 0; }
  bool Draw(Random& random);
};

// When, seen from the call's effect.
enum class Side : uint8_t { kBefore, kAfter };

struct MethodFaults {
  Latency latency;         // before the effect
  Latency answer_latency;  // after it
  Chance error;
  Side error_side = Side::kBefore;  // after: it took effect, and the client hears of an error
  int error_code = 14;              // UNAVAILABLE
  std::string error_message = "injected by cri_sim";
  Chance hang;
  Side hang_side = Side::kBefore;
  bool unimplemented = false;
};

struct EventFaults {
  bool enabled = true;  // false: GetContainerEvents is not implemented, as in old runtimes
  double lose = 0, duplicate = 0, reorder = 0, late = 0;
  Latency lateness = {Latency::Kind::kFixed, Seconds(1), {}, 0};
};

// An answer for ExecSync, instead of what the command says.
struct ExecRule {
  std::string match;           // part of the command's words; empty: any
  std::string pod, container;  // empty: any
  std::string script;
  std::string output, error_output;
};

struct RegistryUser {
  std::string name, password;
};

struct Settings {
  std::map<std::string, MethodFaults> methods;  // by name; "*": those not named
  EventFaults events;
  bool random_order = false;
  bool streaming_lists = true;  // false: Stream... are not implemented
  bool runtime_ready = true, network_ready = true;
  bool recursive_read_only = true;  // what handlers can do
  uint64_t image_size = 4 << 20;
  uint64_t image_bandwidth = 0;                 // bytes a second; 0: at once
  bool images_present = false;                  // true: every image is there
  std::map<std::string, uint64_t> image_sizes;  // by normalized name
  // By normalized name: who else pulls it is refused.
  std::map<std::string, RegistryUser> image_users;
  std::vector<ExecRule> exec;
};

}  // namespace denselet::cri_sim
