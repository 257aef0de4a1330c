// Thousands of exchanges that end in every way at random moments: each call ends once or never,
// and nothing is left over.
#include <filesystem>

#include "tests/integration/net/http2_fixture.h"

namespace denselet::net {
namespace {

using namespace frames;

class Http2StressTest : public Http2Test {
 protected:
  static size_t OpenDescriptors() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      count += entry.path().empty() ? 0 : 1;
    }
    return count;
  }

  // Does something random with one of the calls.
  void Disturb(Http2Client& client, Http2Call& call) {
    switch (random_.Below(6)) {
      case 0:
        call.exchange.reset();
        break;
      case 1:
        if (call.exchange) call.exchange->Hold();
        break;
      case 2:
        if (call.exchange) call.exchange->Resume();
        break;
      default:
        Restart(client, call);
    }
  }

  void Restart(Http2Client& client, Http2Call& call) {
    started_ += 1;
    if (call.ended()) ++ended_;
    call.exchange.reset();
    call.head.reset(), call.error.reset(), call.body.clear();
    call.whole = false;
    const Context context = Context{}.WithTimeout(
        loop().Now(), random_.Below(4) == 0 ? Duration(Milliseconds(1)) : Duration(Seconds(30)));
    const bool upload = random_.Below(3) == 0;
    const auto when_full = static_cast<WhenFull>(random_.Below(3));
    call.exchange = client.Start(
        context, Get("/"), upload ? RequestBody::kStreamed : RequestBody::kNone, when_full, call);
    if (!upload) return;
    call.exchange->SendBody(std::string(random_.Below(100'000), 'u'));
    if (random_.Below(2) == 0) call.exchange->EndBody();
  }

  int started_ = 0, ended_ = 0;
};
INSTANTIATE_LOOP_TEST(Http2StressTest);

TEST_P(Http2StressTest, RandomCancelsLeaveNothingBehind) {
  const size_t before = OpenDescriptors();
  {
    // Now and then the server refuses, resets, goes away or hangs up.
    FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
      const bool request = frame.type == kHeaders;
      const uint64_t mood = request ? random_.Below(200) : 200;
      if (mood == 0) return c.Close();
      if (mood == 1) return c.Send(GoAway(frame.stream - 2, 0));
      if (mood < 10) return c.Send(Reset(frame.stream, static_cast<uint32_t>(mood)));
      if (mood < 20) return;  // never answered, unless by the end of its body
      Answering{.body = Pattern(20'000), .first = StreamsMax(20)}(c, frame);
    });
    Http2ClientOptions options;
    options.backoff_min = Milliseconds(1);
    options.backoff_max = Milliseconds(2);
    options.connections_max = 3;
    options.waiting_max = 50;
    options.connection.stream_window_bytes = 65'535;
    // Peer and client share this thread; what it sends to cancelled streams is much.
    Http2Client client(loop(), random_, options, Dialler(peer.address()));
    std::vector<Http2Call> calls(100);
    ASSERT_TRUE(RunUntil([&] {
      for (int i = 0; i < 20; ++i) Disturb(client, calls[random_.Below(calls.size())]);
      return started_ >= 5000;
    }));
    EXPECT_GT(ended_, 500);
    for (Http2Call& call : calls) call.exchange.reset();
    EXPECT_EQ(client.counters().streams, 0u);
    EXPECT_EQ(client.counters().waiting, 0u);
    client.Stop();
    ASSERT_TRUE(RunUntil([&] { return client.counters().connections == 0; }));
    for (auto& connection : peer.connections) connection->Close();
  }
  ASSERT_TRUE(RunUntil([&] { return OpenDescriptors() <= before; }));
}

}  // namespace
}  // namespace denselet::net
