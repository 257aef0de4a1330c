// What HTTP/2 clients are tested against, on any loop: a caller that remembers, a peer made of
// frames, and a server that behaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "reactor/net/http/client_call.h"
#include "reactor/net/listener.h"
#include "tests/integration/net/http2_frames.h"

namespace denselet::net {

inline std::string Pattern(size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  return out;
}

// A call that checks the order of what it is told.
class Http2Call final : public HttpClientCall {
 public:
  void OnHead(HttpResponseHead got) override {
    CHECK(!head && !ended());
    head = std::move(got);
  }
  void OnBody(std::span<const std::byte> data) override {
    CHECK(head && !ended());
    body.append(reinterpret_cast<const char*>(data.data()), data.size());
    if (on_body) on_body();
  }
  void OnEnd() override {
    CHECK(head && !ended());
    whole = true;
    if (on_last) on_last();
  }
  void OnFailed(const Error& reason) override {
    CHECK(!ended());
    error = reason;
    if (on_last) on_last();
  }
  void OnRoom() override { ++rooms; }

  bool ended() const { return whole || error.has_value(); }
  std::string Outcome() const {
    if (!error) return whole ? std::to_string(head->status) : "nothing yet";
    return std::string(ErrorCodeName(error->code())) + ": " + error->message();
  }

  std::optional<HttpResponseHead> head;
  std::string body;
  bool whole = false;
  std::optional<Error> error;
  int rooms = 0;
  std::function<void()> on_body, on_last;
  std::unique_ptr<HttpExchange> exchange;
};

// One accepted connection of a FramePeer.
class FrameConnection final : public StreamUser {
 public:
  using OnFrame = std::function<void(FrameConnection&, const frames::Seen&)>;

  FrameConnection(reactor::Loop& loop, std::unique_ptr<Stream> stream, OnFrame on_frame)
      : loop_(loop), stream_(std::move(stream)), on_frame_(std::move(on_frame)) {
    stream_->Use(*this);
  }

  void Send(std::string bytes) {
    if (stream_ != nullptr) stream_->Send(std::move(bytes));
  }
  void End() {
    if (stream_ != nullptr) stream_->SendEnd();
  }
  void Close() {
    if (stream_ == nullptr) return;
    stream_->Close();
    loop_.DeferDelete(std::move(stream_));
  }
  bool open() const { return stream_ != nullptr; }
  size_t unsent() const { return stream_ == nullptr ? 0 : stream_->unsent(); }
  const std::vector<frames::Seen>& seen() const { return seen_; }
  size_t Count(uint8_t type) const {
    size_t count = 0;
    for (const frames::Seen& frame : seen_) count += frame.type == type ? 1 : 0;
    return count;
  }

 private:
  void OnReceived(std::span<const std::byte> data) override {
    received_.append(reinterpret_cast<const char*>(data.data()), data.size());
    if (!prefaced_) {
      if (received_.size() < frames::kPreface.size()) return;
      CHECK(received_.starts_with(frames::kPreface));
      received_.erase(0, frames::kPreface.size());
      prefaced_ = true;
    }
    frames::Seen frame;
    while (stream_ != nullptr && frames::TakeFrame(received_, frame)) {
      seen_.push_back(frame);
      on_frame_(*this, frame);
    }
  }
  void OnReceiveEnd() override { Close(); }
  void OnRoom() override {}
  void OnBroken(const Error&) override { Close(); }

  reactor::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  OnFrame on_frame_;
  std::string received_;
  std::vector<frames::Seen> seen_;
  bool prefaced_ = false;
};

// Listens, and speaks by a script: called for every frame that a client sends.
class FramePeer {
 public:
  FramePeer(reactor::Loop& loop, const Address& address, FrameConnection::OnFrame script)
      : script_(std::move(script)) {
    auto listener = Listener::Open(loop, address, [this, &loop](std::unique_ptr<Socket> socket) {
      connections.push_back(std::make_unique<FrameConnection>(loop, std::move(socket), script_));
    });
    CHECK(bool(listener));
    listener_ = *std::move(listener);
  }

  const Address& address() const { return listener_->address(); }

  std::vector<std::unique_ptr<FrameConnection>> connections;

 private:
  FrameConnection::OnFrame script_;
  std::unique_ptr<Listener> listener_;
};

// A script of a peer that answers: the `path_bytes`-independent 200 with `body` on every request
// that has ended, and takes what it is sent.
struct Answering {
  std::string body = "fine";
  std::string first = frames::Settings();

  void operator()(FrameConnection& connection, const frames::Seen& frame) const {
    using namespace frames;
    if (frame.type == kSettings && (frame.flags & kAck) == 0) {
      connection.Send(first + SettingsAck());
    }
    if (frame.type == kPing && (frame.flags & kAck) == 0) {
      connection.Send(Frame(kPing, kAck, 0, frame.payload));
    }
    if (frame.type == kData && !frame.payload.empty()) {
      const auto size = static_cast<uint32_t>(frame.payload.size());
      connection.Send(WindowUpdate(0, size) + WindowUpdate(frame.stream, size));
    }
    const bool end = (frame.flags & kEndStream) != 0;
    if (end && (frame.type == kHeaders || frame.type == kData)) {
      connection.Send(Ok200(frame.stream) + Data(frame.stream, body, kEndStream));
    }
  }
};

}  // namespace denselet::net
