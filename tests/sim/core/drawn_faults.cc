// What goes wrong in a story all along, each with a chance of its own: calls, events, leaves, the
// disk, requests to the API server.
#include "tests/sim/core/disturbances.h"

namespace denselet::sim {
namespace {

// A chance, in half of the seeds.
double Some(Random& random, double most) { return random.Below(2) == 0 ? 0 : most * random.Unit(); }

}  // namespace

bool ListsOnlyAtAWord(uint64_t seed) { return SeededRandom(seed * 49979687 + 17).Below(8) == 0; }

void Disturbances::DrawFaults() {
  core_.host().faults().timeout = Seconds(20);
  CoreAgentOptions& agent = core_.agent_options();
  agent.pleg.use_events = core_.run().use_events;
  agent.pleg.cross_check_period_max = Minutes(1);
  agent.shard.reader.deadline = Seconds(10);
  agent.shard.reader.backoff_max = Seconds(15);
  agent.images.backoff_max = Seconds(30);
  agent.images.slow_after = Minutes(1);
  agent.node.back_off_base = Seconds(2);
  agent.node.back_off_max = Seconds(45);
  agent.images.parallel_max = static_cast<uint32_t>(1 + plan_.Below(3));
  if (core_.run().quiet) {
    // Whatever becomes of events must change no decision; what is lost is seen before all is calm.
    agent.pleg.cross_check_period_max = Seconds(10);
    SeededRandom random(core_.run().seed * 32452843 + 13);
    return DrawEventFaults(random);
  }
  crowded_ = SeededRandom(core_.run().seed * 15485863 + 11).Below(8) == 0;
  // Each kind of fault is in half of the seeds.
  const auto some = [this](double most) { return Some(plan_, most); };
  fakes::FakeRuntimeFaults& faults = core_.host().faults();
  faults.delay_max = Milliseconds(1 + static_cast<int64_t>(plan_.Below(300)));
  faults.not_sent = some(0.05);
  faults.refused = some(0.05);
  faults.lost_before = some(0.05);
  faults.lost_after = some(0.1);
  faults.late = some(0.1);
  faults.hang = some(0.03);
  faults.late_max = Seconds(1 + static_cast<int64_t>(plan_.Below(40)));
  DrawEventFaults(plan_);
  if (ListsOnlyAtAWord(core_.run().seed)) {
    agent.events.lost = 0;
    agent.pleg.cross_check_period_max = Hours(1);
  }
  core_.leaves().faults().fails = some(0.05);
  core_.leaves().faults().hangs = some(0.02);
  // Of each operation, of which a pod's directories take a dozen.
  DiskFaults& disk = core_.leaves().disk().faults();
  disk.delay_max = Milliseconds(static_cast<int64_t>(plan_.Below(50)));
  disk.error = some(0.02);
  disk.hang = some(0.005);
  SeededRandom more(core_.run().seed * 86028121 + 19);
  disk.garble = Some(more, 1);
  fakes::FakeApiFaults& api = core_.api().server().faults();
  api.delay_max = Milliseconds(1 + static_cast<int64_t>(plan_.Below(300)));
  api.lost_request = some(0.1);
  api.lost_answer = some(0.1);
  api.late_request = some(0.1);
  api.broken_watch = some(0.05);
  api.repeated_list = 0.3;
  if (plan_.Below(4) != 0) Meddle();
}

// A run without events has no stream, as the program has none then.
void Disturbances::DrawEventFaults(Random& random) {
  fakes::FakeEventFaults& events = core_.agent_options().events;
  events.delay_max = Milliseconds(static_cast<int64_t>(random.Below(200)));
  events.lost = Some(random, 0.2);
  events.lost_told = Some(random, 0.05);
  events.repeated = Some(random, 0.2);
  events.late = Some(random, 0.2);
  events.broken = Some(random, 0.02);
  events.supported = random.Below(10) != 0 && core_.run().use_events;
}

// Others use the API server, too.

}  // namespace denselet::sim
