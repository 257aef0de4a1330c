// The journal on a disk that fails, fills up, turns read-only, and loses power at any step: what
// was told to be durable is there after every restart, in order, and nothing is there that was not
// appended. Damage by chance is another matter (tests/sync/journal): here nobody flips bits of what
// was synced.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sync/journal/journal.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/journal/lying_file_system.h"
#include "tests/sim/seeds.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

// The second is known to later agents only.
constexpr uint16_t kPut = 1, kLater = 900;
constexpr uint64_t kKeys = 12;

// Keys with versions, as admissions of pods are: the newest of a key counts.
using Values = std::map<uint64_t, uint64_t>;

uint64_t VersionIn(const Values& values, uint64_t key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : found->second;
}

class Book final : public JournalUser {
 public:
  void OnRecord(const JournalRecordView& record) override {
    if (record.type == kLater) {
      ++later;
      return;
    }
    const std::string text(record.payload);
    const uint64_t key = std::stoull(text);
    const uint64_t version = std::stoull(text.substr(text.find(' ') + 1));
    if (version < VersionIn(values, key)) went_back = true;
    values[key] = version;
  }
  void WriteLive(JournalSnapshot& out) override {
    for (const auto& [key, version] : values) out.Add(kPut, 1, Text(key, version));
    for (uint64_t i = 0; i < later; ++i) out.Add(kLater, 3, "later");
  }
  static std::string Text(uint64_t key, uint64_t version) {
    return std::to_string(key) + " " + std::to_string(version) + " " +
           std::string(version % 50, 'p');
  }

  Values values;
  uint64_t later = 0;
  bool went_back = false;
};

class JournalRun {
 public:
  explicit JournalRun(uint64_t seed, sim::Lie lie = sim::Lie::kNone)
      : world_({.seed = seed, .shards = 1}), lying_(world_.loop(0), files_, lie) {
    Random& random = world_.random();
    disk_.faults() = {
        .delay_max = Milliseconds(6), .error = random.Below(3) == 0 ? 0.08 : 0.01, .garble = 0.5};
    options_.directory = "/var/journal";
    options_.compact_bytes_min = 300 + random.Below(2000);
    options_.compact_ratio = 2;
    options_.segment_bytes_max = 500 + random.Below(3000);
    options_.batch_bytes_max = 100 + random.Below(1000);
    options_.files_max = 8;
    options_.backoff_max = Milliseconds(500);
    Start();
  }

  void Run() {
    for (int step = 0; step < 3000 && problem_.empty(); ++step) Step();
    // In peace everything becomes durable.
    disk_.faults() = {.delay_max = Milliseconds(1)};
    world_.RunUntil(world_.clock().Now() + Minutes(1));
    if (!opened_) return Fail("not open after a minute of peace");
    if (journal_->state().stage != JournalState::Stage::kIdle) Fail("not idle in peace");
    LookForSnapshot();
    if (in_trouble_) Fail("damage is not left behind in peace");
    if (durable_ != book_->values) Fail("not all that was appended is durable in peace");
    if (journal_->state().files > options_.files_max) Fail("too many files");
    Restart(Power::kLost);
    world_.RunUntil(world_.clock().Now() + Minutes(1));
    if (!opened_) Fail("not open at the end");
  }

  const std::string& problem() const { return problem_; }
  uint64_t restarts() const { return restarts_; }
  uint64_t compactions() const { return compactions_; }
  uint64_t told() const { return told_; }
  uint64_t failures() const { return failures_; }

