#include "reactor/uring_loop.h"

#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace denselet::reactor {
namespace {

constexpr unsigned kSubmissionEntries = 1024;
constexpr unsigned kCompletionEntries = 8192;
constexpr size_t kCompletionsPerBatch = 256;
constexpr int kSubmitTriesMax = 100'000;
// The memory of rings counts against a limit of the user's, and that of rings which have ended is
// given back late, tens of milliseconds mostly: a ring that finds none waits for it, a second at
// most. Only who starts or stops loops waits.
constexpr int kMemoryTriesMax = 200;
constexpr int kMemoryPauseMilliseconds = 5;
// The kernel counts bytes of one operation in 32 bits.
constexpr size_t kBytesPerOperationMax = 1u << 30;

// Memory for what is received, shared by all connections of the loop: a completion takes a buffer
// and gives it back when its callback has returned. When all are taken, the kernel says so and the
// connection asks again.
constexpr uint16_t kReceiveBuffers = 64;  // a power of two
constexpr size_t kReceiveBufferBytes = 16 * 1024;
constexpr uint16_t kReceiveGroup = 0;

// What a completion is about. Keys of operations have a generation in the upper half, so they never
// look like these.
enum UserData : uint64_t {
  kNobody = 0,
  kWake = 1,
  kWakeMessage = 2,
  kWakeFailed = 3,  // and on: plus the number of the loop that could not be woken by a message
  kFirstKey = uint64_t{1} << 32,
};

uint64_t Pack(SlotKey key) { return uint64_t{key.generation} << 32 | key.index; }
SlotKey Unpack(uint64_t data) {
  return {.index = static_cast<uint32_t>(data), .generation = static_cast<uint32_t>(data >> 32)};
}

Error CannotBeUsed(int error) {
  const Error reason = Error::FromErrno(error, "io_uring cannot be used here");
  rlimit limit{};
  if (error != ENOMEM || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
    return Error(ErrorCode::kUnsupported, reason.message());
  }
  const std::string bytes =
      limit.rlim_cur == RLIM_INFINITY ? "none" : std::to_string(limit.rlim_cur) + " bytes";
  return Error(ErrorCode::kOverloaded,
               reason.message() +
                   "; most likely the limit of locked memory is used up (RLIMIT_MEMLOCK, " + bytes +
                   ", for all processes of this user)");
}

unsigned Clamp(size_t size) { return static_cast<unsigned>(std::min(size, kBytesPerOperationMax)); }

}  // namespace

struct UringLoop::Ring {
  io_uring ring;
  bool initialised = false;
  bool deferred = false;  // completions appear only when we ask for them
  bool has_messages = false;
  bool has_multishot_receive = false;    // 6.0, known by another operation of that release
  io_uring_buf_ring* buffers = nullptr;  // null: this kernel has none; receives poll, then receive
  std::unique_ptr<std::byte[]> memory =
      std::make_unique_for_overwrite<std::byte[]>(kReceiveBuffers * kReceiveBufferBytes);

  ~Ring() {
    if (buffers != nullptr) {
      io_uring_free_buf_ring(&ring, buffers, kReceiveBuffers, kReceiveGroup);
    }
    if (initialised) io_uring_queue_exit(&ring);
  }

  std::span<std::byte> Buffer(uint16_t index) {
    return {memory.get() + index * kReceiveBufferBytes, kReceiveBufferBytes};
  }
  void GiveBuffer(uint16_t index) {
    io_uring_buf_ring_add(buffers, Buffer(index).data(), kReceiveBufferBytes, index,
                          io_uring_buf_ring_mask(kReceiveBuffers), 0);
    io_uring_buf_ring_advance(buffers, 1);
  }
  void MakeBuffers() {
    int error = 0;
    buffers = io_uring_setup_buf_ring(&ring, kReceiveBuffers, kReceiveGroup, 0, &error);
    if (buffers == nullptr) return;
    for (uint16_t i = 0; i < kReceiveBuffers; ++i) GiveBuffer(i);
  }

