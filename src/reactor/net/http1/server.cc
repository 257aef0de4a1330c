#include "reactor/net/http1/server.h"

#include <utility>

#include "reactor/net/http1/connection.h"

namespace denselet::net {
Http1Server::Http1Server(reactor::Loop& loop, HttpService& service,
                         const Http1ServerOptions& options)
    : loop_(loop), service_(service), options_(options) {}

Http1Server::~Http1Server() {
  loop_.Disarm(stop_timer_);
  listeners_.clear();
  connections_.clear();
}

Result<Address> Http1Server::Listen(const Address& address) {
  auto listener = Listener::Open(
      loop_, address, [this](std::unique_ptr<Socket> socket) { Serve(std::move(socket)); });
  if (!listener) return listener.error();
  listeners_.push_back(std::move(*listener));
  if (full_) listeners_.back()->Hold();
  return listeners_.back()->address();
}

void Http1Server::ListenOn(int fd, const Address& address) {
  listeners_.push_back(Listener::Adopt(
      loop_, fd, address, [this](std::unique_ptr<Socket> socket) { Serve(std::move(socket)); }));
  if (full_) listeners_.back()->Hold();
}

void Http1Server::Serve(std::unique_ptr<Stream> stream) {
  if (stopping_) return loop_.DeferDelete(std::move(stream));
  connections_.push_back(
      std::make_unique<Http1Connection>(*this, std::move(stream), connections_.size()));
  connections_.back()->Start();
  if (connections_.size() < options_.connections_max || full_) return;
  full_ = true;
  for (const auto& listener : listeners_) listener->Hold();
}

void Http1Server::Remove(Http1Connection& connection) {
  const size_t place = connection.place();
  std::swap(connections_[place], connections_.back());
  connections_[place]->set_place(place);
  loop_.DeferDelete(std::move(connections_.back()));
  connections_.pop_back();
  if (full_ && connections_.size() < options_.connections_max) {
    full_ = false;
    for (const auto& listener : listeners_) listener->Resume();
  }
  if (stopping_) StoppedWhenEmpty();
}

void Http1Server::Stop(Duration limit, UniqueFunction<void()> done) {
  CHECK(!stopping_);
  stopping_ = true;
  stopped_ = std::move(done);
  listeners_.clear();
  // From the back: one that ends is replaced by the last.
  for (size_t i = connections_.size(); i-- > 0;) connections_[i]->EndIfIdle();
  if (connections_.empty()) return StoppedWhenEmpty();
  stop_timer_ = loop_.Arm(After(loop_.Now(), limit), [this] { CutAll(); });
}

void Http1Server::CutAll() {
  // One that hears of its end may end others.
  while (!connections_.empty()) connections_.back()->Cut(Http1Fault::kStopped);
}

void Http1Server::StoppedWhenEmpty() {
  if (!connections_.empty() || !stopped_) return;
  // By a timer and not by Post: the server may be gone by then.
  loop_.Disarm(stop_timer_);
  stop_timer_ = loop_.Arm(loop_.Now(), [this] {
    auto done = std::move(stopped_);
    if (done) done();
  });
}

}  // namespace denselet::net
