#include "reactor/inotify_queue.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace denselet::reactor {
namespace {

// What is read at once, and so in one turn: about a thousand events without names, hundreds with.
constexpr size_t kBatchBytes = 16 * 1024;
static_assert(kBatchBytes >= sizeof(inotify_event) + 256, "the longest event must fit");

// When waiting is refused, for want of memory or of room in the loop. Events wait in the queue
// meanwhile; if that overflows, it says so.
constexpr Duration kRetryDelay = Milliseconds(100);

}  // namespace

struct InotifyQueue::Source {
  UniqueFd instance;
  InotifyQueue* queue;  // null: gone
};

Result<UniqueFd> InotifyQueue::OpenInstance() {
  UniqueFd instance(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!instance) return Error::FromErrno(errno, "inotify_init1");
  return instance;
}

InotifyQueue::InotifyQueue(Loop& loop, UniqueFd instance, OnEvent on_event)
    : loop_(loop), on_event_(std::move(on_event)), source_(std::make_shared<Source>()) {
  source_->instance = std::move(instance);
  source_->queue = this;
  Wait();
}

InotifyQueue::~InotifyQueue() {
  source_->queue = nullptr;
  loop_.Disarm(retry_);
  loop_.io().Cancel(wait_);
}

int InotifyQueue::Add(const std::string& path, uint32_t mask) {
  const int wd = ::inotify_add_watch(source_->instance.get(), path.c_str(),
                                     mask | IN_DONT_FOLLOW | IN_MASK_ADD);
  return wd < 0 ? -errno : wd;
}

// Fails when the kernel has ended the watch already, which is as good.
void InotifyQueue::Remove(int wd) { ::inotify_rm_watch(source_->instance.get(), wd); }

// Waits for readiness and reads by itself: the kernel cannot wait inside a read of inotify without
// a thread, so io_uring would park one of its workers on it.
void InotifyQueue::Wait() {
  wait_ = loop_.io().Poll(source_->instance.get(), POLLIN, [source = source_](int32_t result) {
    if (source->queue != nullptr) source->queue->OnReady(result);
  });
}

void InotifyQueue::OnReady(int32_t result) {
  if (result < 0) return WaitLater();
  std::array<std::byte, kBatchBytes> batch;
  const ssize_t got = ::read(source_->instance.get(), batch.data(), batch.size());
  if (got < 0 && errno != EAGAIN && errno != EINTR) return WaitLater();
  if (got > 0) RunEvents(std::span(batch).first(static_cast<size_t>(got)));
  Wait();
}

void InotifyQueue::WaitLater() {
  retry_ = loop_.Arm(After(loop_.Now(), kRetryDelay), [this] { Wait(); });
}

void InotifyQueue::RunEvents(std::span<const std::byte> batch) {
  inotify_event head;
  while (batch.size() >= sizeof head) {
    std::memcpy(&head, batch.data(), sizeof head);
    batch = batch.subspan(sizeof head);
    CHECK(head.len <= batch.size());  // the kernel gives whole events
    const auto* name = reinterpret_cast<const char*>(batch.data());
    // Padded with zeros to a round length.
    on_event_({.wd = head.wd, .mask = head.mask, .name = {name, ::strnlen(name, head.len)}});
    batch = batch.subspan(head.len);
  }
}

}  // namespace denselet::reactor