  int InitialiseInTime() {
    int error = Initialise();
    for (int i = 0; error == -ENOMEM && i < kMemoryTriesMax; ++i) {
      ::poll(nullptr, 0, kMemoryPauseMilliseconds);
      error = Initialise();
    }
    return error;
  }

  // From the best form to the plainest: 6.1 has deferred task run, 5.19 cooperative, before that
  // completions interrupt.
  int Initialise() {
    constexpr unsigned kForms[] = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        0,
    };
    int error = -ENOSYS;
    for (const unsigned form : kForms) {
      io_uring_params params{};
      params.flags = form | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
      params.cq_entries = kCompletionEntries;
      error = io_uring_queue_init_params(kSubmissionEntries, &ring, &params);
      if (error == 0) {
        initialised = true;
        deferred = (form & IORING_SETUP_DEFER_TASKRUN) != 0;
        return CheckFeatures(params.features);
      }
      if (error != -EINVAL) return error;
    }
    return error;
  }

  int CheckFeatures(unsigned features) {
    // No completion may be lost when the queue is full, and a wait must be able to end in time.
    constexpr unsigned kNeeded = IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG | IORING_FEAT_FAST_POLL;
    if ((features & kNeeded) != kNeeded) return -ENOSYS;
    io_uring_probe* probe = io_uring_get_probe_ring(&ring);
    if (probe == nullptr) return -ENOSYS;
    has_messages = io_uring_opcode_supported(probe, IORING_OP_MSG_RING) != 0;
    has_multishot_receive = io_uring_opcode_supported(probe, IORING_OP_SEND_ZC) != 0;
    io_uring_free_probe(probe);
    return 0;
  }
};

Result<std::unique_ptr<EventLoop>> UringLoop::Make(const Clock& clock, const LoopOptions& options) {
  auto ring = std::make_unique<Ring>();
  if (const int error = ring->InitialiseInTime(); error != 0) return CannotBeUsed(-error);
  if (ring->has_multishot_receive && options.multishot_receive) ring->MakeBuffers();
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return Error::FromErrno(errno, "eventfd");
  return std::unique_ptr<EventLoop>(
      new UringLoop(clock, options, std::move(ring), std::move(wake)));
}

UringLoop::UringLoop(const Clock& clock, const LoopOptions& options, std::unique_ptr<Ring> ring,
                     UniqueFd wake)
    : EventLoop(clock, options),
      ring_(std::move(ring)),
      wake_(std::move(wake)),
      ops_(options.operations_max) {
  ArmWake();
}

UringLoop::~UringLoop() {
  Drop();
  CancelEverything();  // also our own read of the wake-up
}

bool UringLoop::DropOperations() {
  if (ops_.empty()) return false;
  CancelEverything();
  CloseAccepted();
  // Into a place of its own: callbacks' destructors may start operations.
  const std::vector<Op> dropped = ops_.TakeAll();
  return true;
}

// What was accepted and not told yet belongs to nobody.
void UringLoop::CloseAccepted() {
  io_uring* ring = &ring_->ring;
  io_uring_get_events(ring);
  io_uring_cqe* entry = nullptr;
  while (io_uring_peek_cqe(ring, &entry) == 0) {
    const Op* op = ops_.Find(Unpack(entry->user_data));
    if (op != nullptr && op->accepts && entry->res >= 0) ::close(entry->res);
    io_uring_cqe_seen(ring, entry);
  }
}

// The kernel may still write into buffers of operations under way; their owners believe them free
// once the loop is gone.
void UringLoop::CancelEverything() {
  io_uring_sync_cancel_reg everything{};
  everything.flags = IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL;
  everything.timeout = {.tv_sec = 1, .tv_nsec = 0};
  io_uring_submit(&ring_->ring);
  io_uring_register_sync_cancel(&ring_->ring, &everything);
}

