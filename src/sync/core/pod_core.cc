#include "sync/core/pod_core.h"

#include <deque>
#include <utility>

#include "sync/admission/preemption.h"

namespace denselet::sync {
namespace {

constexpr Duration kTellAgain = Milliseconds(10);

}  // namespace

struct PodCore::Home {
  Home(const PodCoreHome& given, const Logger& logger) : seams(given), log(logger) {}
  ~Home() { seams.loop.Disarm(timer); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  const PodCoreHome seams;
  const Logger log;
  PodCoreUser* user = nullptr;
  PodStatusSink* statuses = nullptr;
  std::unique_ptr<ImagePuller> puller = {};
  std::unique_ptr<ImageDesk> desk = {};
  std::unique_ptr<AdmissionDesk> admission = {};
  std::unique_ptr<Journal> journal = {};
  std::unique_ptr<AdmissionGate> gate = {};
  std::unique_ptr<PodDispatcher> dispatcher = {};
  std::unique_ptr<Wishes> wishes = {};
  std::unique_ptr<StatusReturn> arrived = {};
  std::unique_ptr<NewestPerPod<kube::PodRef>> mirrors = {};  // to the shards of their static pods
  std::unique_ptr<NewestPerPod<Ending>> kills = {};          // to the shards of their pods
  std::unique_ptr<NewestPerPod<uint64_t>> recorded = {};     // the same: the worker's generation
  std::unique_ptr<NewestPerPod<Unit>> orphans = {};          // the same: nobody wishes them
  std::map<PodUid, UniqueFunction<void()>> preempted = {};   // who waits for their end
  StatusNode status_node = {};
  RuntimeTrouble trouble = {};
  std::set<uint32_t> untold = {};  // shards that do not know these two yet
  reactor::TimerId timer = {};
  std::set<uint32_t> ready = {};  // shards that know that all sources have spoken
  std::unique_ptr<Housekeeper> housekeeper = {};
  std::unique_ptr<DeadBound> dead = {};  // null: there is no bound
  std::unique_ptr<Pleg> pleg = {};
};

// One shard's part. Tells the home shard when a pod has stopped and when it has gone, whatever it
// takes: others wait for what it had.
class PodCore::Part final : public PodShardUser {
 public:
  Part(PodCore& core, const PodCoreShard& seams, uint32_t index, PodShardUser& user)
      : core_(core),
        seams_(seams),
        user_(user),
        images_(seams.loop, seams.router, index, *core.home_->desk, kHome),
        pods_({.loop = seams.loop,
               .random = seams.random,
               .log = seams.log,
               .runtime = seams.runtime,
               .epochs = core.epochs_,
               .resources = seams.resources,
               .images = images_,
               .hooks = seams.hooks,
               .specs = seams.specs},
              core.options_.shard, *this),
        outlet_(seams.loop,
                [this](const PodUid& pod, const StatusOutlet::Message& message) {
                  return SendStatus(pod, message);
                }),
        statuses_(seams.loop, seams.log, pods_, outlet_),
        ends_(seams.loop,
              [this](const PodUid&, const EndOfWorker& end) {
                return SendHome([&core = core_, end] {
                  if (core.home_ != nullptr) core.OnPodEnds(end);
                });
              }),
        dead_(seams.loop, [this](const PodUid& pod, const DeadOfPod& dead) {
          return SendHome([&core = core_, pod, dead] {
            if (core.home_ != nullptr && core.home_->dead) core.home_->dead->Set(pod, dead);
          });
        }) {
    pods_.SetNode(core.options_.node);
  }
  ~Part() { seams_.loop.Disarm(timer_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  PodShard& pods() { return pods_; }
  PodStatuses& statuses() { return statuses_; }
  // Home answers the desk's part of a list.
  Status SendHome(UniqueFunction<void()> work) {
    return seams_.router.Send(kHome, std::move(work));
  }

  // PodShardUser
  void OnPodChanged(const PodWorker& worker) override {
    user_.OnPodChanged(worker);
    statuses_.Changed(worker.pod().uid);
    TellDead(worker);
    if (worker.state().phase < Phase::kTerminated) {
      stopped_.erase(worker.pod().uid);  // of a life before this one
      return;
    }
    const Whose whose = worker.is_orphan() ? Whose::kNobodys : Whose::kWished;
    if (!stopped_.emplace(worker.pod().uid, whose).second) return;
    words_.push_back({worker.pod(), Word::kStopped, whose});
    TellHome();
  }
  void OnPodFault(const PodWorker& worker, const Error& error) override {
    user_.OnPodFault(worker, error);
    statuses_.Changed(worker.pod().uid);
  }
  void OnPodGone(const PodIdentity& pod) override {
    user_.OnPodGone(pod);
    statuses_.Gone(pod.uid);
    const auto stopped = stopped_.find(pod.uid);
    const Whose whose = stopped == stopped_.end() ? Whose::kWished : stopped->second;
    if (stopped != stopped_.end()) stopped_.erase(stopped);
    if (told_dead_.erase(pod.uid) != 0) {
      dead_[pod.uid] = {};
      dead_.Flush();
    }
    words_.push_back({pod, Word::kGone, whose});
    TellHome();
  }
  void OnPodUnwished(const PodIdentity& pod) override {
    const Status asked = SendHome([&core = core_, uid = pod.uid] {
      if (core.home_ != nullptr) core.OnPodUnwished(uid);
    });
    static_cast<void>(asked);  // refused: the shard asks again
  }
  void OnPodVanished(const PodUid& pod) override {
    words_.push_back({{.ref = {}, .uid = pod}, Word::kVanished, Whose::kNobodys});
    TellHome();
  }
  bool OnPodEnds(const PodWorker& worker) override {
    ends_[worker.pod().uid] = {.record = {.pod = worker.pod(),
                                          .ending = *worker.state().ending,
                                          .grace_seconds = worker.grace_asked_for(),
                                          .decided = seams_.loop.WallNow()},
                               .generation = worker.generation()};
    ends_.Flush();
    return true;
  }
  void OnPodHeldBack(const PodIdentity& pod, const kube::PodRef& wish) override {
    user_.OnPodHeldBack(pod, wish);
    OnPodEvent({.object = {.kind = "Pod",
                           .ns = pod.ref.ns,
                           .name = pod.ref.name,
                           .uid = pod.uid.value(),
                           .resource_version = std::string(wish->hot().resource_version)},
                .type = EventType::kWarning,
                .reason = "HeldBack",
                .message = "The agent died again and again under the work on this pod: it is left "
                           "as it is until it changes"});
  }
  void OnPodDecided(const PodWorker& worker, const Decision& decision) override {
    user_.OnPodDecided(worker, decision);
  }
  void OnPodEvent(ObjectEvent event) override {
    const Status sent = SendHome([&core = core_, event = std::move(event)] {
      if (core.home_ != nullptr) core.home_->user->OnPodEvent(event);
    });
    static_cast<void>(sent);  // what is too much is dropped
  }

 private:
  enum class Word : uint8_t { kStopped, kGone, kVanished };
  struct Untold {
    PodIdentity pod;
    Word word;
    Whose whose;
  };

  void TellHome() {
    while (!words_.empty()) {
      const Status sent = SendHome([&core = core_, untold = words_.front()] {
        if (core.home_ != nullptr) Tell(core, untold);
      });
      if (!sent) break;
      words_.pop_front();
    }
    seams_.loop.Disarm(timer_);
    timer_ = {};
    if (words_.empty()) return;
    timer_ = seams_.loop.Arm(After(seams_.loop.Now(), kTellAgain), [this] { TellHome(); });
  }

  static void Tell(PodCore& core, const Untold& untold) {
    switch (untold.word) {
      case Word::kStopped:
        return core.OnPodStopped(untold.pod.uid, untold.whose);
      case Word::kGone:
        return core.OnPodGone(untold.pod, untold.whose);
      case Word::kVanished:
        return core.home_->gate->OnVanished(untold.pod.uid);
    }
  }

  // What it has of dead containers, if that counts and has changed.
  void TellDead(const PodWorker& worker) {
    if (core_.options_.dead_containers_max < 0) return;
    const ObservedPod* const seen = worker.Observe().pod;
    if (seen == nullptr) return;
    const PodUid& uid = worker.pod().uid;
    DeadOfPod dead = CountDead(*seen, worker.facts().status_settled);
    DeadOfPod& told = told_dead_[uid];
    if (told == dead) return;
    told = dead;
    dead_[uid] = std::move(dead);
    dead_.Flush();
  }

  Status SendStatus(const PodUid& pod, const StatusOutlet::Message& message) {
    return SendHome([&core = core_, pod, message = StatusOutlet::Message(message)]() mutable {
      if (core.home_ != nullptr) message.Deliver(pod, *core.home_->statuses);
    });
  }

  PodCore& core_;
  const PodCoreShard seams_;
  PodShardUser& user_;
  RemoteImages images_;
  PodShard pods_;
  StatusOutlet outlet_;
  PodStatuses statuses_;
  NewestPerPod<EndOfWorker> ends_;
  NewestPerPod<DeadOfPod> dead_;
  std::map<PodUid, DeadOfPod> told_dead_;  // of those that there are
  std::map<PodUid, Whose> stopped_;        // told to be, of those that there are
  std::deque<Untold> words_;               // untold; bounded by the pods there were
  reactor::TimerId timer_ = {};
};

// What the sources tell, on its way to the dispatcher: of mirrors only what they showed when they
// were first seen.
class PodCore::Wishes final : public DesiredPodsUser {
 public:
  // Of a source that there is not, nothing is to be waited for.
  Wishes(Home& home, SourceSet configured)
      : home_(home), spoken_(SourceSet::All().Without(configured)) {
    home_.gate->OnSpoken(spoken_);
  }

  void OnPodChanges(SourceKind source, std::span<const PodChange> changes) override {
    for (const PodChange& change : changes) {
      const std::string_view mirrored = change.pod->hot().config_mirror;
      if (mirrored.empty()) continue;
      const PodUid static_pod{std::string(mirrored)};
      if (change.op == PodOp::kAdd) (*home_.mirrors)[static_pod] = change.pod;
      if (change.op == PodOp::kRemove) (*home_.mirrors)[static_pod] = {};
    }
    home_.mirrors->Flush();
    home_.dispatcher->OnPodChanges(source, changes);
  }
  void OnPodRefused(SourceKind source, const RefusedPod& refused) override {
    home_.dispatcher->OnPodRefused(source, refused);
  }
  void OnSourceReady(SourceKind source) override {
    spoken_.Add(source);
    home_.gate->OnSpoken(spoken_);
    home_.dispatcher->OnSourceReady(source);
  }
  void OnSourceLate(SourceKind source) override { home_.dispatcher->OnSourceLate(source); }

 private:
  Home& home_;
  SourceSet spoken_;
};

PodCore::PodCore(uint32_t shards, PodCoreOptions options)
    : options_(std::move(options)), parts_(shards) {}

PodCore::~PodCore() = default;

void PodCore::OpenHome(const PodCoreHome& seams) {
  CHECK(home_ == nullptr);
  home_ = std::make_unique<Home>(seams, seams.log);
  home_->puller = std::make_unique<ImagePuller>(seams.loop, seams.images, options_.images);
  home_->puller->SetListener([home = home_.get()](const ImageWish& wish) {
    home->user->OnPodEvent(
        {wish.told_of, EventType::kNormal, "Pulling", "Pulling image \"" + wish.image + "\""});
  });
  home_->desk = std::make_unique<ImageDesk>(seams.loop, *home_->puller, seams.router);
}

void PodCore::OpenShard(uint32_t shard, const PodCoreShard& seams, PodShardUser& user) {
  CHECK(parts_[shard] == nullptr);
  parts_[shard] = std::make_unique<Part>(*this, seams, shard, user);
}

void PodCore::Begin(PodCoreUser& user, PodStatusSink& statuses) {
  const PodCoreHome& seams = home_->seams;
  home_->user = &user;
  home_->statuses = &statuses;
  MakeRelays();
  MakeAdmission();
  home_->dispatcher = std::make_unique<PodDispatcher>(seams.loop, seams.log, *home_->gate, shards(),
                                                      options_.sources);
  home_->wishes = std::make_unique<Wishes>(*home_, options_.sources);
  MakeDeadBound();
  home_->housekeeper =
      std::make_unique<Housekeeper>(seams.loop, seams.random, seams.log, seams.leftovers,
                                    static_cast<HousekeeperUser&>(*this), options_.housekeeping);
  home_->pleg =
      std::make_unique<Pleg>(seams.loop, seams.random, seams.log, seams.runtime, epochs_,
                             static_cast<PlegShards&>(*this), shards(), options_.pleg, user);
}

void PodCore::MakeAdmission() {
  const PodCoreHome& seams = home_->seams;
  home_->admission =
      std::make_unique<AdmissionDesk>(AdmissionPorts{.loop = seams.loop,
                                                     .log = home_->log,
                                                     .preemptor = static_cast<PodPreemptor&>(*this),
                                                     .nodes = seams.nodes,
                                                     .plugins = seams.admission_plugins},
                                      options_.admission, options_.sysctls);
  home_->gate = std::make_unique<AdmissionGate>(
      seams.loop, *home_->admission, static_cast<GatedShards&>(*this), shards(), *home_->user);
  home_->journal = std::make_unique<Journal>(seams.loop, seams.files, seams.random, home_->log,
                                             options_.journal, home_->admission->Kinds());
  home_->journal->Open([home = home_.get()](const JournalReport&) {
    home->admission->Start(*home->journal);
    home->gate->OnJournalRead();
  });
}

void PodCore::MakeRelays() {
  const auto to_shard = [this](const PodUid& pod, auto work) -> Status {
    const uint32_t shard = ShardOf(pod, shards());
    return home_->seams.router.Send(shard, [this, shard, work = std::move(work)] {
      if (Part* const part = parts_[shard].get()) work(*part);
    });
  };
  reactor::Loop& loop = home_->seams.loop;
  home_->arrived =
      std::make_unique<StatusReturn>(loop, [to_shard](const PodUid& pod, const uint64_t& version) {
        return to_shard(pod, [pod, version = version](Part& part) {
          part.statuses().OnStatusSettled(pod, version);
        });
      });
  home_->mirrors = std::make_unique<NewestPerPod<kube::PodRef>>(
      loop, [to_shard](const PodUid& pod, const kube::PodRef& mirror) {
        return to_shard(pod, [pod, mirror](Part& part) { part.statuses().SetMirror(pod, mirror); });
      });
  home_->kills = std::make_unique<NewestPerPod<Ending>>(
      loop, [to_shard](const PodUid& pod, const Ending& ending) {
        return to_shard(pod,
                        [pod, ending](Part& part) { part.pods().Kill(pod, ending, std::nullopt); });
      });
  home_->recorded = std::make_unique<NewestPerPod<uint64_t>>(
      loop, [to_shard](const PodUid& pod, const uint64_t& generation) {
        return to_shard(pod, [pod, generation = generation](Part& part) {
          part.pods().EndRecorded(pod, generation);
        });
      });
  home_->orphans =
      std::make_unique<NewestPerPod<Unit>>(loop, [to_shard](const PodUid& pod, const Unit&) {
        return to_shard(pod, [pod](Part& part) { part.pods().AdoptOrphanWhenRead(pod); });
      });
}

void PodCore::MakeDeadBound() {
  if (options_.dead_containers_max < 0) return;
  home_->dead = std::make_unique<DeadBound>(
      home_->seams.loop, static_cast<uint32_t>(options_.dead_containers_max),
      [this](const PodUid& pod, const KeepLess& order) {
        const uint32_t shard = ShardOf(pod, shards());
        return home_->seams.router.Send(shard, [this, shard, pod, order] {
          Part* const part = parts_[shard].get();
          if (part == nullptr) return;
          part->pods().KeepLess(pod, order.per_name_max);
          // It may have come back meanwhile, which nobody has told home yet.
          const PodWorker* const worker = part->pods().Find(pod);
          if (!order.nothing || worker == nullptr || !worker->facts().status_settled) return;
          part->pods().AllowRemoval(pod);
        });
      });
}

void PodCore::SetStatusNode(const StatusNode& node) {
  if (home_->status_node == node) return;
  home_->status_node = node;
  for (uint32_t i = 0; i < shards(); ++i) home_->untold.insert(i);
  TellNode();
}

void PodCore::SetRuntimeTrouble(const RuntimeTrouble& trouble) {
  if (home_->trouble == trouble) return;
  home_->trouble = trouble;
  for (uint32_t i = 0; i < shards(); ++i) home_->untold.insert(i);
  TellNode();
}

void PodCore::TellNode() {
  const PodCoreHome& seams = home_->seams;
  std::erase_if(home_->untold, [&](uint32_t shard) {
    const Status sent = seams.router.Send(
        shard, [this, shard, node = home_->status_node, trouble = home_->trouble] {
          Part* const part = parts_[shard].get();
          if (part == nullptr) return;
          part->statuses().SetNode(node);
          part->pods().SetTrouble(trouble);
        });
    return static_cast<bool>(sent);
  });
  seams.loop.Disarm(home_->timer);
  if (home_->untold.empty()) return;
  home_->timer = seams.loop.Arm(After(seams.loop.Now(), kTellAgain), [this] { TellNode(); });
}

// Recorded here and now: its wish may not have come to its shard, or to this agent, and is told of
// it when it does.
void PodCore::Preempt(const PodIdentity& pod, UniqueFunction<void()> ended) {
  const Ending ending{.reason = EndReason::kKilled,
                      .outcome = PodOutcome::kFailed,
                      .status_reason = std::string(kPreempting),
                      .status_message = std::string(kPreemptedMessage),
                      .disruption = std::string(kPreemptedCondition)};
  home_->preempted[pod.uid] = std::move(ended);
  home_->admission->ends().Record(
      {.pod = pod, .ending = ending, .decided = home_->seams.loop.WallNow()});
  (*home_->kills)[pod.uid] = ending;
  home_->kills->Flush();
}

void PodCore::NotGoneInTime(const PodIdentity& pod) {
  const uint32_t shard = ShardOf(pod.uid, shards());
  const Status sent = home_->seams.router.Send(shard, [this, shard, uid = pod.uid] {
    if (Part* const part = parts_[shard].get()) part->pods().TellOverdue(uid);
  });
  static_cast<void>(sent);  // an event: what is too much is dropped
}

void PodCore::OnPodEnds(const EndOfWorker& end) {
  home_->admission->ends().Record(
      end.record, [home = home_.get(), uid = end.record.pod.uid, generation = end.generation] {
        (*home->recorded)[uid] = generation;
        home->recorded->Flush();
      });
}

void PodCore::OnPodStopped(const PodUid& pod, Whose whose) {
  if (whose == Whose::kWished) {
    home_->gate->OnPodStopped(pod);
  } else {
    home_->gate->OnOrphanStopped(pod);
  }
  const auto waited_for = home_->preempted.find(pod);
  if (waited_for == home_->preempted.end()) return;
  UniqueFunction<void()> ended = std::move(waited_for->second);
  home_->preempted.erase(waited_for);
  ended();
}

void PodCore::OnPodGone(const PodIdentity& pod, Whose whose) {
  OnPodStopped(pod.uid, whose);
  const bool wished_again = whose == Whose::kWished ? home_->gate->OnPodGone(pod.uid)
                                                    : home_->gate->OnOrphanGone(pod.uid);
  if (wished_again) return;
  home_->dispatcher->OnPodGone(pod);
  home_->user->OnPodGone(pod);
}

DesiredPodsUser& PodCore::wishes() { return *home_->wishes; }
RuntimeEventsUser& PodCore::events() { return *home_->pleg; }
PodStatusUser& PodCore::arrived() { return *home_->arrived; }
void PodCore::SetNode(NodeView node) {
  home_->admission->SetNode(std::move(node));
  home_->gate->OnNodeKnown();
}
Pleg& PodCore::pleg() { return *home_->pleg; }
PodDispatcher& PodCore::dispatcher() { return *home_->dispatcher; }
const AdmissionDesk& PodCore::admission() const { return *home_->admission; }
const AdmissionGate& PodCore::gate() const { return *home_->gate; }
AdmissionDesk& PodCore::admission_for_tests() { return *home_->admission; }
AdmissionGate& PodCore::gate_for_tests() { return *home_->gate; }
const Journal& PodCore::journal() const { return *home_->journal; }
const Housekeeper& PodCore::housekeeper() const { return *home_->housekeeper; }
const ImagePuller& PodCore::puller() const { return *home_->puller; }

void PodCore::CloseShard(uint32_t shard) { parts_[shard].reset(); }
void PodCore::CloseHome() { home_.reset(); }

PodShard* PodCore::pods(uint32_t shard) {
  return parts_[shard] == nullptr ? nullptr : &parts_[shard]->pods();
}

PodStatuses* PodCore::statuses(uint32_t shard) {
  return parts_[shard] == nullptr ? nullptr : &parts_[shard]->statuses();
}

Status PodCore::Hint(uint32_t shard, std::vector<PodHint> hints) {
  return home_->seams.router.Send(shard, [this, shard, hints = std::move(hints)] {
    if (Part* const part = parts_[shard].get()) part->pods().Hint(hints);
  });
}

Status PodCore::Listed(uint32_t shard, Epoch epoch, RuntimeWas was, std::vector<ListedPod> pods,
                       UniqueFunction<void(uint64_t)> checked) {
  home_->gate->OnListed(shard, pods);
  return home_->seams.router.Send(shard, [this, shard, epoch, was, pods = std::move(pods),
                                          checked = std::move(checked)]() mutable {
    Part* const part = parts_[shard].get();
    if (part == nullptr) return;
    const uint64_t missed = part->pods().Listed(epoch, was, pods);
    const Status sent =
        part->SendHome([missed, checked = std::move(checked)]() mutable { checked(missed); });
    static_cast<void>(sent);  // PLEG does not wait for it longer than for a list
  });
}

Status PodCore::Wish(uint32_t shard, PodWish wish) {
  return home_->seams.router.Send(shard, [this, shard, wish = std::move(wish)] {
    Part* const part = parts_[shard].get();
    if (part == nullptr) return;
    part->pods().Update(wish);
    part->statuses().Changed(IdentityOf(wish.pod).uid);
  });
}

Status PodCore::SourcesReady(uint32_t shard) {
  Status sent = home_->seams.router.Send(shard, [this, shard] {
    if (Part* const part = parts_[shard].get()) part->pods().SourcesReady();
  });
  // The dispatcher may say it while it is made.
  if (sent) home_->ready.insert(shard);
  if (home_->ready.size() == shards() && home_->housekeeper) home_->housekeeper->Start();
  return sent;
}

void PodCore::EndOrphan(const PodUid& pod) {
  static_cast<void>((*home_->orphans)[pod]);
  home_->orphans->Flush();
}

// One whose wish is on its way gets its worker by that. A refusal is no loss: the shard asks again.
void PodCore::OnPodUnwished(const PodUid& pod) {
  if (IsKnown(pod) && !home_->gate->WaitsForOrphan(pod)) return;
  const uint32_t shard = ShardOf(pod, shards());
  const Status sent = home_->seams.router.Send(shard, [this, shard, pod] {
    if (Part* const part = parts_[shard].get()) part->pods().AdoptOrphan(pod);
  });
  static_cast<void>(sent);
}

bool PodCore::IsKnown(const PodUid& pod) const {
  return home_->gate->Knows(pod) || home_->dispatcher->Holds(pod);
}

Status PodCore::TakeLeftover(const PodIdentity& pod) {
  const uint32_t shard = ShardOf(pod.uid, shards());
  return home_->seams.router.Send(shard, [this, shard, pod] {
    if (Part* const part = parts_[shard].get()) part->pods().Leftover(pod);
  });
}

}  // namespace denselet::sync
