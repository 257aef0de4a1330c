#include "reactor/mount_watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {
namespace {

// Of the thread: /proc/self is the main thread, which may live in another mount namespace.
constexpr const char* kTable = "/proc/thread-self/mountinfo";

// When a poll is refused, for want of memory or of room in the loop. A change waits meanwhile.
constexpr Duration kRetryDelay = Milliseconds(100);

}  // namespace

struct MountWatcher::Source {
  UniqueFd table;
  UniqueFd changes;                 // the epoll instance that watches the table
  MountWatcher* watcher = nullptr;  // null: gone

  // Forgets the change that is there, if any. True: there was one.
  bool Take() {
    epoll_event event;
    return ::epoll_wait(changes.get(), &event, 1, 0) > 0;
  }
};

Result<std::unique_ptr<MountWatcher>> MountWatcher::Make(Loop& loop, Changed changed) {
  CHECK(changed);
  auto source = std::make_shared<Source>();
  source->table = UniqueFd(::open(kTable, O_RDONLY | O_CLOEXEC));
  if (!source->table) return Error::FromErrno(errno, kTable).With("watch mounts");
  source->changes = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!source->changes) return Error::FromErrno(errno, "epoll_create1").With("watch mounts");
  // The table is always readable, which makes every wake-up of the kernel an edge.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = source->table.get()}};
  if (::epoll_ctl(source->changes.get(), EPOLL_CTL_ADD, source->table.get(), &event) != 0) {
    return Error::FromErrno(errno, "epoll_ctl").With("watch mounts");
  }
  source->Take();  // the first edge is the adding
  loop.io().Adopt(source->changes.get());
  return std::unique_ptr<MountWatcher>(
      new MountWatcher(loop, std::move(source), std::move(changed)));
}

MountWatcher::MountWatcher(Loop& loop, std::shared_ptr<Source> source, Changed changed)
    : loop_(loop), changed_(std::move(changed)), source_(std::move(source)) {
  source_->watcher = this;
  Poll();
}

MountWatcher::~MountWatcher() {
  source_->watcher = nullptr;
  loop_.Disarm(retry_);
  loop_.io().Cancel(poll_);
}

void MountWatcher::Poll() {
  poll_ = loop_.io().Poll(source_->changes.get(), POLLIN, [source = source_](int32_t result) {
    if (source->watcher != nullptr) source->watcher->OnPolled(result);
  });
}

void MountWatcher::OnPolled(int32_t result) {
  if (result < 0) {
    retry_ = loop_.Arm(After(loop_.Now(), kRetryDelay), [this] { Poll(); });
    return;
  }
  // Taken before the callback looks at the table: what changes while it looks is a new edge.
  const bool is_change = source_->Take();
  Poll();
  if (is_change) changed_();
}

}  // namespace denselet::reactor
