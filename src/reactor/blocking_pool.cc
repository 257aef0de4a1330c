#include "reactor/blocking_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "reactor/cpus.h"
#include "reactor/signals_blocked.h"

namespace denselet::reactor {

// Why a job ends before its call has returned.
enum class BlockingPool::Reason : uint8_t { kDeadline, kCancelled, kStopping };

// Who is to hear of a job's end, and the place for telling it.
struct BlockingPool::Waiter {
  std::unique_ptr<Asker> asker;
  ForeignSlot slot;
};

struct BlockingPool::Job {
  BlockingCall call;
  Context context;
  uint32_t shard;
  Work work;
  std::optional<Waiter> waiter;  // none: Dispose
};

struct BlockingPool::Running {
  BlockingCall call;
  uint32_t shard;
  TimePoint since;
  std::optional<Waiter> waiter;  // none: Dispose, or abandoned
  bool abandoned = false;
  bool replaced = false;  // abandoned or slow, and another worker is there for it
};

// Everything below `mutex` is under it. It is held for moving a few pointers, never during a call.
// Answers are posted under it too (a push that never waits): once Stop() has abandoned a job, its
// worker cannot be just about to post to a shard that goes.
struct BlockingPool::State : std::enable_shared_from_this<State> {
  using Jobs = std::map<JobId, Job>;
  using Lock = std::unique_lock<std::mutex>;

  State(const Clock& pool_clock, const BlockingPoolOptions& pool_options);

  // On the home shard: the end of a job, if it has not come otherwise.
  void End(JobId id, Reason reason);
  // On the home shard: a call that takes too long gives up its place. True: it may have to later.
  bool MakeWay(JobId id);

  // The caller holds the mutex.
  static bool HasWorker(const std::shared_ptr<State>& self);
  void Add(JobId id, Job job);
  [[nodiscard]] Jobs::node_type Withdraw(JobId id, Reason reason);
  void Abandon(Running& job, Reason reason);
  void Replace(Running& job);
  bool TakePlace(Share share, JobId id);
  void LeavePlace(Share share);
  [[nodiscard]] Jobs::node_type ExtractWithPlace(JobId id);
  void LeaveLane(Lane lane, JobId id);
  void RunFirst(Lock& lock);
  void WakeOne();
  bool AwaitWork(Lock& lock);
  size_t Waiting() const { return ready.size() + held.size(); }
  bool Full() const {
    return Waiting() + running.size() - replaced >= options.queue_max + options.workers_max;
  }
  TimePoint Now() const { return clock == nullptr ? TimePoint{} : clock->Now(); }

  void RunWorker(uint32_t index);
  void Stop();

  const BlockingPoolOptions options;
  // Of main, which makes the pool: workers are started by pinned shards and would inherit their one
  // CPU.
  const Cpus cpus = Cpus::OfThisThread();
  std::atomic<uint64_t> next_number = 1;

  struct Sleeper {
    std::condition_variable wake_up;
    bool woken = false;
  };