// One poll for all wake-ups to come: the kernel tells of each write, also while the count of the
// ones before is still there, so nobody reads it. Before 5.13 there is no such poll: then a read
// each time.
void UringLoop::ArmWake() {
  io_uring_sqe* entry = Entry();
  if (wake_by_read_) {
    io_uring_prep_read(entry, wake_.get(), &wake_value_, sizeof wake_value_, 0);
  } else {
    io_uring_prep_poll_multishot(entry, wake_.get(), POLLIN);
  }
  io_uring_sqe_set_data64(entry, kWake);
}

void UringLoop::OnWake(const Completion& completion) {
  if ((completion.flags & IORING_CQE_F_MORE) != 0) return;
  if (completion.result == -EINVAL) wake_by_read_ = true;
  ArmWake();
}

io_uring_sqe* UringLoop::Entry() {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_->ring);
  // Submitting empties the queue. The kernel may be short of memory for a moment, never for ever.
  for (int tries = 0; entry == nullptr && tries < kSubmitTriesMax; ++tries) {
    io_uring_submit(&ring_->ring);
    entry = io_uring_get_sqe(&ring_->ring);
  }
  CHECK(entry != nullptr);
  return entry;
}

template <class Prepare>
OpId UringLoop::Start(IoDone done, Prepare prepare, std::unique_ptr<sockaddr_storage> address) {
  Op op{std::move(done), std::move(address)};
  const std::optional<SlotKey> key = ops_.Insert(std::move(op));
  if (!key) {
    // Insert takes the value only on success. NOLINTNEXTLINE(bugprone-use-after-move)
    Post([refused = std::move(op.done)]() mutable { refused(-EBUSY); });
    return {};
  }
  io_uring_sqe* entry = Entry();
  prepare(entry);
  io_uring_sqe_set_data64(entry, Pack(*key));
  return OpId{*key};
}

void UringLoop::Adopt(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK) != 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

OpId UringLoop::Poll(int fd, uint32_t events, IoDone done) {
  return Start(std::move(done),
               [&](io_uring_sqe* entry) { io_uring_prep_poll_add(entry, fd, events); });
}

OpId UringLoop::Read(int fd, std::span<std::byte> into, IoDone done) {
  return Start(std::move(done), [&](io_uring_sqe* entry) {
    io_uring_prep_read(entry, fd, into.data(), Clamp(into.size()), static_cast<uint64_t>(-1));
  });
}

OpId UringLoop::Write(int fd, std::span<const std::byte> from, IoDone done) {
  return Start(std::move(done), [&](io_uring_sqe* entry) {
    io_uring_prep_write(entry, fd, from.data(), Clamp(from.size()), static_cast<uint64_t>(-1));
  });
}

OpId UringLoop::Receive(int fd, std::span<std::byte> into, IoDone done) {
  return Start(std::move(done), [&](io_uring_sqe* entry) {
    io_uring_prep_recv(entry, fd, into.data(), Clamp(into.size()), 0);
  });
}

OpId UringLoop::ReceiveStream(int fd, IoReceived received) {
  Op op{.done = {}, .address = {}, .received = std::move(received), .fd = fd};
  const std::optional<SlotKey> key = ops_.Insert(std::move(op));
  if (!key) {
    // Insert takes the value only on success. NOLINTNEXTLINE(bugprone-use-after-move)
    Post([refused = std::move(op.received)]() mutable { refused(-EBUSY, {}); });
    return {};
  }
  ArmReceive(*key);
  return OpId{*key};
}

