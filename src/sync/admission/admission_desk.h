// Takes pods on, or not: the one place that knows what of the node is given away. Pods are asked
// for in the order of their sources; each goes its own way, so that a slow plugin, a look at the
// API server or a pod that must make room first hold up nobody else.
//
//   Ask -> [kWaitingForName] -> kAskingPlugins -> judged -> [kFetchingNode] -> [kPreempting]
//       -> kJournalling -> kDecided, answered ... [Leave] ... Release
//
//   judged -> kWaitingForRoom -> judged: what it lacks is held by a pod that goes or makes room for
//   a critical one, or by one of the journal of which no source has spoken yet.
//
// A decision is booked when it is made, durable before it is told, and never made again: after a
// restart it comes back from the journal, booked, and whoever asks about that pod is told the same.
// That an admitted pod ends for good (ends()) is written before any decision that is made later, so
// nobody is known to have what it had while nobody knows that it ends.
//
// Owned by the composition root, as its journal is, which ends first; lives on one shard. The pods'
// shards ask and are answered by message. Destroyed, it answers nobody any more.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/admission/admission_record.h"
#include "sync/admission/bookings.h"
#include "sync/admission/ended_pods.h"
#include "sync/admission/node_view.h"
#include "sync/admission/predicates.h"
#include "sync/admission/sysctls.h"
#include "sync/journal/journal.h"
#include "sync/journal/journal_line.h"
#include "sync/ports/admission.h"

namespace denselet::sync {

struct AdmissionOptions {
  size_t pods_max = 16'384;  // known to the desk; beyond it Ask is refused with kOverloaded
  Duration journal_retry = Milliseconds(100);  // when the journal takes no more
  Duration node_fetch_max = Seconds(10);
  // A preempted pod gets half of its grace beyond it to go, and at least this; then the critical
  // one goes ahead, as upstream has it.
  Duration preemption_wait_min = Seconds(10);
};

// Ends a pod in favour of a critical one, with kPreempting and kPreemptedMessage.
class PodPreemptor {
 public:
  virtual ~PodPreemptor() = default;
  // `ended`: nothing of it runs any more.
  virtual void Preempt(const PodIdentity& pod, UniqueFunction<void()> ended) = 0;
  // It had its grace and half of it again, and something of it still runs.
  virtual void NotGoneInTime(const PodIdentity& pod) = 0;
};

// The node as the API server has it now; in standalone mode as it is known.
class NodeFetcher {
 public:
  virtual ~NodeFetcher() = default;
  virtual void Fetch(const Context&, reactor::Done<NodeView>) = 0;
};

struct AdmissionPorts {
  reactor::Loop& loop;
  const Logger& log;
  PodPreemptor& preemptor;
  NodeFetcher& nodes;
  std::vector<AdmissionPlugin*> plugins = {};  // in the order in which they are asked
};

struct AdmissionDecision {
  std::optional<Rejection> rejected = {};  // none: admitted
  bool adopted = false;                    // from the journal
};

// What is asked about a pod of which nothing is known yet.
enum class AdmissionQuestion : uint8_t {
  kDecide,
  kAdopt,  // it runs already, begun by a kubelet or before the journal was lost: it is admitted
};

class AdmissionDesk final : public JournalUser {
 public:
  using Answer = UniqueFunction<void(Result<AdmissionDecision>)>;
  enum class Stage : uint8_t {
    kWaitingForName,
    kAskingPlugins,
    kFetchingNode,
    kWaitingForRoom,
    kPreempting,
    kJournalling,
    kDecided,
  };

  AdmissionDesk(const AdmissionPorts& ports, const AdmissionOptions& options,
                SysctlAllowList sysctls);
  ~AdmissionDesk();
  AdmissionDesk(const AdmissionDesk&) = delete;
  AdmissionDesk& operator=(const AdmissionDesk&) = delete;

  // What the journal must know of this user.
  std::vector<JournalKind> Kinds();
  // The journal is open and has told all it has. Nobody asks or releases before that.
  void Start(Journal& journal);
  void SetNode(NodeView node) { node_ = std::move(node); }

  // Answered once, in a later turn. A decision that there is already is told again. Errors of the
  // answer: kCorrupt, the pod cannot be read; kCancelled, it was released meanwhile. Refused:
  // kOverloaded, and kAlreadyExists while another question about the pod is not answered.
  Status Ask(const kube::PodRef& pod, AdmissionQuestion question, Answer answer);
  // A source speaks of it, though nothing is to be asked: it ends, and has what it has until then.
  void Claim(const PodUid& pod);
  // Its source has dropped it, or never spoke of it, while it still runs. Its resources are free at
  // once, for whoever binds pods to this node counts it no more, as upstream does not; its host
  // ports and its name when it is released.
  void Leave(const PodUid& pod);
  // The pod is gone, or nobody wants it after all: everything is free again. In any stage.
  void Release(const PodUid& pod);