  std::mutex mutex;
  std::condition_variable worker_left;
  // The last to fall asleep is woken first: then what is done now and then keeps one worker alive,
  // not all in turn.
  std::vector<Sleeper*> sleepers;
  const Clock* clock;  // null after Stop: it goes with main, and a hung worker does not
  Jobs ready;          // what a worker may take
  Jobs held;           // what waits behind another job of its lane, or for a place of its share
  std::map<JobId, Running> running;
  std::map<uint64_t, std::deque<JobId>> lanes;  // the first of each is ready or running
  uint32_t workers = 0;
  uint32_t workers_started = 0;
  size_t idle = 0;  // asleep, or woken and not at work yet
  struct Places {
    uint32_t taken = 0;           // by what is ready or runs
    std::set<JobId> wanted = {};  // held, each the first of its lane
  };
  std::array<Places, 3> places;
  uint32_t replaced = 0;  // of the running: at most abandoned_max
  bool stopping = false;
  uint64_t finished_total = 0;
  uint64_t abandoned_total = 0;
  uint64_t refused_total = 0;
};

namespace {

Error InCall(const BlockingCall& call, ErrorCode code, const char* message) {
  const Error error(code, message);
  return call.subject.empty() ? error.With(call.doing) : error.With(call.doing, call.subject);
}

}  // namespace

BlockingPool::BlockingPool(const Clock& clock, const BlockingPoolOptions& options)
    : state_(std::make_shared<State>(clock, options)) {
  CHECK(options.workers_max > 0 && options.queue_max > 0 && options.share_max > 0);
}

BlockingPool::~BlockingPool() { Stop(); }

void BlockingPool::Stop() { state_->Stop(); }

Lane BlockingPool::MakeLane() { return {state_->next_number.fetch_add(1)}; }

void BlockingPool::Deliver(std::unique_ptr<Asker> asker, Answer answer) {
  asker->loop.Disarm(asker->deadline);
  asker->loop.Disarm(asker->patience);
  asker->cancel.Forget();
  answer(*asker);
}

void BlockingPool::Tell(Waiter waiter, Answer answer) {
  waiter.slot.Post([asker = std::move(waiter.asker), answer = std::move(answer)]() mutable {
    Deliver(std::move(asker), std::move(answer));
  });
}

BlockingPool::Answer BlockingPool::Refusal(Error error) {
  return [error = std::move(error)](Asker& asker) mutable { asker.Refuse(std::move(error)); };
}

void BlockingPool::Start(Shard& home, const Context& context, BlockingCall call, Work work,
                         std::unique_ptr<Asker> asker) {
  const auto refuse = [&](ErrorCode code, const char* message) {
    home.loop().Post(
        [asker = std::move(asker), answer = Refusal(InCall(call, code, message))]() mutable {
          Deliver(std::move(asker), std::move(answer));
        });
  };
  if (context.cancel.cancelled()) {
    return refuse(ErrorCode::kCancelled, "cancelled before it began");
  }
  if (context.Expired(home.loop().Now())) {
    return refuse(ErrorCode::kDeadlineExceeded, "the deadline passed before it began");
  }
  const JobId id{context.priority, state_->next_number.fetch_add(1)};
  if (context.deadline != kNever) {
    asker->deadline = home.loop().Arm(context.deadline,
                                      [state = state_, id] { state->End(id, Reason::kDeadline); });
  }
  asker->cancel =
      context.cancel.OnCancel([state = state_, id] { state->End(id, Reason::kCancelled); });
  if (call.share == Share::kForeignPaths) BePatient(state_, *asker, id);

  std::optional<ForeignSlot> slot = home.ReserveForeign();
  const State::Lock lock(state_->mutex);
  if (state_->stopping) return refuse(ErrorCode::kCancelled, "the blocking pool has stopped");
  if (!slot || state_->Full() || !State::HasWorker(state_)) {
    ++state_->refused_total;
    return refuse(ErrorCode::kOverloaded, slot ? "too many blocking calls wait"
                                               : "too many answers to this shard are outstanding");
  }
  state_->Add(id, {std::move(call), context, home.index(), std::move(work),
                   Waiter{std::move(asker), std::move(*slot)}});
}

// The asker lives until it was told, which ends this.
void BlockingPool::BePatient(const std::shared_ptr<State>& state, Asker& asker, JobId id) {
  const TimePoint when = After(asker.loop.Now(), state->options.foreign_time_max);
  asker.patience = asker.loop.Arm(when, [state, &asker, id] {
    if (state->MakeWay(id)) BePatient(state, asker, id);
  });
}

void BlockingPool::Dispose(Shard& home, BlockingCall call, UniqueFunction<void()> work) {
  const JobId id{Priority::kNormal, state_->next_number.fetch_add(1)};
  {
    const State::Lock lock(state_->mutex);
    if (State::HasWorker(state_)) {
      auto run = [work = std::move(work)]() mutable -> Answer {
        work();
        return nullptr;
      };
      return state_->Add(id, {std::move(call), {}, home.index(), std::move(run), std::nullopt});
    }
  }
  work();
}

BlockingPoolSnapshot BlockingPool::Snapshot() const {
  BlockingPoolSnapshot snapshot;
  const State::Lock lock(state_->mutex);
  for (const auto& [id, job] : state_->running) {
    snapshot.running.push_back(
        {job.call.doing, job.call.subject, job.since, job.shard, job.abandoned});
    if (job.abandoned) ++snapshot.abandoned;
  }
  std::sort(snapshot.running.begin(), snapshot.running.end(),
            [](const auto& a, const auto& b) { return a.since < b.since; });
  snapshot.waiting = state_->Waiting();
  snapshot.workers = state_->workers;
  snapshot.asleep = state_->sleepers.size();
  snapshot.finished_total = state_->finished_total;
  snapshot.abandoned_total = state_->abandoned_total;
  snapshot.refused_total = state_->refused_total;
  return snapshot;
}

BlockingPool::State::State(const Clock& pool_clock, const BlockingPoolOptions& pool_options)
    : options(pool_options), clock(&pool_clock) {}

// Starts one more worker when none is free for one more job. Detached from the start: Stop() waits
// for their number, so that one that hangs is no special case.
bool BlockingPool::State::HasWorker(const std::shared_ptr<State>& self) {
  const bool wanted = !self->stopping && self->idle <= self->ready.size();
  // When a replaced one comes back after all there are more than that, until they have nothing to
  // do; never more than with all that may be replaced.
  if (!wanted || self->workers >= self->options.workers_max + self->replaced) {
    return self->workers > 0;
  }
  try {
    const AllSignalsBlocked blocked;
    std::thread([self, index = self->workers_started] { self->RunWorker(index); }).detach();
    ++self->workers;
    ++self->workers_started;
  } catch (const std::system_error&) {
    // No thread to be had: the job waits for one that exists, if any does.
  }
  return self->workers > 0;
}

void BlockingPool::State::Add(JobId id, Job job) {
  bool first = true;
  if (const uint64_t lane = job.call.lane.number; lane != 0) {
    lanes[lane].push_back(id);
    first = lanes[lane].size() == 1;
  }
  CHECK(job.call.share == Share::kAll || job.call.lane.number != 0);
  if (first) first = TakePlace(job.call.share, id);
  (first ? ready : held).emplace(id, std::move(job));
  if (first) WakeOne();
}

void BlockingPool::State::End(JobId id, Reason reason) {
  Jobs::node_type dropped;  // dies after the lock: what it owns may take long to give back
  const Lock lock(mutex);
  dropped = Withdraw(id, reason);
}

bool BlockingPool::State::MakeWay(JobId id) {
  const Lock lock(mutex);
  const auto found = running.find(id);
  if (found == running.end()) return ready.count(id) != 0 || held.count(id) != 0;
  Running& job = found->second;
  if (Now() >= After(job.since, options.foreign_time_max)) Replace(job);
  return !job.replaced;
}

// Takes out a job that waits, abandons one that runs; one that has ended is not found.
BlockingPool::State::Jobs::node_type BlockingPool::State::Withdraw(JobId id, Reason reason) {
  Jobs::node_type node = ready.extract(id);
  const bool had_place = !node.empty();
  if (!node) node = held.extract(id);
  if (!node) {
    const auto found = running.find(id);
    if (found != running.end()) Abandon(found->second, reason);
    return node;
  }
  Job& job = node.mapped();
  CHECK(job.waiter);  // what Dispose added is withdrawn by nobody
  const bool late = reason == Reason::kDeadline;
  const char* const message = late ? "the deadline passed while it waited for a thread"
                              : reason == Reason::kCancelled
                                  ? "cancelled while it waited for a thread"
                                  : "the blocking pool stopped before its turn came";
  Tell(std::move(*job.waiter),
       Refusal(
           InCall(job.call, late ? ErrorCode::kDeadlineExceeded : ErrorCode::kCancelled, message)));
  places[static_cast<size_t>(job.call.share)].wanted.erase(id);
  LeaveLane(job.call.lane, id);
  if (had_place) LeavePlace(job.call.share);
  return node;
}

void BlockingPool::State::Abandon(Running& job, Reason reason) {
  if (!job.waiter) return;
  const char* const message =
      reason == Reason::kDeadline    ? "still under way when the deadline passed"
      : reason == Reason::kCancelled ? "still under way when it was cancelled"
                                     : "still under way when the blocking pool stopped";
  Tell(std::move(*job.waiter), Refusal(InCall(job.call, ErrorCode::kUnknownOutcome, message)));
  job.waiter.reset();
  job.abandoned = true;
  ++abandoned_total;
  Replace(job);
}

void BlockingPool::State::Replace(Running& job) {
  if (job.replaced || replaced == options.abandoned_max || stopping) return;
  job.replaced = true;
  ++replaced;
  LeavePlace(job.call.share);
  if (idle < ready.size()) HasWorker(shared_from_this());
}

bool BlockingPool::State::TakePlace(Share share, JobId id) {
  if (share == Share::kAll) return true;
  Places& part = places[static_cast<size_t>(share)];
  if (part.taken == options.share_max) {
    part.wanted.insert(id);
    return false;
  }
  part.wanted.erase(id);
  ++part.taken;
  return true;
}

void BlockingPool::State::LeavePlace(Share share) {
  if (share == Share::kAll) return;
  Places& part = places[static_cast<size_t>(share)];
  --part.taken;
  // Nobody leaves the lane; its first finds a place now.
  if (!part.wanted.empty()) LeaveLane(held.at(*part.wanted.begin()).call.lane, JobId{});
}

BlockingPool::State::Jobs::node_type BlockingPool::State::ExtractWithPlace(JobId id) {
  const auto found = held.find(id);
  if (found == held.end() || !TakePlace(found->second.call.share, id)) return {};
  return held.extract(found);
}

void BlockingPool::State::LeaveLane(Lane lane, JobId id) {
  const auto found = lanes.find(lane.number);
  if (found == lanes.end()) return;
  std::deque<JobId>& jobs = found->second;
  std::erase(jobs, id);
  if (jobs.empty()) {
    lanes.erase(found);
  } else if (Jobs::node_type next = ExtractWithPlace(jobs.front())) {
    ready.insert(std::move(next));
    WakeOne();
  }
}

void BlockingPool::State::RunWorker(uint32_t index) {
  ::pthread_setname_np(::pthread_self(), ("blocking-" + std::to_string(index)).c_str());
  cpus.ApplyToThisThread();
  Lock lock(mutex);
  while (AwaitWork(lock)) RunFirst(lock);
  --workers;
  worker_left.notify_all();
}

void BlockingPool::State::WakeOne() {
  if (sleepers.empty()) return;  // whoever is at work looks again before it sleeps
  Sleeper& sleeper = *sleepers.back();
  sleepers.pop_back();
  sleeper.woken = true;
  sleeper.wake_up.notify_one();
}

// False: there is none, and the worker is to end.
bool BlockingPool::State::AwaitWork(Lock& lock) {
  ++idle;
  bool wanted = true;
  while (ready.empty() && !stopping && wanted) {
    Sleeper sleeper;
    sleepers.push_back(&sleeper);
    wanted = sleeper.wake_up.wait_for(lock, options.worker_idle_max,
                                      [&sleeper] { return sleeper.woken; });
    if (!wanted) std::erase(sleepers, &sleeper);
  }
  --idle;
  return !ready.empty();
}

void BlockingPool::State::RunFirst(Lock& lock) {
  const JobId id = ready.begin()->first;
  const Context& context = ready.begin()->second.context;
  // The home shard may be too busy to have noticed.
  std::optional<Reason> reason;
  if (context.cancel.cancelled()) reason = Reason::kCancelled;
  if (context.deadline != kNever && context.Expired(Now())) reason = Reason::kDeadline;

  Answer answer;
  if (reason) {
    const Jobs::node_type dropped = Withdraw(id, *reason);
    lock.unlock();
  } else {
    Jobs::node_type node = ready.extract(id);
    Job& job = node.mapped();
    const Lane lane = job.call.lane;
    running.emplace(id, Running{job.call, job.shard, Now(), std::move(job.waiter)});
    lock.unlock();
    answer = job.work();
    job.work = nullptr;  // what it owns is given back before anybody hears of the end
    lock.lock();
    const auto ended = running.extract(id);
    std::optional<Waiter>& waiter = ended.mapped().waiter;
    ++finished_total;
    if (waiter) Tell(std::move(*waiter), std::move(answer));
    LeaveLane(lane, id);
    if (ended.mapped().replaced) {
      --replaced;
    } else {
      LeavePlace(ended.mapped().call.share);
    }
    lock.unlock();
  }
  answer = nullptr;  // one that came too late dies here, not under the lock
  lock.lock();
}

void BlockingPool::State::Stop() {
  std::vector<Jobs::node_type> dropped;
  std::vector<JobId> waiting;
  Lock lock(mutex);
  if (stopping) return;
  stopping = true;
  for (const Jobs* jobs : {&ready, &held}) {
    for (const auto& [id, job] : *jobs) {
      if (job.waiter) waiting.push_back(id);
    }
  }
  for (const JobId id : waiting) dropped.push_back(Withdraw(id, Reason::kStopping));
  while (!sleepers.empty()) WakeOne();
  worker_left.wait_for(lock, options.stop_wait_max, [this] { return workers == 0; });
  for (auto& [id, job] : running) Abandon(job, Reason::kStopping);
  clock = nullptr;
  lock.unlock();
}

}  // namespace denselet::reactor
