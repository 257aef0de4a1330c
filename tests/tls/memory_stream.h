// Two streams that are each other's other end, in memory: bytes arrive in later turns, in pieces
// of the size a test wants.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "reactor/net/stream.h"

namespace denselet::net {

class MemoryStream final : public Stream {
 public:
  // `piece_bytes`: the most that is handed over in one call.
  static std::pair<std::unique_ptr<MemoryStream>, std::unique_ptr<MemoryStream>> MakePair(
      reactor::Loop& loop, size_t piece_bytes);
  ~MemoryStream() override { Close(); }

  void Use(StreamUser& user) override;
  void Send(std::string data) override;
  void SendEnd() override;
  size_t unsent() const override;
  void Hold() override { End().held = true; }
  void Resume() override;
  void Close() override;

 private:
  // One direction's receiver. Shared with the other end and with posted tasks.
  struct Endpoint {
    MemoryStream* owner = nullptr;  // null: closed
    std::string arrived;
    bool ended = false;
    bool end_told = false;
    bool held = true;
    bool scheduled = false;
  };

  MemoryStream(reactor::Loop& loop, size_t piece_bytes) : loop_(loop), piece_bytes_(piece_bytes) {}

  Endpoint& End() { return *own_; }
  static void Schedule(const std::shared_ptr<Endpoint>& end);
  void Deliver();

  reactor::Loop& loop_;
  const size_t piece_bytes_;
  StreamUser* user_ = nullptr;
  std::shared_ptr<Endpoint> own_ = std::make_shared<Endpoint>();
  std::shared_ptr<Endpoint> other_;
  bool end_sent_ = false;
};

}  // namespace denselet::net
