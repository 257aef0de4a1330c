// Whatever a server sends, in whatever pieces: every call ends once or is still open, nothing is
// sent without bound, and the connection ends with a reason or goes on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "reactor/net/http2/connection.h"

namespace denselet::net {
namespace {

// A loop without input and output: tasks, timers and deletions, driven by hand.
class HandLoop final : public reactor::Loop {
 public:
  TimePoint Now() const override { return clock_.Now(); }
  WallTime WallNow() const override { return {}; }
  void Post(reactor::Task task) override { tasks_.push_back(std::move(task)); }
  void DeferDelete(std::unique_ptr<reactor::Deletable> object) override {
    deletions_.push_back(std::move(object));
  }
  reactor::Io& io() override { CheckFailed(__FILE__, __LINE__, "no input and output here"); }
  reactor::Activity& activity() override { return activity_; }
  reactor::TimerId Arm(TimePoint when, reactor::Task task) override {
    const reactor::TimerId id{{0, ++timer_count_}};
    timers_.emplace(timer_count_, std::pair(when, std::move(task)));
    return id;
  }
  bool Disarm(reactor::TimerId timer) override { return timers_.erase(timer.key.generation) > 0; }

  void Turn(Duration later) {
    clock_.Advance(later);
    std::vector<uint32_t> due;
    for (const auto& [number, timer] : timers_) {
      if (timer.first <= clock_.Now()) due.push_back(number);
    }
    for (const uint32_t number : due) {
      const auto found = timers_.find(number);
      if (found == timers_.end()) continue;
      reactor::Task task = std::move(found->second.second);
      timers_.erase(found);
      task();
    }
    std::deque<reactor::Task> tasks = std::exchange(tasks_, {});
    for (reactor::Task& task : tasks) task();
    deletions_.clear();
  }
  size_t timers() const { return timers_.size(); }

 private:
  ManualClock clock_;
  uint32_t timer_count_ = 0;
  std::map<uint32_t, std::pair<TimePoint, reactor::Task>> timers_;
  std::deque<reactor::Task> tasks_;
  std::vector<std::unique_ptr<reactor::Deletable>> deletions_;
  reactor::Activity activity_{clock_};
};

struct Wire {
  StreamUser* user = nullptr;
  bool closed = false;
  size_t sent = 0;
};

class MemoryStream final : public Stream {
 public:
  explicit MemoryStream(Wire& wire) : wire_(wire) {}
  void Use(StreamUser& user) override { wire_.user = &user; }
  void Send(std::string data) override { wire_.sent += data.size(); }
  void SendEnd() override {}
  size_t unsent() const override { return 0; }
  void Hold() override {}
  void Resume() override {}
  void Close() override { wire_.closed = true; }

 private:
  Wire& wire_;
};

struct Call final : HttpClientCall {
  void OnHead(HttpResponseHead head) override {
    CHECK(!head_seen && !ended && head.status >= 200 && head.status <= 999);
    head_seen = true;
  }
  void OnBody(std::span<const std::byte> data) override {
    CHECK(head_seen && !ended && !data.empty());
    if (drops) exchange.reset();
  }
  void OnEnd() override { CHECK(head_seen && !std::exchange(ended, true)); }
  void OnFailed(const Error& reason) override {
    CHECK(!std::exchange(ended, true) && !reason.message().empty());
  }
  bool head_seen = false, ended = false, drops = false;
  std::unique_ptr<HttpExchange> exchange;
};

void Feed(HandLoop& loop, Wire& wire, const uint8_t* data, size_t size, size_t piece) {
  while (size > 0 && !wire.closed) {
    const size_t bytes = std::min(piece, size);
    wire.user->OnReceived(std::as_bytes(std::span(data, bytes)));
    data += bytes;
    size -= bytes;
    loop.Turn(Milliseconds(1));
  }
}

}  // namespace
}  // namespace denselet::net

// The input: a byte for the size of pieces, then what the server sends. Five requests are open, of
// which one has a body, one is held and one goes in its first call.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet;
  using namespace denselet::net;
  if (size < 1) return 0;
  HandLoop loop;
  Wire wire;
  std::vector<Call> calls(5);
  {
    Http2Connection connection(loop, std::make_unique<MemoryStream>(wire), Http2Options{}, nullptr);
    HttpRequest request;
    request.authority = "test";
    for (size_t i = 0; i < calls.size(); ++i) {
      const RequestBody body = i == 1 ? RequestBody::kStreamed : RequestBody::kNone;
      calls[i].exchange = connection.Start({}, request, body, calls[i]);
    }
    calls[1].exchange->SendBody(std::string(200'000, 'b'));
    calls[2].exchange->Hold();
    calls[3].drops = true;
    loop.Turn(Milliseconds(1));
    Feed(loop, wire, data + 1, size - 1, 1 + data[0] * size_t{8});
    calls[2].exchange->Resume();
    loop.Turn(Milliseconds(1));
    CHECK(wire.sent < 400'000 + 40 * size);
    // Silence: sooner or later it is over.
    for (int i = 0; i < 20 && !connection.closed(); ++i) loop.Turn(Seconds(15));
    CHECK(connection.closed() && wire.closed);
    for (const Call& call : calls) CHECK(call.ended || call.exchange == nullptr);
    calls.clear();
  }
  loop.Turn(Seconds(1));
  CHECK(loop.timers() == 0);
  return 0;
}
