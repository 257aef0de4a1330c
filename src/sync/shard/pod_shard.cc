#include "sync/shard/pod_shard.h"

#include <algorithm>
#include <utility>

namespace denselet::sync {
namespace {

// Longer than any runtime takes to make a sandbox that nobody waits for any more.
constexpr Duration kLateSandboxMax = Minutes(10);
constexpr Duration kAskOfUnwished = Seconds(10);

// Somebody's label or condition is no reason to believe that the agent will live through it now:
// the API server counts what its author changes.
bool IsTheSame(const PodWish& held, const PodWish& wish) {
  const kube::PodHotFields& now = wish.pod->hot();
  return wish.kind != WishKind::kGone && !now.deletion_time && now.generation != 0 &&
         now.generation == held.pod->hot().generation;
}

}  // namespace

PodShard::PodShard(const PodShardPorts& ports, const PodShardOptions& options, PodShardUser& user)
    : random_(ports.random),
      log_(ports.log),
      waiting_log_(log_),
      options_(options),
      user_(user),
      reader_(ports.loop, ports.random, ports.runtime, ports.epochs, store_, options.reader, *this),
      ports_{.loop = ports.loop,
             .random = ports.random,
             .log = log_,
             .waiting_log = waiting_log_,
             .runtime = ports.runtime,
             .epochs = ports.epochs,
             .store = store_,
             .reader = reader_,
             .resources = ports.resources,
             .images = ports.images,
             .hooks = ports.hooks,
             .specs = ports.specs,
             .node = node_},
      ops_(options.ops_max) {
  CHECK(options_.steps_per_turn_max >= 8);
}

PodShard::~PodShard() {
  *alive_ = false;
  for (auto& [uid, slot] : workers_) ports_.loop.Disarm(slot.timer);
  ports_.loop.Disarm(unwished_timer_);
  // Workers give their calls up as they go, and look into the table for that.
  const std::map<PodUid, Slot> last = std::exchange(workers_, {});
}

void PodShard::Update(const PodWish& wish) {
  const PodIdentity pod = IdentityOf(wish.pod);
  const PodWorkScope scope(pod);
  const auto found = workers_.find(pod.uid);
  if (found == workers_.end()) {
    const auto held = held_back_.find(pod.uid);
    if (options_.held_back.count(pod.uid) != 0 && held == held_back_.end() &&
        wish.kind == WishKind::kAdd) {
      held_back_.emplace(pod.uid, wish);
      log_.Info("Held back a pod under whose work the agent died", Pod(pod.ref), Uid(pod.uid));
      return user_.OnPodHeldBack(pod, wish.pod);
    }
    if (held != held_back_.end()) {
      if (IsTheSame(held->second, wish)) return;
      held_back_.erase(held);  // another chance
    }
    return Begin(wish);
  }
  found->second.worker->Update(wish, ports_.loop.Now());
  StepSoon(pod.uid);
}

void PodShard::Begin(const PodWish& wish) {
  const PodIdentity pod = IdentityOf(wish.pod);
  // A pod that a list proved to be new needs no look before its sandbox is made.
  const bool is_new = store_.TakeAbsence(pod.uid);
  orphans_unread_.erase(pod.uid);
  Slot& slot = MakeWorker(pod, is_new ? 0 : ports_.epochs.Next());
  slot.worker->Update({WishKind::kAdd, wish.pod, wish.rejected, wish.ended, wish.wished_at},
                      ports_.loop.Now());
  // Gone before it was begun (held back, or overtaken on its way here): the runtime may have
  // something of it all the same, and somebody may wait for its name.
  if (wish.kind == WishKind::kGone) slot.worker->Update(wish, ports_.loop.Now());
  StepSoon(pod.uid);
}

PodShard::Slot& PodShard::MakeWorker(const PodIdentity& pod, Epoch fresh_after) {
  Slot& slot = workers_[pod.uid];
  CHECK(slot.worker == nullptr);
  slot.worker =
      std::make_unique<PodWorker>(*this, pod, next_generation_++, fresh_after, ports_.loop.Now());
  if (const auto late = late_sandboxes_.find(pod.uid); late != late_sandboxes_.end()) {
    slot.worker->BeginSandboxesAt(late->second.attempt);
  }
  slot.worker->faults_for_tests() = faults_.worker;
  slot.worker->ledger_for_tests().faults_for_tests() = faults_.ledger;
  return slot;
}

void PodShard::SourcesReady() {
  if (std::exchange(sources_ready_, true)) return;
  for (const PodUid& pod : store_.Pods()) LookForOrphan(pod);
}

// The runtime has it, and every source has had its say. But a wish may still wait for its
// admission, when a sandbox of an agent before this one turns up late.
void PodShard::LookForOrphan(const PodUid& pod) {
  if (workers_.count(pod) != 0 || held_back_.count(pod) != 0) return;
  const StoredPod* stored = store_.Find(pod);
  if (stored == nullptr || stored->read == 0) return;
  // Something of it has changed meanwhile, they say: the next look judges.
  if (stored->pod.empty() && reader_.IsMarked(pod)) return;
  const bool is_orphan = orphans_unread_.erase(pod) != 0;
  if (stored->pod.empty()) {
    reader_.Drop(pod);
    waiting_log_.Forget(pod);
    store_.Forget(pod, ports_.epochs.Next());
    return user_.OnPodVanished(pod);
  }
  if (is_orphan || faults_.orphans_at_once) return AdoptOrphan(pod);
  if (!sources_ready_ || !unwished_.insert(pod).second) return;
  user_.OnPodUnwished(stored->pod.pod);
  if (unwished_timer_ != reactor::TimerId{}) return;
  unwished_timer_ =
      ports_.loop.Arm(After(ports_.loop.Now(), kAskOfUnwished), [this] { AskOfUnwished(); });
}

void PodShard::AskOfUnwished() {
  unwished_timer_ = {};
  for (const PodUid& pod : std::exchange(unwished_, {})) LookForOrphan(pod);
}

void PodShard::AdoptOrphan(const PodUid& pod) {
  unwished_.erase(pod);
  if (workers_.count(pod) != 0 || held_back_.count(pod) != 0) return;
  const StoredPod* const stored = store_.Find(pod);
  if (stored == nullptr || stored->read == 0 || stored->pod.empty()) return;
  Slot& slot = MakeWorker(stored->pod.pod, ports_.epochs.Next());
  slot.worker->AdoptOrphan(stored->pod, ports_.loop.Now());
  StepSoon(pod);
}

void PodShard::AdoptOrphanWhenRead(const PodUid& pod) {
  if (workers_.count(pod) != 0 || held_back_.count(pod) != 0) return;
  orphans_unread_.insert(pod);
  LookForOrphan(pod);
}

// One that somebody knows meanwhile, or that the runtime has shown, is somebody else's concern.
void PodShard::Leftover(const PodIdentity& pod) {
  if (!sources_ready_ || leftovers_.size() >= options_.leftovers_max) return;
  if (workers_.count(pod.uid) != 0 || held_back_.count(pod.uid) != 0) return;
  if (store_.Find(pod.uid) != nullptr) return;
  leftovers_.insert(pod.uid);
  Slot& slot = MakeWorker(pod, ports_.epochs.Next());
  slot.worker->AdoptLeftover(ports_.loop.Now());
  StepSoon(pod.uid);
}

void PodShard::Hint(const std::vector<PodHint>& hints) {
  const TimePoint now = ports_.loop.Now();
  for (const PodHint& hint : hints) {
    const PodUid& pod = hint.pod;
    const auto found = workers_.find(pod);
    if (const StoreFaults& faults = store_.faults_for_tests();
        faults.sandbox_is_all || faults.hints_prove) {
      store_.Hinted(pod, ports_.epochs.Next());
      StepSoon(pod);
    }
    if (found != workers_.end() &&
        found->second.worker->TakeHint(hint, found->second.in_line, now)) {
      continue;
    }
    reader_.Mark(pod);
  }
}

uint64_t PodShard::Listed(Epoch epoch, RuntimeWas was, const std::vector<ListedPod>& pods) {
  CHECK(epoch <= ports_.epochs.last());
  uint64_t missed = 0;
  for (const PodUid& pod : store_.Compare(epoch, pods)) {
    const auto found = workers_.find(pod);
    const ListedPod* const listed = FindListed(pods, pod);
    const bool expected =
        found != workers_.end() && found->second.worker->ExpectsChange(epoch, listed);
    if (!expected && !reader_.IsMarked(pod)) ++missed;
    if (expected && TakeList(found->second, epoch, listed)) continue;
    reader_.Mark(pod);
  }
  std::erase_if(orphans_unread_,
                [&pods](const PodUid& pod) { return FindListed(pods, pod) == nullptr; });
  reader_.ListAnswered(epoch, was);
  store_.NothingOlderThan(std::min(epoch, reader_.OldestUnderWay()));
  std::erase_if(late_sandboxes_,
                [now = ports_.loop.Now()](const auto& entry) { return entry.second.until <= now; });
  ShowUnhealthy();
  return missed;
}

// Of a pod that differs from its picture by our own calls. True: nothing is to be read for it now.
bool PodShard::TakeList(Slot& slot, Epoch epoch, const ListedPod* listed) {
  PodWorker& worker = *slot.worker;
  const PodUid pod = worker.pod().uid;
  const TimePoint now = ports_.loop.Now();
  if (auto looked = worker.LookedLike(epoch, listed)) {
    if (looked->looked == 0) return true;
    const Applied applied = store_.Complete(pod, *std::move(looked), epoch);
    if (applied == Applied::kStale) return false;
    worker.OnObserved(now);
    if (applied == Applied::kNew) user_.OnPodChanged(worker);
    StepSoon(pod);
    return true;
  }
  // One that is being started is looked at when it runs, as after an event.
  return worker.HoldList(epoch, listed, slot.in_line, now);
}

void PodShard::Kill(const PodUid& pod, Ending ending, std::optional<int64_t> grace_seconds) {
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return;
  found->second.worker->Kill(std::move(ending), grace_seconds, ports_.loop.Now());
  StepSoon(pod);
}

void PodShard::TellOverdue(const PodUid& pod) {
  const auto found = workers_.find(pod);
  if (found != workers_.end()) found->second.worker->TellOverdue();
}

void PodShard::EndRecorded(const PodUid& pod, uint64_t generation) {
  const auto found = workers_.find(pod);
  if (found == workers_.end() || found->second.worker->generation() != generation) return;
  found->second.worker->EndRecorded();
  StepSoon(pod);
}

void PodShard::SettleStatus(const PodUid& pod) {
  const auto found = workers_.find(pod);
  if (found == workers_.end() || found->second.worker->facts().status_settled) return;
  found->second.worker->SettleStatus();
  user_.OnPodChanged(*found->second.worker);
  StepSoon(pod);
}

void PodShard::StartIsTold(const PodUid& pod, TimePoint when) {
  const auto found = workers_.find(pod);
  if (found != workers_.end()) found->second.worker->StartIsTold(when);
}

void PodShard::ObjectsChanged(const PodUid& pod) {
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return;
  if (found->second.worker->ObjectsChanged(ports_.loop.Now())) StepSoon(pod);
}

void PodShard::KeepLess(const PodUid& pod, uint32_t per_container_max) {
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return;
  found->second.worker->KeepLess(per_container_max);
  StepSoon(pod);
}

void PodShard::AllowRemoval(const PodUid& pod) {
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return;
  found->second.worker->AllowRemoval();
  StepSoon(pod);
}

void PodShard::VolumeNotRenewed(const PodUid& pod, const VolumeFault& fault) {
  const auto found = workers_.find(pod);
  if (found != workers_.end()) found->second.worker->VolumeNotRenewed(fault, ports_.loop.Now());
}

void PodShard::VolumeRenewed(const PodUid& pod, const std::string& volume) {
  const auto found = workers_.find(pod);
  if (found != workers_.end()) found->second.worker->VolumeRenewed(volume, ports_.loop.Now());
}

void PodShard::SetProbe(const PodUid& pod, const std::string& container, uint32_t attempt,
                        std::optional<ProbeResult> startup, std::optional<ProbeResult> liveness) {
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return;
  PodWorker& worker = *found->second.worker;
  const ContainerIndex index = worker.plan().Find(container);
  if (index == kNoContainer) return;
  const auto startup_of = [&] {
    const ContainerFacts& facts = worker.facts().containers[index];
    return std::pair(facts.probed_attempt, facts.startup);
  };
  const auto before = startup_of();
  worker.SetProbe(container, attempt, startup, liveness);
  // Its status tells, also where nobody waits for it.
  if (startup_of() != before) user_.OnPodChanged(worker);
  StepSoon(pod);
}

void PodShard::SetNode(const NodeFacts& node) {
  node_ = node;
  for (auto& [uid, slot] : workers_) StepSoon(uid);
}

void PodShard::SetTrouble(const RuntimeTrouble& trouble) {
  NodeFacts node = node_;
  node.runtime_ready = trouble.runtime.empty();
  node.network_ready = trouble.network.empty();
  node.why_not = trouble.runtime.empty() ? trouble.network : trouble.runtime;
  const bool same = node.runtime_ready == node_.runtime_ready &&
                    node.network_ready == node_.network_ready && node.why_not == node_.why_not;
  if (!same) SetNode(node);
}

std::vector<PodIdentity> PodShard::HeldBack() const {
  std::vector<PodIdentity> pods;
  for (const auto& [uid, wish] : held_back_) pods.push_back(IdentityOf(wish.pod));
  return pods;
}

const PodWorker* PodShard::Find(const PodUid& pod) const {
  const auto found = workers_.find(pod);
  return found == workers_.end() ? nullptr : found->second.worker.get();
}

PodWorker* PodShard::FindForTests(const PodUid& pod) {
  const auto found = workers_.find(pod);
  return found == workers_.end() ? nullptr : found->second.worker.get();
}

std::vector<WorkerReport> PodShard::Reports() const {
  std::vector<WorkerReport> reports;
  reports.reserve(workers_.size());
  for (const auto& [uid, slot] : workers_) {
    reports.push_back(slot.worker->Report(ports_.loop.Now()));
  }
  return reports;
}

std::vector<const PodWorker*> PodShard::WorkersAfter(const PodUid& after, size_t count_max) const {
  std::vector<const PodWorker*> found;
  for (auto next = workers_.upper_bound(after); next != workers_.end(); ++next) {
    if (found.size() == count_max) break;
    found.push_back(next->second.worker.get());
  }
  return found;
}

size_t PodShard::line() const {
  size_t all = 0;
  for (const auto& line : line_) all += line.size();
  return all;
}

bool PodShard::idle() const {
  return line() == 0 && ops_.empty() && reader_.reading() == 0 && reader_.marked() == 0;
}

// Calls.

Result<OpToken> PodShard::BeginOp(PodWorker& worker, std::string_view what, OpGroup group) {
  Op op{worker.pod().uid, worker.generation(), what, ports_.loop.Now(),
        std::make_unique<CancelSource>()};
  const std::optional<SlotKey> key = ops_.Insert(std::move(op));
  if (!key) return Error(ErrorCode::kOverloaded, "too many calls are under way");
  worker.OpBegan({*key}, group);
  return OpToken{*key};
}

Context PodShard::ContextOf(OpToken token) {
  const Op* op = ops_.Find(token.key);
  CHECK(op != nullptr);
  Context context;
  context.cancel = op->cancel->token();
  context.trace = Trace::Start(random_);
  return context;
}

void PodShard::Cancel(OpToken token) {
  if (Op* op = ops_.Find(token.key)) op->cancel->Cancel();
}

void PodShard::Abandon(OpToken token) {
  Op* op = ops_.Find(token.key);
  if (op == nullptr) return;
  const auto found = workers_.find(op->pod);
  if (found != workers_.end() && found->second.worker != nullptr &&
      found->second.worker->generation() == op->generation) {
    found->second.worker->OpEnded(token);
  }
  op->abandoned = true;
  op->cancel->Cancel();
}

PodWorker* PodShard::Answered(OpToken token) {
  const std::optional<Op> op = ops_.Remove(token.key);
  CHECK(op);  // every call answers once
  const auto found = workers_.find(op->pod);
  if (found == workers_.end()) return nullptr;
  PodWorker* worker = found->second.worker.get();
  const bool mine = worker->generation() == op->generation && !op->abandoned;
  if (!mine) return nullptr;
  worker->OpEnded(token);
  return worker;
}

// Turns.

void PodShard::StepSoon(const PodUid& pod) {
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return;
  Slot& slot = found->second;
  const WorkClass work_class = slot.worker->work_class();
  if (std::exchange(slot.in_line, true)) {
    if (slot.line <= work_class) return;
    // More urgent than when it lined up: mostly once, when a pod is to end that has not started.
    std::erase(line_[static_cast<size_t>(slot.line)], pod);
  }
  slot.line = work_class;
  line_[static_cast<size_t>(work_class)].push_back(pod);
  ScheduleTurn();
}

void PodShard::ScheduleTurn() {
  if (std::exchange(turn_posted_, true)) return;
  ports_.loop.Post([this, alive = alive_] {
    if (*alive) Turn();
  });
}

void PodShard::Turn() {
  turn_posted_ = false;
  const reactor::ActivityScope scope(ports_.loop.activity(), "pod workers");
  const uint32_t all = options_.steps_per_turn_max;
  uint32_t left = all;
  const auto step_some = [this, &left](size_t work_class, uint32_t most) {
    for (; most > 0 && left > 0; --most, --left) {
      if (!StepNext(static_cast<WorkClass>(work_class))) return;
    }
  };
  // Shares that the more urgent cannot take away; then what is left, the most urgent first.
  const std::array<uint32_t, kWorkClasses> shares = {all / 2, all / 8, all / 4, all / 8};
  for (size_t i = 0; i < shares.size(); ++i) step_some(i, shares[i]);
  for (size_t i = 0; i < shares.size(); ++i) step_some(i, left);
  if (line() > 0) ScheduleTurn();
}

bool PodShard::StepNext(WorkClass work_class) {
  std::deque<PodUid>& line = line_[static_cast<size_t>(work_class)];
  if (line.empty()) return false;
  const PodUid pod = std::move(line.front());
  line.pop_front();
  const auto found = workers_.find(pod);
  if (found == workers_.end() || !found->second.in_line) return true;
  found->second.in_line = false;
  found->second.worker->Step(ports_.loop.Now());
  Collect(pod);
  return true;
}

// Takes away a worker that is through; begins what was wished meanwhile.
void PodShard::Collect(const PodUid& pod) {
  const auto found = workers_.find(pod);
  if (found == workers_.end() || !found->second.worker->gone()) return;
  const std::optional<PodWish> next = found->second.worker->next_wish();
  const PodIdentity identity = found->second.worker->pod();
  if (const auto late = found->second.worker->LateSandbox()) {
    late_sandboxes_[pod] = {*late, After(ports_.loop.Now(), kLateSandboxMax)};
  }
  // It may be a sandbox that was given up, by us or by an agent before us: nothing announces it
  // again.
  const bool look_again = found->second.worker->holds_hint() || reader_.IsMarked(pod);
  ports_.loop.Disarm(found->second.timer);
  workers_.erase(found);
  leftovers_.erase(pod);
  reader_.Drop(pod);
  store_.Forget(pod, ports_.epochs.Next());
  ports_.images.Forget(pod);
  waiting_log_.Forget(pod);
  ShowUnhealthy();
  log_.Info("Pod is gone", Pod(identity.ref), Uid(pod));
  if (next) return Begin(*next);
  user_.OnPodGone(identity);
  if (look_again) reader_.Mark(pod);
}

void PodShard::WakeAt(const PodUid& pod, TimePoint when) {
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return;
  Slot& slot = found->second;
  const TimePoint now = ports_.loop.Now();
  if (slot.wake_at <= when && slot.wake_at > now) return;  // sooner already; it will ask again
  ports_.loop.Disarm(slot.timer);
  slot.wake_at = when;
  slot.timer = ports_.loop.Arm(std::max(when, now), [this, pod] {
    const auto woken = workers_.find(pod);
    if (woken == workers_.end()) return;
    woken->second.wake_at = kNever;
    StepSoon(pod);
  });
}

void PodShard::OnWorkerDecided(const PodWorker& worker, const Decision& decision) {
  user_.OnPodDecided(worker, decision);
}

void PodShard::OnWorkerChanged(PodWorker& worker) { user_.OnPodChanged(worker); }

void PodShard::OnWorkerFault(PodWorker& worker, const Error& error) {
  log_.Error(error, "Fault in the work on a pod", Pod(worker.pod().ref), Uid(worker.pod().uid));
  user_.OnPodFault(worker, error);
}

// Reads.

void PodShard::OnRead(const PodUid& pod, Applied applied, Duration took) {
  metrics_.Histogram(PlegMetric::kPodRelistDuration).Observe(took);
  ShowUnhealthy();
  const PodWorkScope scope(NameOf(pod));
  waiting_log_.Has(NameOf(pod), Lack::kRead, "", ports_.loop.Now());
  const auto found = workers_.find(pod);
  if (found == workers_.end()) return LookForOrphan(pod);
  found->second.worker->OnObserved(ports_.loop.Now());
  if (applied == Applied::kNew) user_.OnPodChanged(*found->second.worker);
  StepSoon(pod);
}

void PodShard::OnReadFailed(const PodUid& pod, const Error& error) {
  ShowUnhealthy();
  waiting_log_.Lacks(NameOf(pod), Lack::kRead, "", error.message(), ports_.loop.Now());
  const auto found = workers_.find(pod);
  // A runtime that is away says nothing about the pod.
  const bool is_first = reader_.Health(pod)->failures == 1;
  if (found != workers_.end() && is_first && error.code() != ErrorCode::kUnavailable) {
    found->second.worker->TellUnread(error);
  }
  StepSoon(pod);
}

void PodShard::ShowUnhealthy() {
  metrics_.Gauge(PlegMetric::kUnhealthyPods).Set(static_cast<double>(reader_.unhealthy()));
}

// As far as it is known: of what only events have told there is the uid.
PodIdentity PodShard::NameOf(const PodUid& pod) const {
  if (const PodWorker* const worker = Find(pod)) return worker->pod();
  const StoredPod* const stored = store_.Find(pod);
  return stored == nullptr ? PodIdentity{.ref = {}, .uid = pod}
                           : PodIdentity{.ref = stored->pod.pod.ref, .uid = pod};
}

}  // namespace denselet::sync
