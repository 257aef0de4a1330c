#include "sync/journal/journal.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

constexpr uint16_t kType = 1;
constexpr char kDirectory[] = "/journal";
using Stage = JournalState::Stage;

// Keeps the last `live_max` payloads.
class Keeper final : public JournalUser {
 public:
  void OnRecord(const JournalRecordView& record) override { Keep(std::string(record.payload)); }
  void WriteLive(JournalSnapshot& out) override {
    for (const std::string& payload : live) out.Add(kType, 1, payload);
  }
  void Keep(std::string payload) {
    live.push_back(std::move(payload));
    if (live.size() > live_max) live.erase(live.begin());
  }

  size_t live_max = SIZE_MAX;
  std::vector<std::string> live;
};

class JournalTest : public testing::Test {
 protected:
  JournalTest() { options_.directory = kDirectory; }

  // As a new process of the agent would.
  void Restart(uint16_t version_max = 1) {
    journal_.reset();
    keeper_ = {};
    keeper_.live_max = live_max_;
    journal_ = std::make_unique<Journal>(world_.loop(0), files_, world_.random(), Logger(output_),
                                         options_,
                                         std::vector<JournalKind>{{kType, version_max, &keeper_}});
    opened_.reset();
    journal_->Open([this](const JournalReport& report) { opened_ = report; });
  }
  void Run(Duration d = Seconds(1)) { world_.RunUntil(world_.clock().Now() + d); }
  void RestartAndRun(uint16_t version_max = 1) {
    Restart(version_max);
    Run();
    ASSERT_TRUE(opened_);
  }
  Status Append(const std::string& payload, uint16_t type = kType, uint16_t version = 1) {
    if (type == kType && version == 1) keeper_.Keep(payload);
    return journal_->Append(type, version, payload, [this, payload] { durable_ += payload + " "; });
  }
  void Crash() { disk_.Crash(world_.random()); }
  std::string Live() const {
    std::string text;
    for (const std::string& payload : keeper_.live) text += payload + " ";
    return text;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const auto entries = disk_.List(kDirectory, 1000);
    if (!entries) return names;
    for (const auto& entry : *entries) names.push_back(entry.name);
    return names;
  }
  std::string& Content(const std::string& name) {
    return (*disk_.Open(std::string(kDirectory) + "/" + name, reactor::OpenMode::kAppend, 0, {}))
        ->content;
  }

  sim::World world_{{.seed = 11, .shards = 1}};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  JournalOptions options_;
  size_t live_max_ = SIZE_MAX;
  Keeper keeper_;
  std::unique_ptr<Journal> journal_;
  std::optional<JournalReport> opened_;
  std::string durable_;
};

TEST_F(JournalTest, AnEmptyOneOpensAndMakesNothing) {
  RestartAndRun();
  EXPECT_EQ(opened_->records, 0u);
  EXPECT_TRUE(opened_->troubles.empty());
  EXPECT_TRUE(Names().empty());
  EXPECT_EQ(journal_->state().stage, Stage::kIdle);
}

TEST_F(JournalTest, WhatWasToldToBeDurableSurvivesAPowerCut) {
  RestartAndRun();
  ASSERT_TRUE(Append("a"));
  ASSERT_TRUE(Append("b"));
  EXPECT_EQ(durable_, "");
  Run();
  EXPECT_EQ(durable_, "a b ");
  Crash();
  RestartAndRun();
  EXPECT_EQ(Live(), "a b ");
  EXPECT_EQ(opened_->records, 2u);
}

TEST_F(JournalTest, RecordsOfOneTurnAreOneWrite) {
  disk_.faults().delay_max = Milliseconds(0);
  RestartAndRun();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Append(std::to_string(i)));
  // A turn to write, then: directory, parent, open, append, sync, name. All are told together.
  while (durable_.empty()) ASSERT_TRUE(world_.Step());
  EXPECT_EQ(std::count(durable_.begin(), durable_.end(), ' '), 100);
}

TEST_F(JournalTest, WhatIsAppendedWhileAWriteIsUnderWayGoesWithTheNext) {
  RestartAndRun();
  ASSERT_TRUE(Append("a"));
  world_.Step();
  ASSERT_TRUE(Append("b"));
  ASSERT_TRUE(Append("c"));
  EXPECT_EQ(journal_->state().stage, Stage::kWriting);
  Run();
  EXPECT_EQ(durable_, "a b c ");
  EXPECT_EQ(Names().size(), 1u);
}

