#include "managers/events/event_keys.h"

#include <array>
#include <charconv>
#include <initializer_list>

#include "kube/api/types.h"
#include "kube/api/validation/names.h"

namespace denselet::events {

namespace {

Fnv128 HashOf(std::initializer_list<std::string_view> parts) {
  Fnv1a128Stream hash;
  for (const std::string_view part : parts) hash.Add(part);
  return hash.Sum();
}

std::string RandomUuid(Random& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<uint64_t, 2> words = {
      (random.Next() & ~uint64_t{0xf000}) | 0x4000,                   // version 4
      (random.Next() & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62)};  // variant 1
  std::string text;
  for (const uint64_t word : words) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 15];
  }
  for (const size_t at : {8u, 13u, 18u, 23u}) text.insert(at, 1, '-');
  return text;
}

}  // namespace

Fnv128 SameKey(const Event& event) {
  const auto& object = event.involvedobject();
  return HashOf({event.source().component(), event.source().host(), object.kind(),
                 object.namespace_(), object.name(), object.fieldpath(), object.uid(),
                 object.apiversion(), event.type(), event.reason(), event.message()});
}

Fnv128 AlikeKey(const Event& event) {
  const auto& object = event.involvedobject();
  return HashOf({event.source().component(), event.source().host(), object.kind(),
                 object.namespace_(), object.name(), object.uid(), object.apiversion(),
                 event.type(), event.reason(), event.reportingcomponent(),
                 event.reportinginstance()});
}

Fnv128 SpamKey(const Event& event) {
  const auto& object = event.involvedobject();
  return HashOf({event.source().component(), event.source().host(), object.kind(),
                 object.namespace_(), object.name(), object.uid(), object.apiversion(),
                 event.type()});
}

std::string EventName(std::string_view object, WallTime at) {
  char hex[17];
  const auto nanos = static_cast<uint64_t>(at.time_since_epoch().count());
  char* end = std::to_chars(hex, hex + sizeof hex, nanos, 16).ptr;
  return std::string(object) + "." + std::string(hex, end);
}

std::string ValidEventName(std::string_view object, WallTime at, Random& random) {
  std::string name = EventName(object, at);
  return kube::IsDns1123Subdomain(name) ? name : RandomUuid(random);
}

}  // namespace denselet::events
