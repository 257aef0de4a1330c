#include "reactor/event_loop.h"

#include <algorithm>
#include <utility>

namespace denselet::reactor {
namespace {

// Spinning goes on until it was in vain this often in a row.
constexpr int kSpinCreditMax = 4;
constexpr int kLooksPerReading = 16;

// Tells the processor that this is a spin: it saves power and leaves the core to its sibling.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

EventLoop::EventLoop(const Clock& clock, const LoopOptions& options)
    : clock_(clock),
      options_(options),
      now_(clock.Now()),
      wheel_(now_),
      activity_(std::make_shared<Activity>(clock)),
      turn_began_(now_),
      phase_began_(now_) {}

bool EventLoop::Drop() {
  bool some = false;
  // What is destroyed may post, arm and start operations; that is destroyed too.
  while (DropOperations() || !tasks_.empty() || !deletions_.empty() || wheel_.size() > 0) {
    some = true;
    std::exchange(tasks_, {}).clear();
    std::exchange(deletions_, {}).clear();
    wheel_.Clear();
  }
  activity_->EndTurn();
  return some;
}

void EventLoop::Post(Task task) {
  tasks_.push_back(std::move(task));
  stats_.task_queue_longest = std::max(stats_.task_queue_longest, tasks_.size());
}

void EventLoop::DeferDelete(std::unique_ptr<Deletable> object) {
  deletions_.push_back(std::move(object));
}

void EventLoop::Run() {
  stopping_ = false;
  while (!stopping_) RunTurn(kNever);
}

void EventLoop::RunTurn(TimePoint sleep_until) {
  WokeUp();
  RunMail();
  RunTimers();
  RunTasks();
  RunDeletions();
  EndTurn();

  TimePoint until = std::min(sleep_until, wheel_.NextDue());
  if (!tasks_.empty() || !deletions_.empty() || stopping_) until = now_;
  // Not now_: the turn may have taken so long that the next timer is due by its end.
  if (until > phase_began_ && SpinForMail(until)) until = now_;
  const bool sleeps = until > phase_began_;
  if (sleeps) {
    // Announced before the last look at the mail. An exchange, not a store: either a sender's
    // exchange comes later and sees that we sleep, or it came earlier and its message is visible to
    // this look.
    sleeping_.exchange(true, std::memory_order_acq_rel);
    if (HasMail()) until = now_;
  }
  const TimePoint fell_asleep = phase_began_;
  Wait(until);
  WokeUp();
  if (sleeps) LearnFromSleep(fell_asleep);
  RunDeletions();
}

bool EventLoop::SpinForMail(TimePoint until) {
  if (spin_credit_ == 0) return false;
  // What the turn itself has left to be submitted says nothing about how soon mail comes.
  if (HasCompletions()) return true;
  ++stats_.spins;
  const TimePoint end = std::min(until, After(phase_began_, options_.spin_max));
  do {
    for (int i = 0; i < kLooksPerReading; ++i) {
      if (HasMail() || HasCompletions()) {
        ++stats_.spins_paid;
        spin_credit_ = kSpinCreditMax;
        return true;
      }
      Pause();
    }
    phase_began_ = clock_.Now();
  } while (phase_began_ < end);
  --spin_credit_;
  return false;
}

void EventLoop::LearnFromSleep(TimePoint fell_asleep) {
  // Falling asleep and waking up took most of it: spinning that long would have been cheaper.
  if (now_ - fell_asleep <= 3 * options_.spin_max && HasMail()) spin_credit_ = kSpinCreditMax;
}

TimePoint EventLoop::NextWork() const {
  return !tasks_.empty() || !deletions_.empty() || HasMail() ? now_ : wheel_.NextDue();
}

void EventLoop::WokeUp() {
  if (in_turn_) return;
  in_turn_ = true;
  sleeping_.store(false, std::memory_order_relaxed);
  now_ = std::max(now_, clock_.Now());
  turn_began_ = phase_began_ = now_;
  activity_->BeginTurn(now_);
}

void EventLoop::PhaseEnded() {
  phase_began_ = clock_.Now();
  activity_->EndPiece(phase_began_);
}

void EventLoop::EndTurn() {
  PhaseEnded();
  in_turn_ = false;
  activity_->EndTurn();
  ++stats_.turns;
  const Duration took = phase_began_ - turn_began_;
  stats_.busy += took;
  if (took > stats_.longest_turn) {
    stats_.longest_turn = took;
    stats_.longest_doing = activity_->longest_label();
  }
  if (took > options_.stall_threshold) {
    ++stats_.stalls;
    if (stall_handler_) stall_handler_(Stall{took, activity_->longest_label()});
  }
}

bool EventLoop::HasMail() const {
  return std::any_of(inboxes_.begin(), inboxes_.end(),
                     [](const Inbox* inbox) { return inbox->HasMail(); });
}

void EventLoop::RunMail() {
  activity_->Rename("message");
  size_t delivered = 0;
  for (Inbox* inbox : inboxes_) delivered += inbox->Deliver(options_.messages_per_turn_max);
  if (delivered == 0) return;
  stats_.messages += delivered;
  PhaseEnded();
}

void EventLoop::RunTimers() {
  activity_->Rename("timer");
  const size_t ran = wheel_.RunDue(now_, options_.timers_per_turn_max);
  if (ran == 0) return;
  stats_.timers += ran;
  PhaseEnded();
}

void EventLoop::RunTasks() {
  if (tasks_.empty()) return;
  activity_->Rename("task");
  // Only those that were there at the beginning: a task that posts itself again does not hold up
  // the turn.
  const size_t count = tasks_.size();
  for (size_t i = 0; i < count; ++i) {
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }
  stats_.tasks += count;
  PhaseEnded();
}

void EventLoop::RunDeletions() {
  if (deletions_.empty()) return;
  activity_->Rename("deferred deletion");
  while (!deletions_.empty()) std::exchange(deletions_, {}).clear();
  PhaseEnded();
}

void EventLoop::RanCompletions(size_t count) {
  if (count == 0) return;
  stats_.completions += count;
  PhaseEnded();
}

void EventLoop::Notify() {
  if (sleeping_.exchange(false, std::memory_order_acq_rel)) WakeUp();
}

void EventLoop::NotifyFrom(EventLoop& sender) {
  if (!sleeping_.exchange(false, std::memory_order_acq_rel)) return;
  ++sender.stats_.wakeups_sent;
  sender.WakeUpOther(*this);
}

std::string_view BackendName(Backend backend) {
  switch (backend) {
    case Backend::kUring:
      return "uring";
    case Backend::kEpoll:
      return "epoll";
  }
  return "?";
}

}  // namespace denselet::reactor