TEST_F(JournalTest, AppendIsRefusedBeforeItIsOpenAndBeyondItsBounds) {
  options_.pending_records_max = 3;
  Restart();
  EXPECT_EQ(journal_->Append(kType, 1, "x", nullptr).error().code(), ErrorCode::kUnavailable);
  Run();
  const std::string large(kJournalPayloadBytesMax + 1, 'x');
  EXPECT_EQ(journal_->Append(kType, 1, large, nullptr).error().code(), ErrorCode::kInvalid);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Append("x"));
  EXPECT_EQ(journal_->Append(kType, 1, "x", nullptr).error().code(), ErrorCode::kOverloaded);
  Run();
  EXPECT_TRUE(Append("x"));
}

TEST_F(JournalTest, AFullDiskIsToldAndNothingThatWasDurableIsLost) {
  RestartAndRun();
  ASSERT_TRUE(Append("safe"));
  Run();
  disk_.faults().bytes_max = 100;
  ASSERT_TRUE(Append("waits"));
  Run(Seconds(20));
  EXPECT_EQ(durable_, "safe ");
  EXPECT_EQ(journal_->state().stage, Stage::kPausing);
  EXPECT_GT(journal_->state().failures, 3u);
  EXPECT_NE(journal_->state().last_error->message().find("No space left on device"),
            std::string::npos)
      << journal_->state().last_error->message();
  EXPECT_LE(Names().size(), 3u) << "failed segments are removed again";
  const std::string told = sink_.Take();
  EXPECT_EQ(told.find("Could not write the journal"), told.rfind("Could not write the journal"));
  disk_.faults().bytes_max = UINT64_MAX;
  Run(Minutes(1));
  EXPECT_EQ(durable_, "safe waits ");
  EXPECT_NE(sink_.Take().find("Journal was written again"), std::string::npos);
  EXPECT_EQ(journal_->state().stage, Stage::kIdle);
  Crash();
  RestartAndRun();
  EXPECT_EQ(Live(), "safe waits ");
}

TEST_F(JournalTest, AReadOnlyDiskIsToldAndWhatIsThereIsRead) {
  RestartAndRun();
  ASSERT_TRUE(Append("safe"));
  Run();
  disk_.faults().read_only = true;
  RestartAndRun();
  EXPECT_EQ(Live(), "safe ");
  ASSERT_TRUE(Append("waits"));
  Run(Seconds(10));
  EXPECT_EQ(journal_->state().stage, Stage::kPausing);
  EXPECT_EQ(journal_->state().last_error->code(), ErrorCode::kPermission);
  disk_.faults().read_only = false;
  Run(Minutes(1));
  EXPECT_EQ(durable_, "safe waits ");
}

TEST_F(JournalTest, CompactionKeepsWhatCountsAndRemovesTheRest) {
  options_.compact_bytes_min = 4096;
  live_max_ = 5;
  RestartAndRun();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(Append("record-" + std::to_string(i)));
    Run(Milliseconds(100));
  }
  Run();
  EXPECT_GT(journal_->state().compactions, 2u);
  EXPECT_LT(journal_->state().bytes, 3 * 4096u);
  EXPECT_LE(Names().size(), 2u);
  const std::string live = Live();
  Crash();
  RestartAndRun();
  std::string all = Live();
  EXPECT_TRUE(all.ends_with(live)) << all;
}

TEST_F(JournalTest, AppendsGoOnWhileASnapshotIsWritten) {
  options_.compact_bytes_min = 1;
  options_.compact_ratio = 1;
  RestartAndRun();
  ASSERT_TRUE(Append("first"));
  while (!journal_->state().compacting) ASSERT_TRUE(world_.Step());
  ASSERT_TRUE(Append("second"));
  Run();
  EXPECT_EQ(durable_, "first second ");
  Crash();
  RestartAndRun();
  EXPECT_EQ(Live(), "first second ");
}

