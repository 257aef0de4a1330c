#include "reactor/shards.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <latch>
#include <system_error>
#include <thread>
#include <utility>

#include "reactor/alternate_stack.h"

namespace denselet::reactor {

struct Shards::Thread {
  Status Start(UniqueFunction<void()> run);

  std::thread thread;
  std::unique_ptr<EventLoop> loop;
  std::unique_ptr<Shard> shard;
  Status status = Ok();
  // Of the shard, for threads that outlive it.
  std::shared_ptr<Mailbox> mailbox;
  std::shared_ptr<const Activity> activity;
};

// Until every shard knows the others. Shared for the same reason as End.
struct Shards::Beginning {
  explicit Beginning(uint32_t shards) : made(shards), known(1) {}
  std::latch made, known;
};

// How shards go: none before all have ended their last turn and nobody holds what can still call
// into another. Shared, because each is still inside when another leaves.
class Shards::End {
 public:
  explicit End(uint32_t shards) : stopped_(shards + 1), round_(shards) {}

  // Stop() has sent its last message.
  void Begin() { stopped_.count_down(); }

  // A thread that could not be had.
  void Absent() {
    stopped_.count_down();
    round_.arrive_and_drop();
  }

  void AfterLastTurn() { stopped_.arrive_and_wait(); }

  // What one shard destroys may send to another: again, until there is nothing anywhere.
  template <class Drop>
  void DropAll(Drop drop) {
    uint64_t before = 0;
    while (true) {
      if (drop()) ++dropped_;
      round_.arrive_and_wait();
      const uint64_t now = dropped_;
      round_.arrive_and_wait();
      if (now == before) return;
      before = now;
    }
  }

 private:
  std::latch stopped_;
  std::barrier<> round_;
  std::atomic<uint64_t> dropped_ = 0;
};

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

namespace {

void NameThread(uint32_t index) {
  const std::string name = "shard-" + std::to_string(index);
  ::pthread_setname_np(::pthread_self(), name.c_str());
}

// Failing to pin is no reason not to run: the CPUs may have been taken away since we asked.
void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

Result<std::unique_ptr<Shards>> Shards::Start(const ShardsOptions& options, const Clock& clock) {
  Result<std::unique_ptr<Shards>> first = StartAs(options, clock);
  if (first || !options.otherwise || *options.otherwise == options.backend) return first;
  // Not some on this and some on that: loops of one kind wake each other without a system call.
  ShardsOptions others = options;
  others.backend = *options.otherwise;
  Result<std::unique_ptr<Shards>> second = StartAs(others, clock);
  if (second) (*second)->denied_ = first.error();
  return second;
}

Result<std::unique_ptr<Shards>> Shards::StartAs(const ShardsOptions& options, const Clock& clock) {
  const std::vector<int> cpus = AllowedCpus();
  const auto cpu_count = static_cast<uint32_t>(std::max<size_t>(cpus.size(), 1));
  const uint32_t count = options.count != 0 ? options.count : std::min(cpu_count, kCountDefaultMax);

  std::unique_ptr<Shards> shards(new Shards);
  shards->backend_ = options.backend;
  shards->end_ = std::make_shared<End>(count);
  const auto begin = std::make_shared<Beginning>(count);
  for (uint32_t i = 0; i < count; ++i) shards->threads_.push_back(std::make_unique<Thread>());
  Status status = Ok();
  for (uint32_t i = 0; i < count; ++i) {
    const int cpu =
        options.pinning == Pinning::kPinned && !cpus.empty() ? cpus[i % cpus.size()] : -1;
    // By value, or shared: when another thread cannot be had, this one may come last.
    Status started = shards->threads_[i]->Start(
        [&shards = *shards, i, options, &clock, cpu, begin, end = shards->end_] {
          NameThread(i);
          if (cpu >= 0) PinTo(cpu);
          shards.RunThread(i, options, clock, *begin, *end);
        });
    if (started) continue;
    status = started.error().With("start shard", std::to_string(i));
    begin->made.count_down();
    shards->end_->Absent();
  }
  begin->made.wait();
  for (const auto& thread : shards->threads_) {
    if (!thread->status) status = thread->status;
  }
  if (status) {
    for (const auto& thread : shards->threads_) shards->all_.push_back(thread->shard.get());
  }
  begin->known.count_down();
  if (!status) {
    shards->Stop();
    return status.error();
  }
  return shards;
}

Status Shards::Thread::Start(UniqueFunction<void()> run) {
  try {
    thread = std::thread(std::move(run));
  } catch (const std::system_error& error) {
    return Error(ErrorCode::kOverloaded, error.what());
  }
  return Ok();
}

void Shards::RunThread(uint32_t index, const ShardsOptions& options, const Clock& clock,
                       Beginning& begin, End& end) {
  Thread& self = *threads_[index];
  const AlternateStack for_signals;
  // Made on its own thread: a ring accepts submissions only of the thread that made it.
  if (auto loop = MakeEventLoop(options.backend, clock, options.loop)) {
    self.loop = std::move(*loop);
    self.shard = std::make_unique<Shard>(index, *self.loop, size(), options.mail, all_);
    self.mailbox = self.shard->shared_mailbox();
    self.activity = self.loop->shared_activity();
  } else {
    self.status = loop.error().With("start shard", std::to_string(index));
  }
  begin.made.count_down();
  begin.known.wait();
  if (!all_.empty()) self.loop->Run();
  end.AfterLastTurn();
  if (self.mailbox != nullptr) self.mailbox->Close();
  // Here, where they lived: what is left in the loop dies on its own thread.
  end.DropAll([&self] { return self.shard != nullptr && self.shard->Drop(); });
  self.shard.reset();
  self.loop.reset();
}

Shards::~Shards() { Stop(); }

bool Shards::TryPost(uint32_t shard, UniqueFunction<void(Shard&)> work) {
  Shard* const target = all_[shard];
  // Runs only while the target lives.
  return threads_[shard]->mailbox->TryForeignRequest(
      [target, work = std::move(work)]() mutable { work(*target); });
}

void Shards::RunAndWait(uint32_t shard, UniqueFunction<void(Shard&)> work) {
  // Shared: the shard is still inside count_down() when wait() here returns.
  const auto done = std::make_shared<std::latch>(1);
  auto run = [&work, done](Shard& target) {
    work(target);
    done->count_down();
  };
  CHECK(end_ != nullptr);
  while (!TryPost(shard, run)) std::this_thread::yield();
  done->wait();
}

std::vector<StuckShard> Shards::FindStuck(TimePoint now, Duration limit) const {
  std::vector<StuckShard> stuck;
  for (uint32_t i = 0; i < size(); ++i) {
    const Activity& activity = *threads_[i]->activity;
    const Duration lasted = activity.InTurnFor(now);
    if (lasted > limit) stuck.push_back({i, lasted, activity.label()});
  }
  return stuck;
}

void Shards::Stop() {
  const std::shared_ptr<End> end = std::exchange(end_, nullptr);
  if (end == nullptr) return;
  for (uint32_t i = 0; i < all_.size(); ++i) {
    while (!TryPost(i, [](Shard& shard) { shard.loop().Stop(); })) std::this_thread::yield();
  }
  // Our last message may still be on its way into a mailbox when its shard acts on it.
  end->Begin();
  for (const auto& thread : threads_) {
    if (thread->thread.joinable()) thread->thread.join();
  }
}

}  // namespace denselet::reactor
