#include "base/cancel.h"

#include <algorithm>
#include <utility>

namespace denselet {

CancelRegistration::CancelRegistration(CancelRegistration&& other) noexcept
    : state_(std::move(other.state_)), id_(std::exchange(other.id_, 0)) {}

CancelRegistration& CancelRegistration::operator=(CancelRegistration&& other) noexcept {
  if (this != &other) {
    Forget();
    state_ = std::move(other.state_);
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

void CancelRegistration::Forget() {
  const auto state = std::exchange(state_, {}).lock();
  if (state == nullptr) return;
  auto& callbacks = state->callbacks;
  const auto it = std::find_if(callbacks.begin(), callbacks.end(),
                               [this](const auto& callback) { return callback.id == id_; });
  if (it == callbacks.end()) return;
  // Out of the list before it dies: what it owns may forget other registrations, or hold this one.
  const auto callback = std::move(*it);
  callbacks.erase(it);
}

CancelRegistration CancelToken::OnCancel(UniqueFunction<void()> callback) const {
  CancelRegistration registration;
  if (state_ == nullptr || cancelled()) return registration;
  registration.state_ = state_;
  registration.id_ = state_->next_id++;
  state_->callbacks.push_back({registration.id_, std::move(callback)});
  return registration;
}

CancelSource::CancelSource() { token_.state_ = std::make_shared<internal::CancelState>(); }

CancelSource::~CancelSource() {
  // Cancel() under way in a callback that destroys this source still owes the others their call.
  if (token_.cancelled()) return;
  const auto callbacks = std::exchange(token_.state_->callbacks, {});
}

void CancelSource::Cancel() {
  // Held here: a callback may destroy this source.
  const auto state = token_.state_;
  if (state->cancelled.exchange(true, std::memory_order_acq_rel)) return;
  while (!state->callbacks.empty()) {
    // Out of the list before it runs, so that it can be forgotten, and others can, while it does.
    auto callback = std::move(state->callbacks.front());
    state->callbacks.erase(state->callbacks.begin());
    callback.run();
  }
}

}  // namespace denselet
