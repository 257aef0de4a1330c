// Keeps a log and a replaced file on a disk that fails, takes too long and loses power: what was
// synced is there afterwards, a replaced file is one of its versions, never a part, and an older
// one only where its outcome was unknown.
#include <cstdlib>
#include <set>
#include <string>

#include "tests/sim/scenario.h"
#include "tests/sim/sim_file_system.h"

namespace denselet::sim {
namespace {

constexpr char kLog[] = "/log";
constexpr char kReplaced[] = "/state";
constexpr size_t kBytesMax = 1 << 24;

class FileActor final : public Actor {
 public:
  explicit FileActor(World& world) : world_(world), files_(world.loop(0), world.random(), disk_) {
    disk_.faults() = {.delay_max = Milliseconds(8), .error = 0.02};
    OpenLog();
    Replace();
    ScheduleCrash();
  }

  void Finish() override {
    finishing_ = true;
    disk_.faults() = {};
  }

  void Check(std::vector<std::string>& problems) const override {
    problems.insert(problems.end(), problems_.begin(), problems_.end());
    if (crashes_ == 0) problems.push_back("the disk never lost power: the scenario is too tame");
    if (synced_records_ == 0) problems.push_back("nothing was ever synced");
    if (unknown_outcomes_ == 0) problems.push_back("no outcome was ever unknown");
  }

 private:
  // Work of before the crash finds a newer generation and ends.
  bool Stale(uint64_t generation) const { return generation != crashes_ || finishing_; }

  void OpenLog() {
    files_.Open({}, kLog, reactor::OpenMode::kAppend, 0600,
                [this, generation = crashes_](Result<reactor::FileId> file) {
                  if (Stale(generation)) return;
                  CHECK(file);
                  log_ = *file;
                  SyncName();
                });
  }

  // Until its name is safe, nothing in the log is.
  void SyncName() {
    files_.SyncDirectory({}, "/", [this, generation = crashes_](Result<Unit> synced) {
      if (Stale(generation)) return;
      if (!synced) return SyncName();
      AppendRecord();
    });
  }

  void AppendRecord() {
    const std::string record = "record " + std::to_string(records_) + "\n";
    files_.Append({}, log_, record, [this, generation = crashes_](Result<Unit> appended) {
      if (Stale(generation)) return;
      if (appended) ++records_;
      if (world_.random().Below(4) != 0) return AppendRecord();
      SyncLog();
    });
  }

  void SyncLog() {
    files_.Sync({}, log_, [this, generation = crashes_, records = records_](Result<Unit> synced) {
      if (Stale(generation)) return;
      if (synced) synced_records_ = records;
      AppendRecord();
    });
  }

  void Replace() {
    const uint64_t version = ++version_;
    Context context;
    if (world_.random().Below(4) == 0) {
      context.deadline = world_.loop(0).Now() + Milliseconds(1);
      // Known by the time it takes effect, and a crash leaves no answer.
      unknown_versions_.insert(version);
    }
    files_.ReplaceFile(context, kReplaced, Content(version), 0600, reactor::Durability::kSynced,
                       [this, generation = crashes_, version](Result<Unit> done) {
                         if (Stale(generation)) return;
                         if (done) synced_version_ = version;
                         if (!done && done.error().code() == ErrorCode::kUnknownOutcome) {
                           ++unknown_outcomes_;
                         } else {
                           unknown_versions_.erase(version);
                         }
                         world_.Note("replaced " + std::to_string(version));
                         Replace();
                       });
  }

  void ScheduleCrash() {
    const auto pause = Milliseconds(50 + static_cast<int64_t>(world_.random().Below(500)));
    world_.Later(pause, [this] {
      if (finishing_) return;
      ++crashes_;
      disk_.Crash(world_.random());
      world_.Note("crash");
      Verify();
      OpenLog();
      Replace();
      ScheduleCrash();
    });
  }

  void Verify() {
    // Torn tails are allowed; everything up to the last sync must be there, in order.
    std::string expected;
    for (uint64_t i = 0; i < synced_records_; ++i) expected += "record " + std::to_string(i) + "\n";
    const Result<std::string> log = disk_.ReadFile(kLog, kBytesMax);
    if (synced_records_ > 0 && (!log || !log->starts_with(expected))) {
      problems_.push_back("synced records are missing after a crash");
    }
    // A reader of the log drops the torn tail; so does this one.
    records_ = synced_records_;
    if (log) (void)disk_.ReplaceFile(kLog, expected, 0600, reactor::Durability::kSynced, {});
    const Result<std::string> state = disk_.ReadFile(kReplaced, kBytesMax);
    if (synced_version_ > 0 && !state)
      problems_.push_back("a synced file is missing after a crash");
    if (state) VerifyVersion(*state);
  }

  void VerifyVersion(const std::string& content) {
    const uint64_t version = std::strtoull(content.c_str(), nullptr, 10);
    if (content != Content(version)) {
      problems_.push_back("a replaced file is no version of itself");
    } else if (version < synced_version_ && !unknown_versions_.contains(version)) {
      problems_.push_back("a replaced file is older than what was synced");
    }
    // What was under way died with the power: from here on it is this one or newer.
    synced_version_ = version;
    unknown_versions_.clear();
  }

  static std::string Content(uint64_t version) {
    return std::to_string(version) + std::string(1 + version % 100, 'v');
  }

  World& world_;
  Disk disk_;
  SimFileSystem files_;
  reactor::FileId log_;
  uint64_t crashes_ = 0, records_ = 0, synced_records_ = 0, version_ = 0, synced_version_ = 0;
  uint64_t unknown_outcomes_ = 0;
  std::set<uint64_t> unknown_versions_;  // may take effect at any time, until the power goes
  bool finishing_ = false;
  std::vector<std::string> problems_;
};

}  // namespace

std::unique_ptr<Actor> MakeFileActor(World& world) { return std::make_unique<FileActor>(world); }

}  // namespace denselet::sim
