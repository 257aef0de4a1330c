#include "sync/admission/bookings.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace denselet::sync {
namespace {

constexpr std::string_view kAllAddresses = "0.0.0.0";

}  // namespace

int64_t Bookings::Used(std::string_view resource) const {
  const auto found = used_.find(resource);
  if (found == used_.end()) return 0;
  return static_cast<int64_t>(std::min<Int128>(found->second, std::numeric_limits<int64_t>::max()));
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
  const auto found = booked_.find(pod);
  if (found == booked_.end()) return false;
  const Booking booking = std::move(found->second);
  booked_.erase(found);
  if (!booking.going) Count(*booking.needs, -1);
  for (const HostPort& port : booking.needs->ports) {
    const auto [begin, end] = ports_.equal_range(PortKey(port.port, port.protocol, port.ip));
    const auto own =
        std::find_if(begin, end, [&](const auto& entry) { return entry.second == pod; });
    CHECK(own != end);
    ports_.erase(own);
  }
  return true;
}

void Bookings::MarkGoing(const PodUid& pod) {
  const auto found = booked_.find(pod);
  if (found == booked_.end() || found->second.going) return;
  found->second.going = true;
  Count(*found->second.needs, -1);
}

void Bookings::MarkStaying(const PodUid& pod) {
  const auto found = booked_.find(pod);
  if (found == booked_.end() || !found->second.going) return;
  found->second.going = false;
  Count(*found->second.needs, 1);
}

bool Bookings::IsGoing(const PodUid& pod) const {
  const auto found = booked_.find(pod);
  return found != booked_.end() && found->second.going;
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
    if (!booking.going) bookings.push_back(&booking);
  }
  std::sort(bookings.begin(), bookings.end(),
            [](const Booking* a, const Booking* b) { return a->order < b->order; });
  std::vector<const PodNeeds*> staying;
  for (const Booking* booking : bookings) staying.push_back(booking->needs.get());
  return staying;
}

}  // namespace denselet::sync
