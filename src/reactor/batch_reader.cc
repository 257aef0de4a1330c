#include "reactor/batch_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace denselet::reactor {

// One ReadAll under way. Owned by the task or answer that will take the next step.
struct BatchReader::Round {
  Context context;
  std::vector<BatchFileId> files;
  OnBatch on_batch;
  Gate::Pass pass;
  size_t next = 0;                        // in files
  std::vector<BatchFileId> to_open = {};  // when all others have been read
  bool opening = false;                   // files are those to open: what they say is final

  // All that were asked for and have had no reading.
  std::vector<BatchFileId> Unread() const {
    std::vector<BatchFileId> unread(files.begin() + static_cast<ptrdiff_t>(next), files.end());
    unread.insert(unread.end(), to_open.begin(), to_open.end());
    return unread;
  }
};

namespace {

// How a file is read, in one place: to be measured against the ring. The bytes, or -errno.
ssize_t ReadWhole(int fd, FileForm form, std::span<char> into) {
  size_t size = 0;
  while (size < into.size()) {
    const ssize_t got =
        ::pread(fd, into.data() + size, into.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    size += static_cast<size_t>(got);
    if (got == 0 || form == FileForm::kOneRecord) break;
  }
  return static_cast<ssize_t>(size);
}

constexpr size_t kReadsPerClock = 8;

// What kernfs says of a removed cgroup, procfs of an ended process.
bool Vanished(ssize_t result) { return result == -ENODEV || result == -ENOENT || result == -ESRCH; }

Result<UniqueFd> OpenToRead(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return Error::FromErrno(errno, "read \"" + path + "\"");
  return fd;
}

// Why what ReadWhole got is not a reading.
Error Unreadable(ssize_t got, const std::string& path) {
  if (Vanished(got)) return Error(ErrorCode::kNotFound, "vanished").With("read", path);
  if (got < 0) return Error::FromErrno(static_cast<int>(-got), "read \"" + path + "\"");
  return Error(ErrorCode::kOverloaded, "more than " + std::to_string(got - 1) + " bytes")
      .With("read", path);
}

std::optional<Error> Ended(const Context& context, TimePoint now) {
  if (context.cancel.cancelled()) return Error(ErrorCode::kCancelled, "cancelled before the read");
  if (context.Expired(now)) {
    return Error(ErrorCode::kDeadlineExceeded, "the deadline passed before the read");
  }
  return std::nullopt;
}

}  // namespace

BatchReader::BatchReader(Shard& home, BlockingPool& pool, const BatchReaderOptions& options)
    : home_(home),
      pool_(pool),
      options_(options),
      files_(options.files_max),
      buffers_(std::make_unique<char[]>(options.reads_per_turn_max * (options.bytes_max + 1))),
      gate_(home.loop()) {
  CHECK(options.reads_per_turn_max > 0);
}

Result<BatchFileId> BatchReader::Add(std::string path, FileForm form) {
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalid, "the path has a NUL byte").With("read", path.c_str());
  }
  const std::optional<SlotKey> key = files_.Insert({std::move(path), form, {}});
  if (!key) return Error(ErrorCode::kOverloaded, "read: too many files are kept open");
  return BatchFileId{*key};
}

void BatchReader::Remove(BatchFileId file) { files_.Remove(file.key); }

void BatchReader::ReadAll(Context context, std::vector<BatchFileId> files, OnBatch on_batch) {
  const bool full = gate_.inside() >= options_.read_alls_max;
  std::optional<Gate::Pass> pass = full ? std::nullopt : gate_.Enter();
  if (!pass) {
    const Error error = full ? Error(ErrorCode::kOverloaded, "too many batches are being read")
                             : Error(ErrorCode::kCancelled, "the batch reader has stopped");
    return home_.loop().Post(
        [error, files = std::move(files), on_batch = std::move(on_batch)]() mutable {
          FailAll(files, error, on_batch);
        });
  }
  PostStep(std::make_unique<Round>(
      Round{std::move(context), std::move(files), std::move(on_batch), std::move(*pass)}));
}

void BatchReader::FailAll(std::span<const BatchFileId> files, const Error& error,
                          OnBatch& on_batch) {
  std::vector<Reading> readings;
  readings.reserve(files.size());
  for (const BatchFileId file : files) readings.push_back({file, error});
  on_batch({readings, Batch::Kind::kLast});
}

void BatchReader::PostStep(std::unique_ptr<Round> round) {
  home_.loop().Post([this, round = std::move(round)]() mutable { Step(std::move(round)); });
}

