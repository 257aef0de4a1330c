#include "managers/events/event_correlator.h"

#include <algorithm>
#include <utility>

#include "kube/api/patch/json_tree.h"
#include "kube/api/types.h"

namespace denselet::events {

namespace {

constexpr std::string_view kCombined = "(combined from similar events): ";

// The difference to the same event with no count, no message and a time that never was.
std::string MakePatch(const Event& event) {
  kube::Json::Object patch;
  patch.emplace("count", kube::JsonNumber{std::to_string(event.count())});
  if (const int64_t seconds = event.lasttimestamp().seconds(); seconds != 0) {
    patch.emplace("lastTimestamp", FormatRfc3339(Timestamp{.seconds = seconds}, 0));
  }
  if (!event.message().empty()) patch.emplace("message", event.message());
  return kube::Json(std::move(patch)).ToString();
}

// One event for all that are alike. It says nothing of its reporter, as upstream's does not.
Event Combined(const Event& event, WallTime wall) {
  Event combined;
  combined.mutable_metadata()->set_name(EventName(event.involvedobject().name(), wall));
  combined.mutable_metadata()->set_namespace_(event.metadata().namespace_());
  *combined.mutable_involvedobject() = event.involvedobject();
  combined.set_reason(event.reason());
  combined.set_message(std::string(kCombined) + event.message());
  *combined.mutable_source() = event.source();
  combined.mutable_firsttimestamp()->set_seconds(ToTimestamp(wall).seconds);
  combined.mutable_lasttimestamp()->set_seconds(ToTimestamp(wall).seconds);
  combined.set_count(1);
  combined.set_type(event.type());
  return combined;
}

}  // namespace

EventCorrelator::EventCorrelator() : alike_(kEntriesMax), sent_(kEntriesMax), spam_(kEntriesMax) {}

EventCorrelator::Decision EventCorrelator::Correlate(Event& event, const Moment& moment) {
  const Fnv128 key = Combine(event, moment);
  Decision decision{.verdict = Verdict::kCreate};
  if (const Sent* before = sent_.Find(key); before != nullptr && before->count > 0) {
    event.mutable_metadata()->set_name(before->name);
    event.mutable_firsttimestamp()->set_seconds(before->first_seconds);
    event.set_count(before->count + 1);
    decision = {.verdict = Verdict::kPatch, .patch = MakePatch(event)};
  }
  // Counted also when it is not sent: the next that is sent tells how many there were.
  Remember(key, event);
  if (spam_.IsSpam(SpamKey(event), moment.now)) return {};
  return decision;
}

Fnv128 EventCorrelator::Combine(Event& event, const Moment& moment) {
  const Fnv128 alike_key = AlikeKey(event);
  Alike* alike = alike_.Find(alike_key);
  if (alike == nullptr || moment.now - alike->last_at > kAlikeTime) {
    alike = &alike_.Add(alike_key, Alike{});
  }
  const Fnv128 message = Fnv1a128(event.message());
  if (std::ranges::find(alike->messages, message) == alike->messages.end()) {
    alike->messages.push_back(message);
  }
  alike->last_at = moment.now;
  if (alike->messages.size() < kAlikeMax) return SameKey(event);
  // Any may go, upstream takes a random one; room for the next is what counts.
  alike->messages.erase(alike->messages.begin());
  event = Combined(event, moment.wall);
  return alike_key;
}

void EventCorrelator::OnSent(const Event& event) { Remember(SameKey(event), event); }

void EventCorrelator::Remember(const Fnv128& key, const Event& event) {
  sent_.Add(key, {.count = event.count(),
                  .first_seconds = event.firsttimestamp().seconds(),
                  .name = event.metadata().name()});
}

}  // namespace denselet::events