// The first receive is a single one: of two peers that ask and answer, the client mostly closes
// with the first answer in its hand, and then the kernel has nothing that would have to be
// cancelled.
void UringLoop::ArmReceive(SlotKey key) {
  Op& op = *ops_.Find(key);
  op.in_kernel = true;
  io_uring_sqe* entry = Entry();
  if (ring_->buffers == nullptr) {
    io_uring_prep_poll_add(entry, op.fd, POLLIN);
  } else {
    if (op.came_once) {
      io_uring_prep_recv_multishot(entry, op.fd, nullptr, 0, 0);
    } else {
      io_uring_prep_recv(entry, op.fd, nullptr, kReceiveBufferBytes, 0);
    }
    io_uring_sqe_set_flags(entry, IOSQE_BUFFER_SELECT);
    entry->buf_group = kReceiveGroup;
  }
  io_uring_sqe_set_data64(entry, Pack(key));
}

void UringLoop::RunReceived(SlotKey key, const Completion& completion) {
  const bool goes_on = (completion.flags & IORING_CQE_F_MORE) != 0;
  ops_.Find(key)->in_kernel = goes_on;
  int32_t result = completion.result;
  if ((completion.flags & IORING_CQE_F_BUFFER) != 0) {
    const auto index = static_cast<uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT);
    if (result > 0) HandReceived(key, ring_->Buffer(index).first(static_cast<size_t>(result)));
    ring_->GiveBuffer(index);
  } else if (ring_->buffers == nullptr && result > 0) {
    const std::span<std::byte> buffer = ring_->Buffer(0);
    const ssize_t got = ::recv(ops_.Find(key)->fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    result = got < 0 ? -errno : static_cast<int32_t>(got);
    if (result > 0) HandReceived(key, buffer.first(static_cast<size_t>(result)));
    if (result == -EAGAIN) result = 1;
  }
  if (goes_on) return;
  // Without a buffer at hand the kernel gives up: they are back by now.
  if (result > 0 || result == -ENOBUFS) {
    if (!ops_.Find(key)->cancelled) return ArmReceive(key);
    result = -ECANCELED;
  }
  EndReceive(key, result);
}

void UringLoop::HandReceived(SlotKey key, std::span<const std::byte> data) {
  // Out of its slot while it runs: it may start operations, which moves slots.
  IoReceived received = std::move(ops_.Find(key)->received);
  received(static_cast<int32_t>(data.size()), data);
  Op& op = *ops_.Find(key);
  op.received = std::move(received);
  op.came_once = true;
}

void UringLoop::EndReceive(SlotKey key, int32_t result) {
  std::optional<Op> op = ops_.Remove(key);
  op->received(result, {});
}

OpId UringLoop::Send(int fd, std::span<const std::byte> from, IoDone done) {
  return Start(std::move(done), [&](io_uring_sqe* entry) {
    io_uring_prep_send(entry, fd, from.data(), Clamp(from.size()), MSG_NOSIGNAL);
  });
}

OpId UringLoop::Accept(int fd, IoDone done) {
  const OpId id = Start(std::move(done), [&](io_uring_sqe* entry) {
    io_uring_prep_accept(entry, fd, nullptr, nullptr, SOCK_CLOEXEC);
  });
  if (Op* const op = ops_.Find(id.key)) op->accepts = true;
  return id;
}

OpId UringLoop::Connect(int fd, const sockaddr* address, socklen_t size, IoDone done) {
  CHECK(size <= sizeof(sockaddr_storage));
  auto copy = std::make_unique<sockaddr_storage>();
  std::memcpy(copy.get(), address, size);
  const auto* target = reinterpret_cast<const sockaddr*>(copy.get());
  return Start(
      std::move(done), [&](io_uring_sqe* entry) { io_uring_prep_connect(entry, fd, target, size); },
      std::move(copy));
}

void UringLoop::Cancel(OpId op) {
  Op* const found = ops_.Find(op.key);
  if (found == nullptr) return;
  found->cancelled = true;
  if (!found->in_kernel) return;  // a ReceiveStream in its callback: ends when that has returned
  io_uring_sqe* entry = Entry();
  io_uring_prep_cancel64(entry, Pack(op.key), 0);
  io_uring_sqe_set_data64(entry, kNobody);
  // Whose result nobody looks at.
  if (ring_->has_messages) io_uring_sqe_set_flags(entry, IOSQE_CQE_SKIP_SUCCESS);
}

