// Who has what of the node: resources, host ports, places for pods. The one truth about it, so that
// nothing is given out twice.
//
// A pure class, of the desk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sync/admission/pod_needs.h"

namespace denselet::sync {

class Bookings {
 public:
  // Of a pod that has none. Shared: who decided keeps them too, and a node has many pods.
  void Book(std::shared_ptr<const PodNeeds> needs);
  // False: it had none.
  bool Unbook(const PodUid& pod);
  // Its source has dropped it, or nothing of it runs: its resources count no more, its ports until
  // it is gone.
  void MarkGoing(const PodUid& pod);
  // It makes room for a critical one, which is booked, and still runs: of its resources counts what
  // the critical one does not need, of several pods together.
  void MakeRoom(const PodUid& pod, const PodUid& critical);
  // It makes room for nobody any more: until it is gone, what it has is its own.
  void MarkStaying(const PodUid& pod);

  bool Has(const PodUid& pod) const { return booked_.contains(pod); }
  // Without those that are going; both held within int64_t.
  int64_t pods() const;
  int64_t Used(std::string_view resource) const;
  // Of that, what nobody will have when those that make room have gone; "pods", too.
  int64_t Leaving(std::string_view resource) const;
  bool IsPortFree(const HostPort& port) const;
  // Taken, and only by those that are going or make room.
  bool IsPortBecomingFree(const HostPort& port) const;
  // Or makes room.
  bool IsGoing(const PodUid& pod) const;
  // Of critical pods: who makes room for each.
  const std::map<PodUid, std::set<PodUid>>& rooms() const { return rooms_; }
  size_t ports() const { return ports_.size(); }

  // Without those that are going or make room, in the order in which they were booked.
  std::vector<const PodNeeds*> Staying() const;

 private:
  enum class Stay : uint8_t { kStays, kMakesRoom, kGoes };
  struct Booking {
    std::shared_ptr<const PodNeeds> needs;
    uint64_t order;
    Stay stay = Stay::kStays;
    PodUid room_for = {};  // of kMakesRoom
  };
  __extension__ using Int128 = __int128;
  using PortKey = std::tuple<int32_t, std::string, std::string>;  // port, protocol, address

  void Count(const PodNeeds& needs, int64_t sign);
  void SetStay(const PodUid& pod, Stay stay, const PodUid& room_for);
  int64_t AmountOfPod(const PodUid& pod, std::string_view resource) const;
  Int128 LeavingWide(std::string_view resource) const;
  std::vector<PodUid> HoldersOf(const HostPort& port) const;

  std::map<PodUid, Booking> booked_;
  // Wide enough for the sum of any number of pods: what was added can be taken off again.
  std::map<std::string, Int128, std::less<>> used_;
  int64_t pods_ = 0;
  // With its pod: a pod may name a port twice.
  std::multimap<PortKey, PodUid> ports_;
  std::map<PodUid, std::set<PodUid>> rooms_;
  uint64_t next_order_ = 0;
};

}  // namespace denselet::sync
