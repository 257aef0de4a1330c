#include "sync/admission/bookings.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace denselet::sync {
namespace {

constexpr std::string_view kAllAddresses = "0.0.0.0";
constexpr std::string_view kPods = "pods";

__extension__ using Int128 = __int128;

int64_t Narrow(Int128 amount) {
  return static_cast<int64_t>(std::min<Int128>(amount, std::numeric_limits<int64_t>::max()));
}

}  // namespace

int64_t Bookings::pods() const { return Narrow(pods_ + LeavingWide(kPods)); }

int64_t Bookings::Used(std::string_view resource) const {
  const auto found = used_.find(resource);
  const Int128 staying = found == used_.end() ? 0 : found->second;
  return Narrow(staying + LeavingWide(resource));
}

int64_t Bookings::Leaving(std::string_view resource) const { return Narrow(LeavingWide(resource)); }

int64_t Bookings::AmountOfPod(const PodUid& pod, std::string_view resource) const {
  const auto found = booked_.find(pod);
  if (found == booked_.end()) return 0;
  return resource == kPods ? 1 : AmountOf(found->second.needs->requests, resource);
}

// What a critical pod waits for is counted as its own already, as long as it is wanted itself.
Bookings::Int128 Bookings::LeavingWide(std::string_view resource) const {
  Int128 leaving = 0;
  for (const auto& [critical, pods] : rooms_) {
    const auto booking = booked_.find(critical);
    const bool wanted = booking != booked_.end() && booking->second.stay != Stay::kGoes;
    Int128 more = wanted ? -Int128{AmountOfPod(critical, resource)} : 0;
    for (const PodUid& pod : pods) more += AmountOfPod(pod, resource);
    leaving += std::max<Int128>(more, 0);
  }
  return leaving;
}

void Bookings::Count(const PodNeeds& needs, int64_t sign) {
  pods_ += sign;
  for (const auto& [name, amount] : needs.requests) {
    const auto at = used_.try_emplace(name).first;
    at->second += Int128{amount} * sign;
    if (at->second == 0) used_.erase(at);
  }
}

void Bookings::Book(std::shared_ptr<const PodNeeds> shared) {
  const PodNeeds& needs = *shared;
  Booking booking{std::move(shared), next_order_++};
  const bool is_new = booked_.try_emplace(needs.pod.uid, std::move(booking)).second;
  CHECK(is_new);
  Count(needs, 1);
  for (const HostPort& port : needs.ports) {
    ports_.emplace(PortKey(port.port, port.protocol, port.ip), needs.pod.uid);
  }
}

bool Bookings::Unbook(const PodUid& pod) {
  SetStay(pod, Stay::kGoes, {});
  const auto found = booked_.find(pod);
  if (found == booked_.end()) return false;
  const Booking booking = std::move(found->second);
  booked_.erase(found);
  for (const HostPort& port : booking.needs->ports) {
    const auto [begin, end] = ports_.equal_range(PortKey(port.port, port.protocol, port.ip));
    const auto own =
        std::find_if(begin, end, [&](const auto& entry) { return entry.second == pod; });
    CHECK(own != end);
    ports_.erase(own);
  }
  return true;
}

void Bookings::SetStay(const PodUid& pod, Stay stay, const PodUid& room_for) {
  const auto found = booked_.find(pod);
  if (found == booked_.end()) return;
  Booking& booking = found->second;
  if (booking.stay == Stay::kStays) Count(*booking.needs, -1);
  if (booking.stay == Stay::kMakesRoom) {
    const auto room = rooms_.find(booking.room_for);
    room->second.erase(pod);
    if (room->second.empty()) rooms_.erase(room);
  }
  booking.stay = stay;
  booking.room_for = room_for;
  if (stay == Stay::kStays) Count(*booking.needs, 1);
  if (stay == Stay::kMakesRoom) rooms_[room_for].insert(pod);
}

void Bookings::MarkGoing(const PodUid& pod) { SetStay(pod, Stay::kGoes, {}); }

void Bookings::MakeRoom(const PodUid& pod, const PodUid& critical) {
  SetStay(pod, Stay::kMakesRoom, critical);
}

void Bookings::MarkStaying(const PodUid& pod) { SetStay(pod, Stay::kStays, {}); }

bool Bookings::IsGoing(const PodUid& pod) const {
  const auto found = booked_.find(pod);
  return found != booked_.end() && found->second.stay != Stay::kStays;
}

std::vector<PodUid> Bookings::HoldersOf(const HostPort& port) const {
  std::vector<PodUid> holders;
  const auto begin = ports_.lower_bound(PortKey(port.port, port.protocol, ""));
  for (auto it = begin; it != ports_.end(); ++it) {
    const auto& [number, protocol, ip] = it->first;
    if (number != port.port || protocol != port.protocol) break;
    if (port.ip == kAllAddresses || ip == kAllAddresses || ip == port.ip) {
      holders.push_back(it->second);
    }
  }
  return holders;
}

bool Bookings::IsPortFree(const HostPort& port) const { return HoldersOf(port).empty(); }

bool Bookings::IsPortBecomingFree(const HostPort& port) const {
  const std::vector<PodUid> holders = HoldersOf(port);
  return !holders.empty() && std::all_of(holders.begin(), holders.end(),
                                         [this](const PodUid& pod) { return IsGoing(pod); });
}

std::vector<const PodNeeds*> Bookings::Staying() const {
  std::vector<const Booking*> bookings;
  for (const auto& [uid, booking] : booked_) {
    if (booking.stay == Stay::kStays) bookings.push_back(&booking);
  }
  std::sort(bookings.begin(), bookings.end(),
            [](const Booking* a, const Booking* b) { return a->order < b->order; });
  std::vector<const PodNeeds*> staying;
  for (const Booking* booking : bookings) staying.push_back(booking->needs.get());
  return staying;
}

}  // namespace denselet::sync
