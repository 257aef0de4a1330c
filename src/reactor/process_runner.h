// The ProcessRunner of a real loop.
#pragma once

#include <cstdint>

#include "base/cancel.h"
#include "reactor/api/loop.h"
#include "reactor/api/process.h"
#include "reactor/gate.h"

namespace denselet::reactor {

struct ProcessRunnerOptions {
  // Children at once, from their start until they are reaped; more are refused with kOverloaded.
  uint32_t processes_max = 64;
  // How long output that is still open is waited for after the child's end. Then its group is
  // killed, and what remains open once more so long after that is left behind.
  Duration output_wait_max = Seconds(1);
  // How long a child's end is waited for after its group was killed. One that sleeps in the kernel
  // (a mount whose server is gone) dies when that sleep ends, which may be never: it is then
  // answered for, and reaped whenever it comes.
  Duration end_wait_max = Seconds(10);
};

// Lives on one shard and dies before its loop. The program must have called PrepareForChildren
// (reactor/spawn.h).
//
// Destroyed while children run, it kills their groups and calls nobody back. The children are then
// reaped, and their descriptors closed, by further turns of the loop; a loop that goes without
// taking these turns does it in its destructor, which blocks until the killed children are gone
// (see Child).
class RealProcessRunner final : public ProcessRunner {
 public:
  explicit RealProcessRunner(Loop& loop, const ProcessRunnerOptions& options = {});
  ~RealProcessRunner() override;

  // Blocks the shard until exec has happened: see Spawn.
  void Run(const Context& context, ProcessSpec spec, ProcessDone done) override;

  // Children that are not reaped yet, which is what processes_max bounds.
  uint64_t running() const { return running_.inside(); }
  // Of these, the ones that were killed and answered for, and are still there.
  uint64_t stuck() const { return stuck_.inside(); }

 private:
  Status Admit(const Context& context) const;
  void Refuse(Error error, ProcessDone done);

  Loop& loop_;
  const ProcessRunnerOptions options_;
  Gate running_;
  Gate stuck_;
  CancelSource gone_;  // cancelled by the destructor
};

}  // namespace denselet::reactor
