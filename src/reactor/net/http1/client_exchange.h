// The caller's end of an exchange of an Http1Client; private to it.
#pragma once

#include <string>
#include <utility>

#include "reactor/net/http/client_call.h"
#include "reactor/net/http1/client.h"

namespace denselet::net {

class Http1Client::Exchange final : public HttpExchange {
 public:
  explicit Exchange(Http1Client& client) : client_(&client) { client.exchange_ = this; }
  ~Exchange() override {
    if (client_ != nullptr) client_->Abandon();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void SendBody(std::string data) override {
    if (client_ != nullptr) client_->SendBody(std::move(data));
  }
  void EndBody() override {
    if (client_ != nullptr) client_->EndBody();
  }
  size_t unsent() const override {
    const bool over = client_ == nullptr || client_->stream_ == nullptr;
    return over ? 0 : client_->stream_->unsent();
  }
  void Hold() override {
    if (client_ != nullptr) client_->Hold();
  }
  void Resume() override {
    if (client_ != nullptr) client_->Resume();
  }

 private:
  friend class Http1Client;
  Http1Client* client_;  // null: the exchange is over
};

}  // namespace denselet::net