void BatchReader::Step(std::unique_ptr<Round> round) {
  const ActivityScope scope(home_.loop().activity(), "read batch");
  if (const std::optional<Error> error = Ended(round->context, home_.loop().Now())) {
    return FailAll(round->Unread(), *error, round->on_batch);
  }
  std::vector<ToOpen> missing;
  if (round->opening) missing = Missing(NextPart(*round));
  if (missing.empty()) return ReadPart(std::move(round), {});
  OpenThenRead(std::move(round), std::move(missing));
}

std::span<const BatchFileId> BatchReader::NextPart(const Round& round) const {
  const size_t left = round.files.size() - round.next;
  return std::span(round.files).subspan(round.next, std::min(left, options_.reads_per_turn_max));
}

std::vector<BatchReader::ToOpen> BatchReader::Missing(std::span<const BatchFileId> files) const {
  std::vector<ToOpen> missing;
  for (const BatchFileId id : files) {
    const File* const file = files_.Find(id.key);
    if (file != nullptr && !file->fd) missing.push_back({id, file->path});
  }
  return missing;
}

void BatchReader::OpenThenRead(std::unique_ptr<Round> round, std::vector<ToOpen> missing) {
  const Context context = round->context;
  BlockingCall call("open", missing.front().path);
  pool_.Run<std::vector<Opened>>(
      home_, context, std::move(call),
      [missing = std::move(missing)]() -> Result<std::vector<Opened>> {
        std::vector<Opened> opened;
        for (const ToOpen& file : missing) opened.push_back({file.id, OpenToRead(file.path)});
        return opened;
      },
      [this, round = std::move(round)](Result<std::vector<Opened>> opened) mutable {
        HaveOpened(std::move(round), std::move(opened));
      });
}

void BatchReader::HaveOpened(std::unique_ptr<Round> round, Result<std::vector<Opened>> opened) {
  const ActivityScope scope(home_.loop().activity(), "read batch");
  // Whether the files were opened or not is of no interest to who did not wait for it.
  if (const std::optional<Error> error = Ended(round->context, home_.loop().Now())) {
    return FailAll(round->Unread(), *error, round->on_batch);
  }
  std::vector<Refused> refused;
  if (opened) {
    for (Opened& one : *opened) {
      if (!one.fd) refused.push_back({one.id, one.fd.error()});
      File* const file = files_.Find(one.id.key);
      if (one.fd && file != nullptr && !file->fd) file->fd = std::move(*one.fd);
    }
  } else {
    for (const ToOpen& file : Missing(NextPart(*round))) {
      refused.push_back({file.id, opened.error()});
    }
  }
  ReadPart(std::move(round), refused);
}

void BatchReader::ReadPart(std::unique_ptr<Round> round, std::span<const Refused> refused) {
  readings_.clear();
  buffers_used_ = 0;
  const EventLoop& loop = home_.loop();
  const TimePoint enough = After(loop.ReadClock(), options_.reading_per_turn_max);
  size_t read = 0;
  for (const BatchFileId id : NextPart(*round)) {
    // The clock costs a tenth of a read: now and then is often enough.
    if (read % kReadsPerClock == 0 && read != 0 && loop.ReadClock() > enough) break;
    Read(*round, id, refused);
    ++read;
  }
  round->next += read;
  if (round->next == round->files.size() && !round->to_open.empty()) {
    round->files = std::exchange(round->to_open, {});
    round->next = 0;
    round->opening = true;
  }
  const bool last = round->next == round->files.size();
  if (last || !readings_.empty()) {
    round->on_batch({readings_, last ? Batch::Kind::kLast : Batch::Kind::kMoreFollow});
  }
  if (!last) PostStep(std::move(round));
}

void BatchReader::Read(Round& round, BatchFileId id, std::span<const Refused> refused) {
  File* const file = files_.Find(id.key);
  if (file == nullptr) {
    readings_.push_back({id, Error(ErrorCode::kNotFound, "the file was removed from the batch")});
    return;
  }
  const auto no = std::find_if(refused.begin(), refused.end(),
                               [id](const Refused& other) { return other.id == id; });
  if (no != refused.end()) {
    readings_.push_back({id, no->error});
    return;
  }
  // Packed one behind the other: most files are a few bytes, and what is read stays in the cache.
  const std::span<char> buffer(buffers_.get() + buffers_used_, options_.bytes_max + 1);
  const ssize_t got = file->fd ? ReadWhole(file->fd.get(), file->form, buffer) : -ENODEV;
  if (Vanished(got)) {
    file->fd.Reset();
    if (!round.opening) return round.to_open.push_back(id);
  }
  if (got < 0 || static_cast<size_t>(got) == buffer.size()) {
    readings_.push_back({id, Unreadable(got, file->path)});
    return;
  }
  const auto size = static_cast<size_t>(got);
  buffers_used_ += size;
  readings_.emplace_back(id, std::string_view(buffer.data(), size));
}

}  // namespace denselet::reactor