 private:
  void Fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }

  void Start() {
    book_ = std::make_unique<Book>();
    opened_ = false;
    is_later_ = world_.random().Below(2) == 0;
    std::vector<JournalKind> kinds = {{kPut, 1, book_.get()}};
    if (is_later_) kinds.push_back({kLater, 3, book_.get()});
    journal_ = std::make_unique<Journal>(world_.loop(0), lying_, world_.random(), Logger(output_),
                                         options_, std::move(kinds));
    journal_->Open([this](const JournalReport& report) { OnOpened(report); });
  }

  void OnOpened(const JournalReport& report) {
    opened_ = true;
    if (book_->went_back) Fail("an older version came after a newer one");
    for (const auto& [key, version] : durable_) {
      const uint64_t there = VersionIn(book_->values, key);
      if (there >= version) continue;
      Fail("key " + std::to_string(key) + ": " + std::to_string(version) + " was durable, " +
           std::to_string(there) + " is there");
    }
    for (const auto& [key, version] : book_->values) {
      if (version > VersionIn(appended_, key)) Fail("a record that nobody appended");
    }
    const uint64_t later = is_later_ ? book_->later : report.foreign_records;
    if (later < later_durable_) Fail("records of a later agent were lost");
    if (later > later_appended_) Fail("records of a later agent were invented");
    appended_ = book_->values;
    later_appended_ = later;
    // What is read counts from now on: it is on the disk. Where trouble was told, it may be in what
    // only this start could read; a snapshot makes it safe, and soon.
    in_trouble_ = !report.troubles.empty();
    read_ = book_->values;
    later_read_ = later;
    if (!in_trouble_) CountWhatWasRead();
  }

  void CountWhatWasRead() {
    for (const auto& [key, version] : read_) {
      durable_[key] = std::max(VersionIn(durable_, key), version);
    }
    later_durable_ = std::max(later_durable_, later_read_);
  }

  void LookForSnapshot() {
    if (!opened_ || !in_trouble_ || journal_->state().compactions == 0) return;
    in_trouble_ = false;
    CountWhatWasRead();
  }

  enum class Power : bool { kKept, kLost };

  void Restart(Power power) {
    ++restarts_;
    compactions_ += journal_->state().compactions;
    journal_.reset();
    if (power == Power::kKept) {
      // Calls that a killed process has made end before it is gone.
      world_.RunUntil(world_.clock().Now() + Milliseconds(100));
      return Start();
    }
    disk_.Crash(world_.random());
    Start();
  }

  void AppendOne() {
    if (!opened_) return;
    Random& random = world_.random();
    if (is_later_ && random.Below(40) == 0) {
      const auto durable = [this, now = restarts_] { later_durable_ += now == restarts_ ? 1 : 0; };
      if (!journal_->Append(kLater, 3, "later", durable)) return;
      ++later_appended_;
      ++book_->later;
      return;
    }
    const uint64_t key = random.Below(kKeys);
    const uint64_t version = ++next_version_;
    const Status taken =
        journal_->Append(kPut, 1, Book::Text(key, version), [this, key, version, now = restarts_] {
          if (now != restarts_) return Fail("a dead journal told somebody");
          if (version < VersionIn(durable_, key)) Fail("told out of order");
          durable_[key] = version;
          ++told_;
        });
    if (!taken) return;
    book_->values[key] = version;
    appended_[key] = version;
  }

  void Step() {
    Random& random = world_.random();
    for (uint64_t i = random.Below(3); i > 0; --i) AppendOne();
    for (uint64_t i = random.Below(8); i > 0; --i) world_.Step();
    LookForSnapshot();
    if (journal_->state().stage == JournalState::Stage::kPausing) ++failures_;
    const uint64_t event = random.Below(300);
    if (event == 0) disk_.faults().bytes_max = 500 + random.Below(3000);
    if (event == 1) disk_.faults().read_only = true;
    if (event >= 2 && event < 8) {
      disk_.faults().bytes_max = UINT64_MAX;
      disk_.faults().read_only = false;
    }
    if (event >= 8 && event < 14) Restart(event % 2 == 0 ? Power::kLost : Power::kKept);
  }

  sim::World world_;
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  sim::LyingFileSystem lying_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  JournalOptions options_;
  std::unique_ptr<Book> book_;
  std::unique_ptr<Journal> journal_;
  bool opened_ = false;
  bool in_trouble_ = false;  // what was read may not be safe yet
  bool is_later_ = false;    // knows kLater
  Values durable_, appended_, read_;
  uint64_t later_durable_ = 0, later_appended_ = 0, later_read_ = 0;
  uint64_t next_version_ = 0, restarts_ = 0, compactions_ = 0, told_ = 0, failures_ = 0;
  std::string problem_;
};

TEST(JournalSim, WhatWasDurableIsThereAfterEveryRestart) {
  uint64_t restarts = 0, compactions = 0, told = 0, failures = 0;
  for (const uint64_t seed : sim::Seeds(60)) {
    SCOPED_TRACE("DENSELET_SIM_SEED=" + std::to_string(seed));
    JournalRun run(seed);
    run.Run();
    ASSERT_EQ(run.problem(), "");
    restarts += run.restarts();
    compactions += run.compactions();
    told += run.told();
    failures += run.failures();
  }
  // Otherwise the scenario is too tame to show anything.
  EXPECT_GT(restarts, 5u);
  EXPECT_GT(compactions, 5u);
  EXPECT_GT(told, 100u);
  EXPECT_GT(failures, 5u);
}

TEST(JournalSim, AForgottenCallIsNoticed) {
  constexpr uint64_t kSeedsMax = 200;
  for (const sim::Lie lie :
       {sim::Lie::kSync, sim::Lie::kSyncDirectory, sim::Lie::kReplaceSynced, sim::Lie::kAppend}) {
    bool noticed = false;
    for (uint64_t seed = 1; seed <= kSeedsMax && !noticed; ++seed) {
      JournalRun run(seed, lie);
      run.Run();
      noticed = !run.problem().empty();
    }
    EXPECT_TRUE(noticed) << static_cast<int>(lie);
  }
}

}  // namespace
}  // namespace denselet::sync
