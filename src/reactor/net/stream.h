// A connection that carries bytes both ways, whatever is below: a socket, TLS over one, a tunnel
// through a proxy. Lives on the shard of its loop; has one user at a time.
//
// Calls to the user come in turns of the loop, never inside a call to the stream. In any of them
// the user may Close() the stream; it must not destroy it there, but hands it to
// Loop::DeferDelete.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "reactor/api/loop.h"

namespace denselet::net {

class StreamUser {
 public:
  // Valid during the call.
  virtual void OnReceived(std::span<const std::byte> data) = 0;
  // The peer sends no more; sending to it still works. A stream whose end can be forged (TLS
  // without close_notify) calls OnBroken instead.
  virtual void OnReceiveEnd() = 0;
  // unsent() has fallen to kRoomBytes or less after it was more.
  virtual void OnRoom() = 0;
  // unsent() has fallen to 0: the kernel has it all. For who waits for that and nothing else.
  virtual void OnSent() {}
  // Of no use any more, both ways. The last call; the stream is closed.
  virtual void OnBroken(const Error& reason) = 0;

 protected:
  ~StreamUser() = default;
};

class Stream : public reactor::Deletable {
 public:
  // Who sends much at a time waits for OnRoom while more than this is unsent. Send itself never
  // refuses: the bound is the sender's duty, because only it knows whether to wait or to shed.
  static constexpr size_t kRoomBytes = 64 * 1024;

  // From here on calls go to `user`, and receiving begins; a later call hands the stream over to
  // another user. Nothing is lost between two users, or before the first: what was received, the
  // peer's end and a break are told to who comes.
  virtual void Use(StreamUser& user) = 0;

  // Behind all that was sent before. Nothing happens after SendEnd, Close or OnBroken.
  virtual void Send(std::string data) = 0;
  virtual void SendEnd() = 0;         // behind all that was sent, the peer sees the end
  virtual size_t unsent() const = 0;  // after OnBroken: what was lost of it

  // No calls of OnReceived and OnReceiveEnd until Resume; what the peer sends waits, in the end
  // at the peer.
  virtual void Hold() = 0;
  virtual void Resume() = 0;

  // At once, unsent data is lost; no further call to the user. Also done by the destructor.
  virtual void Close() = 0;
};

}  // namespace denselet::net
