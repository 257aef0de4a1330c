// The HTTP/2 client on virtual time over connections that are slow, break and fall silent: every
// call ends exactly once, and the same seed tells the same story.
#include <gtest/gtest.h>

#include "reactor/net/connect.h"
#include "reactor/net/http2/client.h"
#include "tests/integration/net/http2_peers.h"
#include "tests/sim/world.h"

namespace denselet::sim {
namespace {

using namespace net;

struct Story {
  size_t ended = 0, good = 0;
  std::string outcomes;
};

Story Tell(uint64_t seed) {
  Story story;
  World world(WorldOptions{.seed = seed, .shards = 2});
  world.network().faults() = {.delay_max = Milliseconds(20), .reset = 0.002, .silence = 0.001};
  FramePeer peer(world.loop(0), *Address::Ip("127.0.0.1", 80),
                 Answering{.body = Pattern(3000), .first = frames::StreamsMax(10)});
  Http2ClientOptions options;
  options.connection.ping_idle = Seconds(2);
  options.connection.ping_timeout = Seconds(1);
  Http2Client client(world.loop(1), world.random(), options,
                     [&](const Context& context, reactor::Done<std::unique_ptr<Stream>> done) {
                       Connect(world.loop(1), context, peer.address(),
                               [done = std::move(done)](Result<std::unique_ptr<Socket>> r) mutable {
                                 if (!r) return done(r.error());
                                 done(std::unique_ptr<Stream>(*std::move(r)));
                               });
                     });
  std::vector<Http2Call> calls(200);
  HttpRequest request;
  request.authority = "test";
  for (size_t i = 0; i < calls.size(); ++i) {
    world.loop(1).Arm(world.clock().Now() + Milliseconds(10) * i, [&, i] {
      const Context context = Context{}.WithTimeout(world.loop(1).Now(), Seconds(60));
      const bool upload = i % 4 == 0;
      calls[i].exchange =
          client.Start(context, request, upload ? RequestBody::kStreamed : RequestBody::kNone,
                       WhenFull::kOpenAnother, calls[i]);
      if (!upload) return;
      calls[i].exchange->SendBody(std::string(5000, 'u'));
      calls[i].exchange->EndBody();
    });
  }
  world.RunUntil(world.clock().Now() + Minutes(5));
  for (const Http2Call& call : calls) {  // a second last call would have failed a CHECK
    story.ended += call.ended() ? 1 : 0;
    story.good += call.whole && call.body == Pattern(3000) ? 1 : 0;
    story.outcomes += call.Outcome() + "\n";
    EXPECT_EQ(call.body.size(), call.whole ? 3000u : call.body.size());
  }
  calls.clear();
  client.Stop();
  world.RunUntil(world.clock().Now() + Minutes(1));
  EXPECT_EQ(client.counters().connections, 0u);
  for (auto& connection : peer.connections) connection->Close();
  world.RunUntil(world.clock().Now() + Seconds(1));
  EXPECT_EQ(world.network().open_sockets(), 1u) << "the listener's";
  return story;
}

TEST(Http2Sim, EveryCallEndsOnceWhateverTheNetworkDoes) {
  size_t good = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Story story = Tell(seed);
    EXPECT_EQ(story.ended, 200u) << story.outcomes;
    good += story.good;
  }
  EXPECT_GT(good, 20u * 200 / 2);
}

TEST(Http2Sim, TheSameSeedTellsTheSameStory) { EXPECT_EQ(Tell(7).outcomes, Tell(7).outcomes); }

}  // namespace
}  // namespace denselet::sim
