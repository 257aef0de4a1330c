#include "tests/tls/memory_stream.h"

#include <algorithm>

namespace denselet::net {

std::pair<std::unique_ptr<MemoryStream>, std::unique_ptr<MemoryStream>> MemoryStream::MakePair(
    reactor::Loop& loop, size_t piece_bytes) {
  std::unique_ptr<MemoryStream> a(new MemoryStream(loop, piece_bytes));
  std::unique_ptr<MemoryStream> b(new MemoryStream(loop, piece_bytes));
  a->own_->owner = a.get();
  b->own_->owner = b.get();
  a->other_ = b->own_;
  b->other_ = a->own_;
  return {std::move(a), std::move(b)};
}

void MemoryStream::Use(StreamUser& user) {
  user_ = &user;
  Resume();
}

void MemoryStream::Resume() {
  End().held = false;
  Schedule(own_);
}

void MemoryStream::Schedule(const std::shared_ptr<Endpoint>& end) {
  const bool something = !end->arrived.empty() || (end->ended && !end->end_told);
  if (end->owner == nullptr || end->held || end->scheduled || !something) return;
  end->scheduled = true;
  end->owner->loop_.Post([end] {
    end->scheduled = false;
    if (end->owner != nullptr && !end->held) end->owner->Deliver();
  });
}

void MemoryStream::Deliver() {
  const std::shared_ptr<Endpoint> end = own_;
  const std::string piece = end->arrived.substr(0, piece_bytes_);
  const size_t before = end->arrived.size();
  end->arrived.erase(0, piece.size());
  if (end->arrived.empty()) std::string().swap(end->arrived);  // idle ones hold nothing
  MemoryStream* const sender = other_->owner;
  if (sender != nullptr && sender->user_ != nullptr && before > kRoomBytes &&
      end->arrived.size() <= kRoomBytes) {
    sender->user_->OnRoom();
  }
  if (!piece.empty()) {
    user_->OnReceived(std::as_bytes(std::span(piece)));
  } else if (end->ended && !std::exchange(end->end_told, true)) {
    user_->OnReceiveEnd();
  }
  Schedule(end);
}

void MemoryStream::Send(std::string data) {
  if (own_->owner == nullptr || end_sent_ || other_->owner == nullptr) return;
  other_->arrived += data;
  Schedule(other_);
}

void MemoryStream::SendEnd() {
  if (own_->owner == nullptr || std::exchange(end_sent_, true)) return;
  other_->ended = true;
  Schedule(other_);
}

size_t MemoryStream::unsent() const { return own_->owner == nullptr ? 0 : other_->arrived.size(); }

void MemoryStream::Close() {
  if (own_->owner == nullptr) return;
  own_->owner = nullptr;
  own_->arrived = {};
  other_->ended = true;  // as a socket that is closed
  Schedule(other_);
}

}  // namespace denselet::net
