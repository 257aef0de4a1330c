// A listening socket that hands out connections. Lives on the shard of its loop; destroying it
// stops, what was accepted stays.
#pragma once

#include <memory>

#include "base/result.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/socket.h"

namespace denselet::net {

class Listener {
 public:
  using OnAccept = UniqueFunction<void(std::unique_ptr<Socket>)>;

  // For a unix socket nothing may be at the path: removing what a predecessor left is the
  // caller's decision. In `accept` the listener may be destroyed only by DeferDelete.
  static Result<std::unique_ptr<Listener>> Open(reactor::Loop& loop, const Address& address,
                                                OnAccept accept);
  // A socket that listens already, under that address; it is this object's from here on.
  static std::unique_ptr<Listener> Adopt(reactor::Loop& loop, int fd, const Address& address,
                                         OnAccept accept);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // With the port that the kernel chose, when 0 was asked for.
  const Address& address() const { return address_; }
  // No further connections until Resume: they wait in the kernel's queue.
  void Hold();
  void Resume();

 private:
  struct Core;

  Listener(reactor::Loop& loop, std::shared_ptr<Core> core, const Address& address,
           OnAccept accept);
  void Accept();
  void OnAccepted(int32_t result);

  reactor::Loop& loop_;
  const std::shared_ptr<Core> core_;  // shared with the operation under way
  const Address address_;
  OnAccept accept_;
  reactor::OpId op_;
  reactor::TimerId retry_;
  bool accepting_ = false, held_ = false;
};

}  // namespace denselet::net
