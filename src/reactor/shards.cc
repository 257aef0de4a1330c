#include "reactor/shards.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <latch>
#include <thread>
#include <utility>

namespace denselet::reactor {

struct Shards::Thread {
  std::thread thread;
  std::unique_ptr<EventLoop> loop;
  std::unique_ptr<Shard> shard;
  Status status = Ok();
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
  const std::vector<int> cpus = AllowedCpus();
  const auto cpu_count = static_cast<uint32_t>(std::max<size_t>(cpus.size(), 1));
  const uint32_t count = options.count != 0 ? options.count : std::min(cpu_count, kCountDefaultMax);

  std::unique_ptr<Shards> shards(new Shards);
  std::latch made(count), known(1);
  const auto stopped = shards->stopped_ = std::make_shared<std::latch>(count + 1);
  for (uint32_t i = 0; i < count; ++i) shards->threads_.push_back(std::make_unique<Thread>());
  for (uint32_t i = 0; i < count; ++i) {
    Thread& self = *shards->threads_[i];
    self.thread = std::thread([&, i, stopped] {
      NameThread(i);
      if (options.pinning == Pinning::kPinned && !cpus.empty()) PinTo(cpus[i % cpus.size()]);
      // Made on its own thread: a ring accepts submissions only of the thread that made it.
      auto loop = MakeEventLoop(options.backend, clock, options.loop);
      if (loop) {
        self.loop = std::move(*loop);
        self.shard = std::make_unique<Shard>(i, *self.loop, count, options.mail, shards->all_);
      } else {
        self.status = loop.error().With("start shard", std::to_string(i));
      }
      made.count_down();
      known.wait();  // until every shard knows the others
      if (!shards->all_.empty()) self.loop->Run();
      // Not before the last one has ended its last turn: until then the others may send us mail.
      // And here, where they lived: what is left in the loop dies on its own thread.
      stopped->arrive_and_wait();
      self.shard.reset();
      self.loop.reset();
    });
  }
  made.wait();
  Status status = Ok();
  for (const auto& thread : shards->threads_) {
    if (!thread->status) status = thread->status;
  }
  if (status) {
    for (const auto& thread : shards->threads_) shards->all_.push_back(thread->shard.get());
  }
  known.count_down();
  if (!status) {
    shards->Stop();
    return status.error();
  }
  // Answers only once every loop turns, so that options and latches may die.
  for (uint32_t i = 0; i < count; ++i) shards->RunAndWait(i, [](Shard&) {});
  return shards;
}

Shards::~Shards() { Stop(); }

bool Shards::TryPost(uint32_t shard, UniqueFunction<void(Shard&)> work) {
  Shard* target = all_[shard];
  return target->mailbox().TryForeignRequest(
      [target, work = std::move(work)]() mutable { work(*target); });
}

void Shards::RunAndWait(uint32_t shard, UniqueFunction<void(Shard&)> work) {
  // Shared: the shard is still inside count_down() when wait() here returns.
  const auto done = std::make_shared<std::latch>(1);
  auto run = [&work, done](Shard& target) {
    work(target);
    done->count_down();
  };
  while (!TryPost(shard, run)) std::this_thread::yield();
  done->wait();
}

std::vector<StuckShard> Shards::FindStuck(TimePoint now, Duration limit) const {
  std::vector<StuckShard> stuck;
  for (Shard* shard : all_) {
    const Activity& activity = shard->loop().activity();
    const Duration lasted = activity.InTurnFor(now);
    if (lasted > limit) stuck.push_back({shard->index(), lasted, activity.label()});
  }
  return stuck;
}

void Shards::Stop() {
  for (uint32_t i = 0; i < all_.size(); ++i) {
    while (!TryPost(i, [](Shard& shard) { shard.loop().Stop(); })) std::this_thread::yield();
  }
  // Our last message may still be on its way into a mailbox when its shard acts on it.
  if (const auto stopped = std::exchange(stopped_, nullptr)) stopped->count_down();
  for (const auto& thread : threads_) {
    if (thread->thread.joinable()) thread->thread.join();
  }
  all_.clear();
}

}  // namespace denselet::reactor
