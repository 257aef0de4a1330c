#include "reactor/inotify_queue.h"

#include <sys/inotify.h>

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

// When a read is refused, for want of memory or of room in the loop. Events wait in the queue
// meanwhile; if that overflows, it says so.
constexpr Duration kRetryDelay = Milliseconds(100);

}  // namespace

struct InotifyQueue::Source {
  UniqueFd instance;
  InotifyQueue* queue;  // null: gone
  alignas(inotify_event) std::array<std::byte, kBatchBytes> buffer;
};

Result<UniqueFd> InotifyQueue::OpenInstance() {
  UniqueFd instance(::inotify_init1(IN_CLOEXEC));
  if (!instance) return Error::FromErrno(errno, "inotify_init1");
  return instance;
}

InotifyQueue::InotifyQueue(Loop& loop, UniqueFd instance, OnEvent on_event)
    : loop_(loop), on_event_(std::move(on_event)), source_(std::make_shared<Source>()) {
  source_->instance = std::move(instance);
  source_->queue = this;
  loop_.io().Adopt(source_->instance.get());
  Read();
}

InotifyQueue::~InotifyQueue() {
  source_->queue = nullptr;
  loop_.Disarm(retry_);
  loop_.io().Cancel(read_);
}

int InotifyQueue::Add(const std::string& path, uint32_t mask) {
  const int wd = ::inotify_add_watch(source_->instance.get(), path.c_str(),
                                     mask | IN_DONT_FOLLOW | IN_MASK_ADD);
  return wd < 0 ? -errno : wd;
}

// Fails when the kernel has ended the watch already, which is as good.
void InotifyQueue::Remove(int wd) { ::inotify_rm_watch(source_->instance.get(), wd); }

void InotifyQueue::Read() {
  read_ =
      loop_.io().Read(source_->instance.get(), source_->buffer, [source = source_](int32_t result) {
        if (source->queue != nullptr) source->queue->OnRead(result);
      });
}

void InotifyQueue::OnRead(int32_t result) {
  if (result < 0) {
    retry_ = loop_.Arm(After(loop_.Now(), kRetryDelay), [this] { Read(); });
    return;
  }
  RunEvents(std::span(source_->buffer).first(static_cast<size_t>(result)));
  Read();
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
