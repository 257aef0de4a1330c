#include "kube/client/api_contact.h"

#include <algorithm>
#include <utility>

namespace denselet::kube {

ApiContact::ApiContact(reactor::Loop& loop, ApiContactOptions options)
    : loop_(loop), options_(std::move(options)) {}

void ApiContact::OnConnectFailed(const Error& reason) {
  connected_ = false;
  last_failure_ = reason;
  if (!unreachable_.IsNews(loop_.Now(), reason.message()) || !options_.log) return;
  options_.log->Error(reason, "Could not connect to the API server", KV("server", options_.server),
                      KV("kubeconfig", options_.kubeconfig));
}

void ApiContact::OnConnected() {
  connected_ = true;
  last_failure_.reset();
}

void ApiContact::OnUnauthorized(const Error& reason) {
  if (!unauthorized_.IsNews(loop_.Now(), reason.message()) || !options_.log) return;
  options_.log->Error(reason, "The API server refused our credentials",
                      KV("server", options_.server), KV("kubeconfig", options_.kubeconfig));
}

void ApiContact::OnAnswer(int status) {
  const TimePoint now = loop_.Now();
  const bool first = !std::exchange(answered_, true);
  const TimePoint last_answer_at = std::exchange(last_answer_at_, now);
  // A connection that stood all the time says nothing of those that cannot be opened.
  const bool back = connected_ && unreachable_.seen();
  const bool taken = status != 401 && unauthorized_.seen();
  if (!first && !back && !taken) return;
  const std::optional<Duration> away = back ? unreachable_.Over(now) : std::nullopt;
  const std::optional<Duration> refused = taken ? unauthorized_.Over(now) : std::nullopt;
  if (options_.log && (first || away)) {
    // It was away for longer than anybody knew: since its last answer.
    const Duration known = away.value_or(Duration::zero());
    options_.log->Info("Connected to the API server", KV("server", options_.server),
                       KV("away", first ? known : std::max(known, now - last_answer_at)));
  }
  if (options_.log && refused) {
    options_.log->Info("The API server accepted our credentials again",
                       KV("server", options_.server), KV("refused", *refused));
  }
  if (back || taken) Wake();
}

void ApiContact::Wake() {
  const TimePoint now = loop_.Now();
  if (now < wake_not_before_) return;
  wake_not_before_ = After(now, kWakePause);
  for (auto& [subscription, wake] : sleepers_) wake();
}

uint64_t ApiContact::Subscribe(UniqueFunction<void()> wake) {
  sleepers_.emplace(next_subscription_, std::move(wake));
  return next_subscription_++;
}

}  // namespace denselet::kube