void UringLoop::Wait(TimePoint until) {
  Submit(until);
  WokeUp();
  activity().Rename("i/o callback");
  RanCompletions(RunCompletions());
}

bool UringLoop::HasCompletions() const {
  const io_uring& ring = ring_->ring;
  return io_uring_sq_ready(&ring) != 0 || io_uring_cq_ready(&ring) != 0 ||
         (IO_URING_READ_ONCE(*ring.sq.kflags) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

void UringLoop::Submit(TimePoint until) {
  io_uring* ring = &ring_->ring;
  const bool waits = until > LastReading() && io_uring_cq_ready(ring) == 0;
  if (!waits) {
    // A turn with more work behind it: no system call unless there is something to submit or to
    // collect.
    if (HasCompletions()) io_uring_submit_and_get_events(ring);
    return;
  }
  io_uring_cqe* first = nullptr;
  if (until == kNever) {
    io_uring_submit_and_wait(ring, 1);
    return;
  }
  const Duration left = until - LastReading();
  const auto seconds = std::chrono::floor<Seconds>(left);
  __kernel_timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  io_uring_submit_and_wait_timeout(ring, &first, 1, &timeout, nullptr);
}

size_t UringLoop::RunCompletions() {
  io_uring* ring = &ring_->ring;
  size_t ran = 0;
  // Those that are there now; what callbacks cause comes in the next turn.
  for (unsigned left = io_uring_cq_ready(ring); left > 0;) {
    // Copied and given back before any callback runs: a callback may need room in the queue.
    std::array<io_uring_cqe*, kCompletionsPerBatch> entries;
    std::array<Completion, kCompletionsPerBatch> batch;
    const unsigned count = io_uring_peek_batch_cqe(ring, entries.data(),
                                                   std::min<unsigned>(left, kCompletionsPerBatch));
    for (unsigned i = 0; i < count; ++i) {
      batch[i] = {entries[i]->user_data, entries[i]->res, entries[i]->flags};
    }
    io_uring_cq_advance(ring, count);
    left -= count;
    for (unsigned i = 0; i < count; ++i) {
      const Completion& completion = batch[i];
      const SlotKey key = Unpack(completion.data);
      if (completion.data == kWake) {
        OnWake(completion);
        continue;
      }
      // The sender has taken the duty to wake it, and nobody else will.
      if (completion.data >= kWakeFailed && completion.data < kFirstKey) {
        EventLoop::WakeUpOther(*woken_[completion.data - kWakeFailed]);
        continue;
      }
      Op* const found = ops_.Find(key);
      if (found == nullptr) continue;
      ++ran;
      if (found->received) {
        RunReceived(key, completion);
      } else {
        ops_.Remove(key)->done(completion.result);
      }
    }
  }
  return ran;
}

void UringLoop::WakeUp() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

// From ring to ring: the entry goes out with the submission that ends this turn anyway.
void UringLoop::WakeUpOther(EventLoop& sleeper) {
  const int target = ring_->has_messages ? MessageRingFd(sleeper) : -1;
  if (target < 0) {
    EventLoop::WakeUpOther(sleeper);
    return;
  }
  io_uring_sqe* entry = Entry();
  io_uring_prep_msg_ring(entry, target, 0, kWakeMessage, 0);
  auto known = std::find(woken_.begin(), woken_.end(), &sleeper);
  if (known == woken_.end()) known = woken_.insert(known, &sleeper);
  io_uring_sqe_set_data64(entry, kWakeFailed + static_cast<uint64_t>(known - woken_.begin()));
  io_uring_sqe_set_flags(entry, IOSQE_CQE_SKIP_SUCCESS);
}

int UringLoop::message_ring_fd() const { return ring_->has_messages ? ring_->ring.ring_fd : -1; }

}  // namespace denselet::reactor
