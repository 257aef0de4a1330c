// A thousand small files of the kernel, read again and again: ours (kept-open descriptors, a
// bounded number a turn, on the shard) against a bare pread loop, and the ring beside both.
#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "bench/reactor/benches.h"
#include "reactor/batch_reader.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {
namespace {

using namespace reactor;

constexpr size_t kFiles = 1000;
constexpr int kRounds = 300;

// A thousand cgroups of our own, removed afterwards; where none may be made, a file of procfs a
// thousand times.
class Subjects {
 public:
  Subjects() {
    namespace fs = std::filesystem;
    for (const char* root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
      std::error_code error;
      const std::string parent =
          std::string(root) + "/denselet-bench-" + std::to_string(::getpid());
      if (!fs::create_directory(parent, error)) continue;
      folders_.push_back(parent);
      for (size_t i = 0; i < kFiles; ++i) {
        const std::string folder = parent + "/" + std::to_string(i);
        if (fs::create_directory(folder, error)) folders_.push_back(folder);
        for (const char* name : {"memory.usage_in_bytes", "memory.current", "cgroup.events"}) {
          if (!fs::exists(folder + "/" + name, error)) continue;
          paths_.push_back(folder + "/" + name);
          break;
        }
      }
      if (paths_.size() == kFiles) return;
      Remove();
    }
    paths_.assign(kFiles, "/proc/self/stat");
  }
  ~Subjects() { Remove(); }

  const std::vector<std::string>& paths() const { return paths_; }

 private:
  void Remove() {
    for (; !folders_.empty(); folders_.pop_back()) ::rmdir(folders_.back().c_str());
    paths_.clear();
  }
  std::vector<std::string> folders_, paths_;
};

double PerSecond(Duration took) {
  return static_cast<double>(kFiles) / (static_cast<double>(took.count()) / 1e9);
}

class Bare {
 public:
  explicit Bare(const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      fds_.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }

  double Pread() {
    const TimePoint begun = clock_.Now();
    for (const UniqueFd& fd : fds_) CHECK(::pread(fd.get(), buffer_.data(), buffer_.size(), 0) > 0);
    return PerSecond(clock_.Now() - begun);
  }

  double Ring() {
    io_uring ring;
    if (io_uring_queue_init(kFiles, &ring, 0) != 0) return 0;
    const TimePoint begun = clock_.Now();
    for (const UniqueFd& fd : fds_) {
      io_uring_prep_read(io_uring_get_sqe(&ring), fd.get(), buffer_.data(),
                         static_cast<unsigned>(buffer_.size()), 0);
    }
    io_uring_submit_and_wait(&ring, static_cast<unsigned>(fds_.size()));
    const double rate = PerSecond(clock_.Now() - begun);
    io_uring_queue_exit(&ring);
    return rate;
  }

 private:
  const RealClock clock_;
  std::vector<UniqueFd> fds_;
  std::array<char, 8192> buffer_;
};

class Ours {
 public:
  Ours(Shards& shards, BlockingPool& pool, const std::vector<std::string>& paths)
      : shards_(shards) {
    shards.RunAndWait(0, [&](Shard& shard) {
      reader_ = std::make_unique<BatchReader>(shard, pool);
      for (const std::string& path : paths) {
        files_.push_back(*reader_->Add(path, FileForm::kOneRecord));
      }
    });
    Read();  // opens them
  }
  ~Ours() {
    std::latch stopped(1);
    shards_.RunAndWait(0, [&](Shard&) { reader_->Stop([&] { stopped.count_down(); }); });
    stopped.wait();
    shards_.RunAndWait(0, [&](Shard&) { reader_.reset(); });
  }

  double Read() {
    TimePoint begun, ended;
    std::latch done(1);
    shards_.RunAndWait(0, [&](Shard&) {
      begun = clock_.Now();
      reader_->ReadAll({}, files_, [&](const BatchReader::Batch& batch) {
        for (const BatchReader::Reading& reading : batch.readings) CHECK(reading.content);
        if (batch.kind != BatchReader::Batch::Kind::kLast) return;
        ended = clock_.Now();
        done.count_down();
      });
    });
    done.wait();
    return PerSecond(ended - begun);
  }

 private:
  const RealClock clock_;
  Shards& shards_;
  std::unique_ptr<BatchReader> reader_;
  std::vector<BatchFileId> files_;
};

void Measure(Report& report, Backend backend, Bare& bare, const std::vector<std::string>& paths) {
  const RealClock clock;
  auto shards = Shards::Start({.count = 1, .backend = backend}, clock);
  if (!shards) return;
  BlockingPool pool(clock);
  {
    Ours reader(**shards, pool, paths);
    std::vector<double> ours, pread, ring;
    // On the same thread, so that all have the same core and the same neighbours; in changing
    // order, so that none always finds the caches warmed by the other.
    const auto read_bare = [&] {
      (*shards)->RunAndWait(0, [&](Shard&) { pread.push_back(bare.Pread()); });
    };
    for (int round = 0; round < kRounds; ++round) {
      if (round % 2 == 0) read_bare();
      ours.push_back(reader.Read());
      if (round % 2 != 0) read_bare();
    }
    // Apart from the others: a ring that ends leaves work behind for the kernel's threads.
    for (int round = 0; round < kRounds && backend == Backend::kUring; ++round) {
      (*shards)->RunAndWait(0, [&](Shard&) { ring.push_back(bare.Ring()); });
    }
    const std::string suffix = backend == Backend::kUring ? "" : "_epoll";
    const std::string name = ", " + std::string(BackendName(backend));
    report.Ratio("cgroup_batch_vs_pread" + suffix, "1000 cgroup files" + name,
                 Percentile(ours, 0.5), Percentile(pread, 0.5), "reads/s", 0.95);
    if (backend == Backend::kUring) {
      report.Ratio("cgroup_ring_vs_pread", "the same through a bare ring (not used)",
                   Percentile(ring, 0.5), Percentile(pread, 0.5), "reads/s", 0);
    }
  }
  pool.Stop();
}

}  // namespace

void BenchCgroupReads(Report& report) {
  const Subjects subjects;
  Bare bare(subjects.paths());
  Measure(report, Backend::kUring, bare, subjects.paths());
  Measure(report, Backend::kEpoll, bare, subjects.paths());
}

}  // namespace denselet::bench
