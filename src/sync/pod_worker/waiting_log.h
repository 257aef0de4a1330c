// What the log says of pods that lack something: a volume that cannot be mounted, an object that a
// container refers to, new content for a volume of a running pod, an answer of the runtime. A line
// when the lack begins and when its cause is another one, and a line when it is over.
//
// A thousand pods may lack the same at once. Of one cause the first few pods are named; further
// ones are counted, and told when they are ten, a hundred, a thousand. Of many causes no more than
// kLinesMax lines come a minute; the others are told when the lack is noticed again later, as it is
// with every try of the pod. The events of the pods tell of each.
//
// Owned by PodShard, one a shard. Bounded by what its pods lack.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/repeated_trouble.h"
#include "base/time.h"

namespace denselet::sync {

struct PodIdentity;

enum class Lack : uint8_t {
  kVolume,     // of a pod that cannot start: which volume
  kReference,  // of a container that cannot be made: which container
  kRenewal,    // of a pod that runs on with what it has: which volume
  kRead,       // of any pod: what the runtime has of it cannot be read
};

class WaitingLog {
 public:
  static constexpr uint32_t kPodsNamedMax = 3;  // of one cause
  static constexpr uint32_t kLinesMax = 100;    // that name a pod, in a minute

  explicit WaitingLog(const Logger& log) : log_(log) {}

  // It is so, still or again.
  void Lacks(const PodIdentity& pod, Lack lack, const std::string& subject, std::string_view cause,
             TimePoint now);
  // The pod has it.
  void Has(const PodIdentity& pod, Lack lack, const std::string& subject, TimePoint now);
  // The pod has everything of this kind but these.
  void HasAllBut(const PodIdentity& pod, Lack lack, const std::set<std::string>& missing,
                 TimePoint now);
  // The pod is gone, which is told elsewhere.
  void Forget(const PodUid& pod);

 private:
  struct Key {
    PodUid pod;
    Lack lack = Lack::kVolume;
    std::string subject;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    std::string cause;
    bool named = false;       // with this cause
    bool ever_named = false;  // with any
    TimePoint since = {};
    RepeatedTrouble changes = {};  // causes that take turns are not told each time
  };
  using Entries = std::map<Key, Entry>;
  struct Cause {
    uint32_t pods = 0;
    uint32_t named = 0;
    uint32_t count_next = 10;  // at so many they are counted aloud
  };

  void Name(const PodIdentity& pod, const Key& key, Entry& entry, TimePoint now);
  void Leave(const Key& key, const Entry& entry);
  Entries::iterator End(const PodIdentity& pod, Entries::iterator at, TimePoint now);
  bool HasRoom(TimePoint now);

  const Logger log_;
  Entries entries_;
  std::map<std::pair<Lack, std::string>, Cause> causes_;
  TimePoint minute_ = {};
  uint32_t lines_ = 0;
};

}  // namespace denselet::sync
