#include "reactor/net/http2/exchange.h"

#include <utility>

#include "base/check.h"
#include "reactor/net/http2/connection.h"
#include "reactor/net/http2/session_events.h"

namespace denselet::net {

Http2Exchange::~Http2Exchange() {
  if (self_ != nullptr) *self_ = nullptr;
  if (connection_ != nullptr) connection_->Abandon(*this, SessionEvents::kCancel);
}

const std::shared_ptr<Http2Exchange*>& Http2Exchange::Self() {
  if (self_ == nullptr) self_ = std::make_shared<Http2Exchange*>(this);
  return self_;
}

void Http2Exchange::SendBody(std::string data) {
  CHECK(streams_body_ && !body_ended_);
  if (connection_ == nullptr || data.empty()) return;
  if (unsent() == 0) {
    progress_at_ = loop_.Now();
    body_ = std::move(data);
    body_sent_ = 0;
    connection_->WakeBy(After(progress_at_, connection_->options_.progress_timeout));
  } else {
    if (body_sent_ > body_.size() / 2) {
      body_.erase(0, body_sent_);
      body_sent_ = 0;
    }
    body_ += data;
  }
  ResumeSending();
}

void Http2Exchange::EndBody() {
  CHECK(streams_body_);
  if (body_ended_) return;
  body_ended_ = true;
  ResumeSending();
}

void Http2Exchange::ResumeSending() {
  if (connection_ == nullptr || !deferred_) return;
  deferred_ = false;
  SessionEvents::ResumeData(*connection_, id_);
  connection_->ScheduleFlush();
}

void Http2Exchange::Receive(std::span<const std::byte> data) {
  if (held_ || !kept_.empty()) {
    kept_.append(reinterpret_cast<const char*>(data.data()), data.size());
    return;
  }
  Http2Connection& connection = *connection_;
  const int32_t id = id_;
  connection.current_ = this;
  call_.OnBody(data);
  // Not there any more: the caller destroyed it, and has reset the stream by that.
  if (connection.current_ == this) SessionEvents::Consumed(connection, id, data.size());
  connection.current_ = nullptr;
}

void Http2Exchange::Complete() {
  complete_ = true;
  if (!held_ && kept_.empty()) Deliver();
}

void Http2Exchange::Resume() {
  if (!held_) return;
  held_ = false;
  if ((kept_.empty() && !complete_) || ended_ || delivery_posted_) return;
  delivery_posted_ = true;
  loop_.Post([self = Self()] {
    if (*self == nullptr) return;
    (*self)->delivery_posted_ = false;
    (*self)->Deliver();
  });
}

void Http2Exchange::Deliver() {
  if (held_ || ended_) return;
  if (!kept_.empty()) {
    const std::shared_ptr<Http2Exchange*> self = Self();
    const std::string kept = std::exchange(kept_, {});
    call_.OnBody(std::as_bytes(std::span(kept)));
    if (*self == nullptr) return;
    if (connection_ != nullptr) SessionEvents::Consumed(*connection_, id_, kept.size());
  }
  if (!complete_ || held_ || ended_) return;
  ended_ = true;
  cancel_.Forget();
  call_.OnEnd();
}

void Http2Exchange::Fail(const Error& reason) {
  if (ended_) return;
  ended_ = true;
  cancel_.Forget();
  kept_ = {};
  call_.OnFailed(reason);
}

void Http2Exchange::FailLater(const Error& reason) {
  loop_.Post([self = Self(), reason] {
    if (*self != nullptr) (*self)->Fail(reason);
  });
}

// Inside CancelSource::Cancel, which is a call of somebody's.
void Http2Exchange::OnCancelled() {
  if (connection_ != nullptr) connection_->Abandon(*this, SessionEvents::kCancel);
  FailLater(Error(ErrorCode::kCancelled, "nobody waits for the answer any more"));
}

}  // namespace denselet::net
