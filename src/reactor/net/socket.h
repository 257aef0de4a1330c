// A connected socket as a Stream.
//
// Its descriptor is closed once, when the last operation on it has called back: right away when
// there is none, a turn after Close() when one had to be cancelled.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "reactor/api/io.h"
#include "reactor/net/stream.h"

namespace denselet::net {

class Socket final : public Stream {
 public:
  // Takes the descriptor, which is connected and adopted by the loop.
  Socket(reactor::Loop& loop, int fd);
  ~Socket() override;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void Use(StreamUser& user) override;
  void Send(std::string data) override;
  void SendEnd() override;
  size_t unsent() const override;
  void Hold() override;
  void Resume() override;
  void Close() override;

  // For socket options; not to be closed or read from.
  int fd() const;

 private:
  // What operations under way need, also after the end of the socket: shared with them.
  struct Core;

  void StartReceive();
  void OnReceive(int32_t result, std::span<const std::byte> data);
  void Deliver();
  void StartSend();
  void OnSent(int32_t result);
  void NextSend();
  void Break(int32_t result, const char* doing);
  void TellLater(void (Socket::*task)());
  void TellBroken();

  reactor::Loop& loop_;
  std::shared_ptr<Core> core_;  // null: closed
  StreamUser* user_ = nullptr;
  reactor::OpId receive_, send_;
  bool receiving_ = false;  // receive_ is under way
  bool held_ = true;        // until there is a user
  bool end_wanted_ = false;
  bool end_told_ = false;          // the peer's, to the present user
  std::optional<Error> broken_;    // and there was no user to tell
  size_t lost_bytes_ = 0;          // unsent when it broke
  std::shared_ptr<Socket*> self_;  // shared with posted tasks; made when first needed
  std::string early_;  // received while held: what the loop had on its way when Hold() was called,
                       // no more than its receive buffers
  std::optional<int32_t> receive_result_;  // how receiving ended, not told yet or told
  std::string waiting_;                    // behind what is being sent
};

}  // namespace denselet::net