TEST_F(JournalTest, ALiveSetThatIsTooLargeIsToldAndNothingIsRemoved) {
  options_.compact_bytes_min = 700;
  options_.file_bytes_max = 600;
  RestartAndRun();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Append(std::string(20, 'x')));
    Run(Milliseconds(50));
  }
  Run(Seconds(5));
  ASSERT_TRUE(journal_->state().compaction_error);
  EXPECT_EQ(journal_->state().compaction_error->code(), ErrorCode::kOverloaded);
  EXPECT_EQ(journal_->state().compactions, 0u);
  EXPECT_EQ(journal_->state().stage, Stage::kIdle);
}

TEST_F(JournalTest, RecordsOfALaterAgentAreKeptThroughCompaction) {
  RestartAndRun();
  ASSERT_TRUE(Append("later type", 900));
  ASSERT_TRUE(Append("later version", kType, 2));
  ASSERT_TRUE(Append("known"));
  Run();
  options_.compact_bytes_min = 1;
  options_.compact_ratio = 1;
  RestartAndRun();
  EXPECT_EQ(Live(), "known ");
  EXPECT_EQ(opened_->foreign_records, 2u);
  ASSERT_TRUE(Append("more"));
  Run(Seconds(5));
  EXPECT_GT(journal_->state().compactions, 0u);
  EXPECT_EQ(Names().size(), 1u) << "all that there is, is the snapshot";
  options_ = {.directory = kDirectory};
  RestartAndRun(/*version_max=*/2);
  EXPECT_EQ(Live(), "later version known more ");
  EXPECT_EQ(opened_->foreign_records, 1u);
}

TEST_F(JournalTest, ForeignRecordsHaveABound) {
  RestartAndRun();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Append(std::string(100, 'f'), 900));
  Run();
  options_.foreign_bytes_max = 350;
  RestartAndRun();
  EXPECT_EQ(opened_->foreign_records, 3u);
  EXPECT_EQ(opened_->records, 0u);
  EXPECT_EQ(journal_->state().foreign_dropped, 7u);
  EXPECT_NE(sink_.Take().find("Records of the journal were dropped"), std::string::npos);
}

TEST_F(JournalTest, DamageIsToldAndLeftBehindByASnapshot) {
  RestartAndRun();
  for (const char* payload : {"one", "two", "three"}) ASSERT_TRUE(Append(payload));
  Run();
  std::string& content = Content(Names()[0]);
  content[content.find("two")] = '?';
  content += "torn";
  RestartAndRun();
  EXPECT_EQ(Live(), "one three ");
  ASSERT_EQ(opened_->troubles.size(), 2u);
  EXPECT_EQ(opened_->troubles[0].file, "segment-000000000001");
  EXPECT_NE(sink_.Take().find("not as it should be"), std::string::npos);
  Run();
  RestartAndRun();
  EXPECT_EQ(Live(), "one three ");
  EXPECT_TRUE(opened_->troubles.empty());
}

TEST_F(JournalTest, AFileOfALaterFormatIsNeverReplaced) {
  RestartAndRun();
  ASSERT_TRUE(Append("a"));
  Run();
  const std::string_view later(
      "dnsl-jnl"
      "\x44\xb9\x42\xd2"
      "\x02\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
      32);
  Content("snapshot-000000000002") = later;
  options_.compact_bytes_min = 1;
  options_.compact_ratio = 1;
  RestartAndRun();
  ASSERT_TRUE(Append("b"));
  Run(Seconds(5));
  EXPECT_EQ(journal_->state().compactions, 0u);
  EXPECT_EQ(Content("snapshot-000000000002"), later);
  RestartAndRun();
  EXPECT_EQ(Live(), "a b ");
}

TEST_F(JournalTest, FilesOfOthersAreToldAndLeftAlone) {
  RestartAndRun();
  ASSERT_TRUE(Append("a"));
  Run();
  Content("README") = "hands off";
  RestartAndRun();
  EXPECT_EQ(Live(), "a ");
  ASSERT_EQ(opened_->troubles.size(), 1u);
  EXPECT_EQ(opened_->troubles[0].file, "README");
  Run(Seconds(5));
  EXPECT_EQ(Content("README"), "hands off");
}

TEST_F(JournalTest, WhoeverIsToldMayEndIt) {
  RestartAndRun();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(journal_->Append(kType, 1, "x", [this] {
      durable_ += "x";
      journal_.reset();
    }));
  }
  Run();
  EXPECT_EQ(durable_, "x");
}

}  // namespace
}  // namespace denselet::sync
