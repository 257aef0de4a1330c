// The other end of the agent's local socket: asks, waits for the whole answer, and says in words
// what to do when there is none.
//
// Has a loop of its own on the thread that uses it.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/event_loop.h"
#include "reactor/net/address.h"
#include "reactor/net/http/message.h"

namespace denselet::app {

class LocalClient {
 public:
  static Result<std::unique_ptr<LocalClient>> Make(const std::string& socket, const Clock& clock);

  // kNotFound: what was asked for is not there. Others: no agent answers, with what to do.
  Result<std::string> Get(const std::string& path);
  // Time goes by.
  void Wait(Duration time);

 private:
  LocalClient(std::string socket, const net::Address& address,
              std::unique_ptr<reactor::EventLoop> loop)
      : socket_(std::move(socket)), address_(address), loop_(std::move(loop)) {}

  Result<net::HttpResponse> Fetch(const std::string& path);

  const std::string socket_;
  const net::Address address_;
  const std::unique_ptr<reactor::EventLoop> loop_;
};

}  // namespace denselet::app
