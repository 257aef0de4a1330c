// Client and server of HTTP/1 on simulated loops: bytes come late and in pieces, connections break
// and fall silent. Whatever happens, every exchange ends exactly once, an answer that came whole is
// the right one, and in the end nothing is left.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reactor/net/connect.h"
#include "reactor/net/http1/client.h"
#include "reactor/net/http1/server.h"
#include "tests/sim/world.h"

namespace denselet::net {
namespace {

using sim::World;
using sim::WorldOptions;

std::string_view TextOf(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

// Gives back the request's body, with its target in front: at once, later, or in parts as it comes.
class EchoService final : public HttpService {
 public:
  explicit EchoService(World& world) : world_(world) {}

  void OnRequest(HttpRequest request, HttpServerExchange exchange) override {
    const uint64_t number = next_++;
    auto call = std::make_unique<Call>(*this, number, std::move(request), std::move(exchange));
    Call& kept = *call;
    calls_.emplace(number, std::move(call));
    kept.Start();
  }

  size_t open() const { return calls_.size(); }
  void Clear() { calls_.clear(); }

 private:
  class Call final : public HttpServerCall {
   public:
    Call(EchoService& service, uint64_t number, HttpRequest request, HttpServerExchange exchange)
        : service_(service),
          number_(number),
          request_(std::move(request)),
          exchange_(std::move(exchange)) {}

    void Start() {
      exchange_.Use(*this);
      streams_ = request_.target.starts_with("/stream");
      if (streams_) {
        exchange_.Begin({.status = 200, .headers = {}});
        exchange_.Send(request_.target);
      }
      if (request_.method == "GET") AnswerLater();
    }
    void OnBody(std::span<const std::byte> data) override {
      if (!streams_) return void(body_ += TextOf(data));
      exchange_.Send(TextOf(data));
      if (exchange_.unsent() > Stream::kRoomBytes) exchange_.Hold();
    }
    void OnRoom() override { exchange_.Resume(); }
    void OnBodyEnd() override { AnswerLater(); }
    void OnGone(const Error&) override { Leave(); }

   private:
    void AnswerLater() {
      World& world = service_.world_;
      const auto pause = Microseconds(1 + static_cast<int64_t>(world.random().Below(3000)));
      reactor::Loop& loop = world.loop(0);
      loop.Arm(loop.Now() + pause, [&service = service_, number = number_] {
        const auto found = service.calls_.find(number);
        if (found != service.calls_.end()) found->second->Answer();
      });
    }
    void Answer() {
      if (streams_) {
        exchange_.End();
      } else {
        exchange_.Respond(200, "text/plain", request_.target + body_);
      }
      Leave();
    }
    void Leave() {
      service_.world_.loop(0).Post(
          [&service = service_, number = number_] { service.calls_.erase(number); });
    }

    EchoService& service_;
    const uint64_t number_;
    const HttpRequest request_;
    HttpServerExchange exchange_;
    std::string body_;
    bool streams_ = false;
  };

  World& world_;
  uint64_t next_ = 0;
  std::map<uint64_t, std::unique_ptr<Call>> calls_;
};

// Connects, asks a few times, and again; until told to stop.
class Asker final : private HttpClientCall {
 public:
  Asker(World& world, const Address& address) : world_(world), address_(address) { Dial(); }

  void Stop() { stopping_ = true; }
  bool idle() const { return !asking_ && !dialling_; }

  uint64_t answered = 0, failed = 0;
  std::vector<std::string> problems;

 private:
  reactor::Loop& loop() { return world_.loop(1); }

  void Dial() {
    exchange_.reset();
    if (client_ != nullptr) loop().DeferDelete(std::move(client_));
    if (stopping_) return;
    dialling_ = true;
    Context context;
    context.deadline = After(loop().Now(), Milliseconds(200));
    Connect(loop(), context, address_, [this](Result<std::unique_ptr<Socket>> socket) {
      dialling_ = false;
      if (!socket) return Dial();
      Http1ClientOptions options;
      options.transfer_timeout = options.head_timeout = options.body_timeout = Milliseconds(300);
      client_ = std::make_unique<Http1Client>(loop(), std::move(*socket), options,
                                              [this](Http1Client::State state) { Next(state); });
      Ask();
    });
  }

  void Next(Http1Client::State state) {
    if (asking_) return;
    if (state != Http1Client::State::kIdle || world_.random().Below(6) == 0) return Dial();
    Ask();
  }

  void Ask() {
    if (stopping_) return Dial();
    HttpRequest request;
    request.authority = "h";
    // One after the other: compilers differ in which operand they evaluate first.
    request.target = world_.random().Below(2) == 0 ? "/whole" : "/stream";
    request.target += std::to_string(world_.random().Below(1000)) + ";";
    expected_ = request.target;
    heard_.clear();
    asking_ = true;
    if (world_.random().Below(2) == 0) {
      exchange_ = client_->Start({}, request, RequestBody::kNone, *this);
      return;
    }
    request.method = "POST";
    const auto size = static_cast<size_t>(world_.random().Below(40'000));
    const std::string body(size, static_cast<char>('a' + size % 26));
    expected_ += body;
    exchange_ = client_->Start({}, request, RequestBody::kStreamed, *this);
    exchange_->SendBody(body.substr(0, size / 3));
    exchange_->SendBody(body.substr(size / 3));
    exchange_->EndBody();
  }

  void OnHead(HttpResponseHead head) override {
    if (head.status != 200) problems.push_back("status " + std::to_string(head.status));
  }
  void OnBody(std::span<const std::byte> data) override { heard_ += TextOf(data); }
  void OnEnd() override {
    Over();
    ++answered;
    if (heard_ != expected_) problems.push_back("a wrong answer to " + expected_.substr(0, 20));
  }
  void OnFailed(const Error& reason) override {
    Over();
    ++failed;
    if (!expected_.starts_with(heard_)) problems.push_back("a wrong half answer");
    if (reason.code() == ErrorCode::kCorrupt || reason.code() == ErrorCode::kBug) {
      problems.push_back(reason.message());
    }
  }
  void Over() {
    if (!asking_) problems.push_back("an exchange ended twice");
    asking_ = false;
  }

  World& world_;
  const Address address_;
  std::unique_ptr<Http1Client> client_;
  std::unique_ptr<HttpExchange> exchange_;
  std::string expected_, heard_;
  bool asking_ = false, dialling_ = false, stopping_ = false;
};

struct Outcome {
  uint64_t answered = 0, failed = 0;
};

Outcome RunSeed(uint64_t seed, double reset, double silence) {
  World world({.seed = seed, .shards = 2});
  world.network().faults().delay_max = Milliseconds(3);
  world.network().faults().reset = reset;
  world.network().faults().silence = silence;
  EchoService service(world);
  Http1ServerOptions options;
  options.head_timeout = options.idle_timeout = options.body_timeout = Milliseconds(500);
  options.transfer_timeout = options.linger_timeout = Milliseconds(500);
  Http1Server server(world.loop(0), service, options);
  const Address address = *server.Listen(*Address::Ip("127.0.0.1", 80));
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 4; ++i) askers.push_back(std::make_unique<Asker>(world, address));
  world.RunUntil(world.clock().Now() + Seconds(5));

  world.network().faults() = {};
  for (const auto& asker : askers) asker->Stop();
  world.RunUntil(world.clock().Now() + Seconds(10));
  Outcome outcome;
  for (const auto& asker : askers) {
    EXPECT_TRUE(asker->idle()) << "seed " << seed;
    for (const std::string& problem : asker->problems) {
      ADD_FAILURE() << problem << ", seed " << seed;
    }
    outcome.answered += asker->answered;
    outcome.failed += asker->failed;
  }
  EXPECT_EQ(server.connections(), 0u) << "seed " << seed;
  EXPECT_EQ(service.open(), 0u) << "seed " << seed;
  EXPECT_EQ(world.network().open_sockets(), 1u) << "the listener is left; seed " << seed;
  bool stopped = false;
  server.Stop(Seconds(1), [&] { stopped = true; });
  world.RunUntil(world.clock().Now() + Seconds(2));
  EXPECT_TRUE(stopped) << "seed " << seed;
  return outcome;
}

TEST(Http1Sim, InPeaceEveryExchangeIsAnswered) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome outcome = RunSeed(seed, 0, 0);
    EXPECT_GT(outcome.answered, 100u) << seed;
    EXPECT_EQ(outcome.failed, 0u) << seed;
  }
}

TEST(Http1Sim, UnderResetsAndSilenceExchangesEndOnceAndNothingIsLeft) {
  Outcome all;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Outcome outcome = RunSeed(seed, 0.02, 0.01);
    all.answered += outcome.answered;
    all.failed += outcome.failed;
  }
  EXPECT_GT(all.answered, 500u);
  EXPECT_GT(all.failed, 50u);
}

}  // namespace
}  // namespace denselet::net