  EndedPods& ends() { return ends_; }
  const EndedPods& ends() const { return ends_; }

  struct Report {
    PodIdentity pod = {};
    Stage stage = Stage::kDecided;
    TimePoint since = {};
    std::optional<Rejection> rejected = {};
    bool adopted = false;
    std::string waits = {};  // for people; empty: for nothing
  };
  std::optional<Report> Describe(const PodUid& pod) const;
  bool IsDecided(const PodUid& pod) const;
  // Adopted ones that nobody has asked about: once the sources are ready, orphans.
  std::vector<PodIdentity> Unclaimed() const;
  // That must have spoken before a static pod of which none of them told counts as an orphan.
  // Empty: it is no static pod, or not known.
  SourceSet SourcesOfStatic(const PodUid& pod) const;
  const Bookings& bookings() const { return bookings_; }
  size_t size() const { return entries_.size(); }
  uint64_t records_not_understood() const { return not_understood_; }

  // Deliberate faults, to prove that tests see them.
  struct Faults {
    bool forget_records = false;  // what the journal tells of admissions is not kept
    bool tell_early = false;      // a decision is told before it is durable
    bool decide_again = false;    // after a restart
    bool preempt_early = false;   // a critical pod is told before those that make room have gone
  };
  Faults& faults_for_tests() { return faults_; }

  // JournalUser
  void OnRecord(const JournalRecordView& record) override;
  void WriteLive(JournalSnapshot& out) override;

 private:
  struct Entry {
    // Shared with its booking, on this shard.
    std::shared_ptr<AdmissionRecord> record = std::make_shared<AdmissionRecord>();
    kube::PodRef pod = {};  // until it is decided
    Stage stage = Stage::kAskingPlugins;
    TimePoint since = {};
    uint64_t generation = 0;  // late answers about a former pod of this uid find nobody
    AdmissionQuestion question = AdmissionQuestion::kDecide;
    Answer answer = {};
    size_t plugins_asked = 0;
    std::set<PodUid> victims = {};  // not gone yet
    reactor::TimerId timer = {};
    bool journalled = false;  // its record was taken by the journal
    bool adopted = false, claimed = false;
    bool left = false;       // its source has dropped it
    std::string lacks = {};  // of kWaitingForRoom
  };
  // Of static pods: who has the name, and who waits for it, in order.
  struct StaticName {
    PodUid holder = {};
    std::vector<PodUid> waiting = {};  // hardly ever any: an empty deque takes 576 bytes
  };

  void Enter(Entry& entry, Stage stage);
  // Null: gone, or another of the same uid.
  Entry* Find(const PodUid& pod, uint64_t generation);
  // In a later turn, if it is still there.
  void LaterIfThere(const PodUid& pod, uint64_t generation, void (AdmissionDesk::*then)(Entry&));
  void Begin(Entry& entry);
  void AskNextPlugin(Entry& entry);
  void Judge(Entry& entry, const NodeView* fresh);
  void FetchNode(Entry& entry, Rejection otherwise);
  bool MayPass(const Entry& entry, const std::vector<AdmissionFailure>& failures) const;
  void WaitForRoom(Entry& entry, const Rejection& otherwise);
  void JudgeThoseThatWait();
  void Preempt(Entry& entry, const std::vector<AdmissionFailure>& failures);
  void Settled(const PodUid& pod);
  void VictimGone(const PodUid& victim);
  void GiveBackRoom(const Entry& preemptor);
  void Reject(Entry& entry, Rejection rejection);
  void Admit(Entry& entry);
  void Record(Entry& entry);
  void Decided(Entry& entry);
  void Tell(Entry& entry);
  void OnAdmission(std::string_view payload);
  void Forget(const PodUid& pod);
  void ForgetAdopted(const PodUid& pod);
  bool TakeName(Entry& entry);
  void FreeName(const Entry& entry);
  std::string WaitOf(const Entry& entry) const;
  std::string HolderOf(const ObjectRef& name) const;

  AdmissionPorts ports_;
  const Logger log_;
  const AdmissionOptions options_;
  const SysctlAllowList sysctls_;
  const std::shared_ptr<AdmissionDesk*> self_;  // shared with operations under way
  Journal* journal_ = nullptr;
  std::optional<NodeView> node_;
  Bookings bookings_;
  std::map<PodUid, Entry> entries_;
  std::set<PodUid> preempting_;         // those in that stage
  std::map<uint64_t, PodUid> waiting_;  // kWaitingForRoom, in the order of their questions
  std::set<PodUid> doubtful_;           // of the journal, and no source has spoken of them yet
  std::map<ObjectRef, StaticName> names_;
  JournalLine line_;  // pods that are gone, and those that end
  EndedPods ends_;
  bool judging_soon_ = false;
  uint64_t next_generation_ = 1;
  uint64_t not_understood_ = 0;
  Faults faults_;
};

// One word.
std::string_view AdmissionStageName(AdmissionDesk::Stage stage);

}  // namespace denselet::sync
