// One request of an Http2Client: waits, is sent, perhaps sent again, and passes the answer on.
// Internal to http2/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/context.h"
#include "reactor/net/http/client_call.h"
#include "reactor/net/http2/client.h"

namespace denselet::net {

class ClientExchange final : public HttpExchange, private HttpClientCall {
 public:
  ClientExchange(reactor::Loop& loop, const Context& context, HttpRequest request, RequestBody body,
                 WhenFull when_full, HttpClientCall& call);
  ~ClientExchange() override;
  ClientExchange(const ClientExchange&) = delete;
  ClientExchange& operator=(const ClientExchange&) = delete;

  // HttpExchange
  void SendBody(std::string data) override;
  void EndBody() override;
  size_t unsent() const override;
  void Hold() override;
  void Resume() override;

  void Attach(Http2Client& client, Http2Client::Ticket ticket);
  // Until it is sent: then the connection does.
  void WatchCancel();
  // The client goes: no further call, not even what was posted or has arrived.
  void Abandon();
  // On a connection that has a free stream.
  void SendOn(Http2Connection& connection);
  void Fail(const Error& reason);
  void FailLater(const Error& reason);

  const Context& context() const { return context_; }
  WhenFull when_full() const { return when_full_; }
  Http2Client::Ticket ticket() const { return ticket_; }
  bool sent() const { return inner_ != nullptr; }
  // Where the client has it in its list.
  size_t index = 0;

 private:
  // HttpClientCall
  void OnHead(HttpResponseHead head) override;
  void OnBody(std::span<const std::byte> data) override { call_.OnBody(data); }
  void OnEnd() override;
  void OnFailed(const Error& reason) override;
  void OnRoom() override { call_.OnRoom(); }

  void Detach();
  bool MayRetry(const Error& reason) const;
  void SendKept();
  void DropKept();

  reactor::Loop& loop_;
  const Context context_;
  HttpRequest request_;  // until the answer begins
  const RequestBody body_;
  const WhenFull when_full_;
  HttpClientCall& call_;
  Http2Client* client_ = nullptr;
  const std::shared_ptr<ClientExchange*> self_;
  CancelRegistration cancel_;  // while it waits
  Http2Client::Ticket ticket_;
  std::unique_ptr<HttpExchange> inner_;  // null: waits, or has ended
  std::string kept_;                     // of the body: to be sent, or to be sent again
  uint32_t retries_ = 0;
  bool replayable_ = true;
  bool body_ended_ = false;
  bool held_ = false;
  bool ended_ = false;
};

}  // namespace denselet::net
