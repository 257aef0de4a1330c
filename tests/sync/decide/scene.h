// A pod and all that is known of it in one line of text, and a decision as text: for tables whose
// rows are read, not decoded.
//
//   pod     Always|OnFailure|Never hostnet grace=30 dgrace=5 deleted deadline=60 phase=Failed
//           i:NAME s:NAME c:NAME e:NAME (init, sidecar, regular, ephemeral), each with
//           [post,pre,startup,live,sgrace=N,lgrace=N,policy=P,rule=In:Restart:3|4,target=NAME]
//   given   sb0=ready sb1=notready sb0=ready:noip sb0=ready:host   observed sandboxes
//           app/0=running app/1=exited:3 app/0=exited:137:OOMKilled app/0=created app/0=unknown
//             with @sb0 (else the newest sandbox), #changed (another hash)   observed containers
//           unobserved            nobody ever looked
//           sb0.run=done app/0.create=inflight app/0.start=failed:retry=5:noeffect:reason=R:covered
//             calls in the ledger, uncovered by the observation unless said
//           app/0.kill=liveness:restart:began=-3:ends=27   a stop under way
//           sb0.seen=ready app/0.seen=running   answers to reads of single objects
//           image(app)=none|busy|failed:ErrImagePull:retry=5   else there for the next attempt
//           live(app)=fail startup(app)=ok|fail|unknown, with @ATTEMPT
//           exit(app/0)=-5   seen five seconds ago (else an hour)
//           backoff(app)=10:-20   a delay of 10 s, set 20 s ago
//           logs(app)=3 prepare=none volumes=failed:retry=5 release=done settled removable
//           logs=done leftover record=busy:retry=5
//           keep=2 agemin=60 age(app/0)=30   what is kept of dead containers; made 30 s ago
//           runtime=down network=down reading readretry=5
//           term|terminated|finished pgrace=10 kbegan=-3 ending=killed|deadline|deleted|completed
//           active=-59
#pragma once

#include <string>
#include <string_view>

#include "sync/decide/decide.h"

namespace denselet::sync::tests {

// Where "now" is: times in texts are relative to it.
inline constexpr TimePoint kNow = TimePoint(Hours(1000));
inline constexpr WallTime kWallNow = WallTime(Hours(500'000));

struct Scene {
  PodPlan plan = {};
  PodState state = {};
  bool looked = true;
  ObservedPod observed = {};
  Epoch epoch = 100;
  LedgerView ledger = {};
  PodFacts facts = {};
  PodMemory memory = {};
  NodeFacts node = {};
  TimePoint now = kNow;

  DecideInput Input() const {
    return {.plan = plan,
            .state = state,
            .observation = {.pod = looked ? &observed : nullptr, .epoch = epoch},
            .ledger = ledger,
            .facts = facts,
            .memory = memory,
            .node = node,
            .now = now,
            .wall_now = kWallNow};
  }
};

PodPlan ParsePod(std::string_view text);
Scene ParseScene(std::string_view pod, std::string_view given);

// "create app/0 in sb0", "wait back-off app +10s": see the tables.
std::string Brief(const Decision& decision, const PodPlan& plan, TimePoint now = kNow);

}  // namespace denselet::sync::tests
