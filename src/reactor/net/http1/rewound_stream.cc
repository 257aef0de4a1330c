#include "reactor/net/http1/rewound_stream.h"

#include <optional>
#include <span>
#include <utility>

namespace denselet::net {
namespace {

// Uses the stream below until it has delivered what was read ahead; from then on the stream below
// speaks to the user itself.
class RewoundStream final : public Stream, private StreamUser {
 public:
  RewoundStream(reactor::Loop& loop, std::unique_ptr<Stream> stream, std::string read_ahead)
      : loop_(loop),
        stream_(std::move(stream)),
        read_ahead_(std::move(read_ahead)),
        self_(std::make_shared<RewoundStream*>(this)) {
    stream_->Use(*this);
    stream_->Hold();
  }
  ~RewoundStream() override { *self_ = nullptr; }

  void Use(StreamUser& user) override {
    user_ = &user;
    if (handed_over_) return stream_->Use(user);
    Resume();
  }

  void Resume() override {
    if (handed_over_) return stream_->Resume();
    held_ = false;
    if (user_ == nullptr) return;
    // Not inside a call of the user's.
    loop_.Post([self = self_] {
      if (*self != nullptr) (*self)->Deliver();
    });
  }

  void Hold() override {
    held_ = true;
    if (handed_over_) stream_->Hold();
  }

  void Close() override {
    *self_ = nullptr;
    stream_->Close();
  }

  void Send(std::string data) override { stream_->Send(std::move(data)); }
  void SendEnd() override { stream_->SendEnd(); }
  size_t unsent() const override { return stream_->unsent(); }

 private:
  void Deliver() {
    if (held_ || handed_over_) return;
    const std::shared_ptr<RewoundStream*> self = self_;
    const std::string data = std::exchange(read_ahead_, {});
    if (!data.empty()) user_->OnReceived(std::as_bytes(std::span(data)));
    if (*self == nullptr || held_) return;
    if (broken_) {
      Close();
      return user_->OnBroken(*broken_);
    }
    handed_over_ = true;
    stream_->Use(*user_);
  }

  // Held: these two are not called.
  void OnReceived(std::span<const std::byte> data) override {
    read_ahead_.append(reinterpret_cast<const char*>(data.data()), data.size());
  }
  void OnReceiveEnd() override {}
  void OnRoom() override {
    if (user_ != nullptr) user_->OnRoom();
  }
  void OnSent() override {
    if (user_ != nullptr) user_->OnSent();
  }
  void OnBroken(const Error& reason) override {
    broken_ = reason;
    if (user_ != nullptr && !held_) Resume();
  }

  reactor::Loop& loop_;
  const std::unique_ptr<Stream> stream_;
  std::string read_ahead_;
  std::optional<Error> broken_;
  StreamUser* user_ = nullptr;
  const std::shared_ptr<RewoundStream*> self_;  // shared with posted tasks; null: closed
  bool held_ = true, handed_over_ = false;
};

}  // namespace

std::unique_ptr<Stream> Rewind(reactor::Loop& loop, std::unique_ptr<Stream> stream,
                               std::string read_ahead) {
  return std::make_unique<RewoundStream>(loop, std::move(stream), std::move(read_ahead));
}

}  // namespace denselet::net
