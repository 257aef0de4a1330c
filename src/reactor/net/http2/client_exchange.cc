#include "reactor/net/http2/client_exchange.h"

#include <utility>

#include "base/check.h"

namespace denselet::net {

ClientExchange::ClientExchange(reactor::Loop& loop, const Context& context, HttpRequest request,
                               RequestBody body, WhenFull when_full, HttpClientCall& call)
    : loop_(loop),
      context_(context),
      request_(std::move(request)),
      body_(body),
      when_full_(when_full),
      call_(call),
      self_(std::make_shared<ClientExchange*>(this)) {}

ClientExchange::~ClientExchange() {
  *self_ = nullptr;
  Abandon();
}

void ClientExchange::Attach(Http2Client& client, Http2Client::Ticket ticket) {
  client_ = &client;
  ticket_ = ticket;
}

void ClientExchange::WatchCancel() {
  cancel_ = context_.cancel.OnCancel(
      [this] { FailLater(Error(ErrorCode::kCancelled, "nobody waits for the answer any more")); });
}

void ClientExchange::Abandon() {
  ended_ = true;
  inner_.reset();
  Detach();
}

void ClientExchange::Detach() {
  cancel_.Forget();
  if (client_ != nullptr) std::exchange(client_, nullptr)->Forget(*this);
}

void ClientExchange::SendOn(Http2Connection& connection) {
  cancel_.Forget();  // the connection sees to it
  inner_ = connection.Start(context_, request_, body_, *this);
  if (held_) inner_->Hold();
  if (body_ == RequestBody::kStreamed) SendKept();
}

void ClientExchange::SendKept() {
  if (kept_.size() > client_->options_.replay_bytes_max) replayable_ = false;
  if (replayable_) {
    inner_->SendBody(kept_);
  } else {
    inner_->SendBody(std::exchange(kept_, {}));
  }
  if (body_ended_) inner_->EndBody();
}

void ClientExchange::SendBody(std::string data) {
  CHECK(body_ == RequestBody::kStreamed && !body_ended_);
  if (ended_ || client_ == nullptr) return;
  if (inner_ == nullptr) {
    kept_ += data;
    return;
  }
  if (replayable_ && kept_.size() + data.size() > client_->options_.replay_bytes_max) {
    DropKept();
  }
  if (replayable_) kept_ += data;
  inner_->SendBody(std::move(data));
}

void ClientExchange::EndBody() {
  CHECK(body_ == RequestBody::kStreamed);
  if (std::exchange(body_ended_, true) || inner_ == nullptr) return;
  inner_->EndBody();
}

size_t ClientExchange::unsent() const {
  if (inner_ != nullptr) return inner_->unsent();
  return client_ == nullptr ? 0 : kept_.size();
}

void ClientExchange::Hold() {
  held_ = true;
  if (inner_ != nullptr) inner_->Hold();
}

void ClientExchange::Resume() {
  held_ = false;
  if (inner_ != nullptr) inner_->Resume();
}

void ClientExchange::DropKept() {
  replayable_ = false;
  kept_ = {};
}

void ClientExchange::OnHead(HttpResponseHead head) {
  DropKept();
  request_ = {};
  call_.OnHead(std::move(head));
}

void ClientExchange::OnEnd() {
  ended_ = true;
  Detach();
  call_.OnEnd();
}

bool ClientExchange::MayRetry(const Error& reason) const {
  return reason.code() == ErrorCode::kUnavailable && replayable_ && client_ != nullptr &&
         !client_->stopped_ && retries_ < client_->options_.retries_max;
}

void ClientExchange::OnFailed(const Error& reason) {
  if (!MayRetry(reason)) return Fail(reason);
  ++retries_;
  ++client_->counters_.retries;
  inner_.reset();
  client_->Enqueue(*this);
}

void ClientExchange::Fail(const Error& reason) {
  if (std::exchange(ended_, true)) return;
  inner_.reset();
  Detach();
  call_.OnFailed(reason);
}

void ClientExchange::FailLater(const Error& reason) {
  loop_.Post([self = self_, reason] {
    if (*self != nullptr) (*self)->Fail(reason);
  });
}

}  // namespace denselet::net
