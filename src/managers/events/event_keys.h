// By what events are the same, alike, or about the same thing; and how they are named.
//
// Pure functions, on any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/random.h"
#include "base/time.h"

namespace k8s::io::api::core::v1 {
class Event;
}

namespace denselet::events {

using Event = ::k8s::io::api::core::v1::Event;

// The same event: source, object, type, reason and message.
Fnv128 SameKey(const Event& event);
// Alike: the same but for the message, and of the same reporter.
Fnv128 AlikeKey(const Event& event);
// Of one source about one object, of one type.
Fnv128 SpamKey(const Event& event);

// "<object>.<nanoseconds in hexadecimal>".
std::string EventName(std::string_view object, WallTime at);
// The same; a UUID where that would not be a name that the server takes.
std::string ValidEventName(std::string_view object, WallTime at, Random& random);

}  // namespace denselet::events
