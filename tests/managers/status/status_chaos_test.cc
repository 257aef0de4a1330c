// Pods of all sorts beside an API server that loses, delays, breaks and crashes, with an agent that
// is killed now and then, from many seeds. What must hold at every change at the server:
//   - a status never goes back to one before it
//   - a pod does not end there before its containers have ended here
//   - what others wrote stays
//   - a pod goes with its last status
//   - what was settled has arrived
// And in the end the newest status of each is there. Deliberate faults are seen by that.
#include <cstdlib>
#include <set>

#include "tests/managers/status/status_fixture.h"

namespace denselet::managers::tests {
namespace {

using kube::core::Pod;
using sync::Finished;
using sync::MayRun;

class StatusChaos : public StatusTest {
 protected:
  // The core's view of a pod.
  struct Subject {
    Pod pod = {};
    int32_t number = 0;  // of its newest status
    std::string phase = "Pending";
    bool ready = false;
    MayRun may_run = MayRun::kYes;
    Finished finished = Finished::kNo;
    bool deleted = false;
    int32_t settled = -1;                      // the number that was settled
    std::map<uint64_t, int32_t> numbers = {};  // by version
  };

  // What was seen to be wrong, the first of it.
  std::string Run(uint64_t seed, const StatusManager::Faults& faults) {
    random_ = SeededRandom(seed);
    fault_.clear();
    subjects_.clear();
    shown_.clear();
    foreign_.clear();
    mutations_ = faults;
    calm_ = false;
    const uint64_t subscription = model_.Subscribe([this] { Check(); });
    settled_.told = [this](const PodUid& pod, uint64_t version) { OnSettled(pod, version); };
    options_.requests_max = 1 + static_cast<uint32_t>(random_.Below(8));
    fake_.faults() = {.delay_max = Milliseconds(1 + static_cast<int64_t>(random_.Below(300))),
                      .lost_request = 0.1,
                      .lost_answer = 0.1,
                      .broken_watch = 0.05,
                      .repeated_list = 0.3};
    api_.fate = [this](const sync::ApiRequest& request) { return Anything(request); };
    Begin();
    for (int i = 0; i < 12; ++i) Add("p" + std::to_string(seed) + "-" + std::to_string(i));
    for (int step = 0; step < 150 && fault_.empty(); ++step) Disturb();
    CalmDown();
    model_.Unsubscribe(subscription);
    settled_.told = nullptr;
    Stop();
    for (const auto& [name, subject] : subjects_) Delete(name, 0);
    return fault_;
  }

 private:
  Fate Anything(const sync::ApiRequest& request) {
    if (calm_) return {};
    switch (random_.Below(16)) {
      case 0:
        return Refuse(ErrorCode::kUnavailable);
      case 1:
        return Refuse(ErrorCode::kOverloaded);
      case 2:
        return Refuse(ErrorCode::kPermission);
      case 3:
        return Refuse(ErrorCode::kConflict);
      case 4:
        return Hang();
      case 5:
        if (request.verb == sync::ApiVerb::kGet) return {};
        return ServeLate(Milliseconds(static_cast<int64_t>(random_.Below(4000))));
      default:
        return {};
    }
  }

  void Begin() {
    Start();
    manager_->faults_for_tests() = mutations_;
  }

  void Add(const std::string& name) {
    Subject& subject = subjects_[name];
    subject.pod = Create(name);
    Change(subject);
  }

  void Change(Subject& subject) {
    ++subject.number;
    Tell(subject);
  }
  void Tell(Subject& subject) {
    subject.numbers[version_ + 1] = subject.number;
    Set(subject.pod, MakeStatus(subject.phase, subject.number, subject.ready), subject.may_run,
        subject.finished);
  }

  Subject& Any() {
    auto at = subjects_.begin();
    std::advance(at, static_cast<int64_t>(random_.Below(subjects_.size())));
    return at->second;
  }

  void Disturb() {
    RunFor(Milliseconds(static_cast<int64_t>(random_.Below(400))));
    Subject& subject = Any();
    switch (random_.Below(10)) {
      case 0:
        return DeleteAtServer(subject);
      case 1:
        return Foreign(subject);
      case 2:
        if (random_.Below(4) == 0) return fake_.up() ? fake_.Crash() : fake_.Start();
        return;
      case 3:
        if (random_.Below(4) == 0) Kill();
        return;
      default:
        return GoOn(subject);
    }
  }

  // What happens to a pod on the node.
  void GoOn(Subject& subject) {
    if (subject.finished == Finished::kYes) return;
    if (subject.phase == "Failed" && subject.may_run == MayRun::kNo) {
      subject.finished = Finished::kYes;
    } else if (subject.phase == "Failed") {
      subject.may_run = MayRun::kNo;
    } else if (subject.deleted || random_.Below(12) == 0) {
      subject.phase = "Failed";
      subject.ready = false;
    } else {
      subject.phase = "Running";
      subject.ready = random_.Below(2) == 0;
    }
    Change(subject);
  }

  // One that has ended there would be gone at once.
  void DeleteAtServer(Subject& subject) {
    const auto pod = Find(subject.pod.metadata().name());
    if (!pod || pod->status().phase() == "Failed" || subject.deleted) return;
    subject.deleted = true;
    Delete(subject.pod.metadata().name());
  }

  void Foreign(Subject& subject) {
    const std::string& name = subject.pod.metadata().name();
    if (!Find(name)) return;
    const std::string type = "x/" + std::to_string(++foreign_count_);
    PatchStatus(name,
                R"({"status": {"conditions": [{"type": ")" + type + R"(", "status": "True"}]}})");
    foreign_[name].insert(type);
  }

  // The agent dies; the one after it finds the same pods, and tells what it sees of them.
  void Kill() {
    Stop();
    RunFor(Milliseconds(static_cast<int64_t>(random_.Below(2000))));
    Begin();
    for (auto& [name, subject] : subjects_) {
      subject.settled = -1;
      Tell(subject);
    }
  }

  void CalmDown() {
    calm_ = true;
    if (!fake_.up()) fake_.Start();
    fake_.faults() = {};
    for (int i = 0; i < 12 && fault_.empty(); ++i) RunFor(Seconds(10));
    for (const auto& [name, subject] : subjects_) {
      const auto pod = Find(name);
      const bool goes = subject.deleted && subject.finished == Finished::kYes;
      if (goes && pod) Fault(name + " was not deleted");
      if (!goes && !pod) Fault(name + " is gone");
      if (pod && NumberOf(name) != subject.number) Fault(name + " shows an old status");
      if (subject.settled != subject.number) Fault(name + " is not settled");
    }
  }

  void OnSettled(const PodUid& uid, uint64_t version) {
    for (auto& [name, subject] : subjects_) {
      if (subject.pod.metadata().uid() != uid.value()) continue;
      subject.settled = subject.numbers.at(version);
      const auto pod = Find(name);
      if (pod && NumberOf(name) < subject.settled) Fault(name + " was settled too early");
    }
  }

  void Check() {
    for (auto& [name, subject] : subjects_) {
      const auto pod = Find(name);
      Shown& shown = shown_[name];
      if (!pod) {
        if (shown.there && shown.number != subject.number) Fault(name + " went without last word");
        shown.there = false;
        continue;
      }
      shown.there = true;
      const int32_t number = NumberOf(name);
      if (number < shown.number) {
        Fault(name + " went back from " + std::to_string(shown.number) + " to " +
              std::to_string(number));
      }
      shown.number = number;
      if (pod->status().phase() == "Failed" && subject.may_run == MayRun::kYes) {
        Fault(name + " ended while it ran");
      }
      std::set<std::string> types;
      for (const auto& condition : pod->status().conditions()) types.insert(condition.type());
      for (const std::string& type : foreign_[name]) {
        if (!types.contains(type)) Fault(name + " lost " + type);
      }
    }
  }

  void Fault(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }

  struct Shown {
    bool there = false;
    int32_t number = -1;
  };
  std::map<std::string, Subject> subjects_;
  std::map<std::string, Shown> shown_;
  std::map<std::string, std::set<std::string>> foreign_;
  uint64_t foreign_count_ = 0;
  StatusManager::Faults mutations_;
  bool calm_ = false;
  std::string fault_;
};

TEST_F(StatusChaos, NewestStatusArrivesAndNoneGoesBack) {
  const char* asked = std::getenv("DENSELET_SIM_SEEDS");
  const uint64_t seeds = asked ? std::strtoull(asked, nullptr, 10) : 40;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    ASSERT_EQ(Run(seed, {}), "") << "seed " << seed;
  }
}

TEST_F(StatusChaos, DeliberateFaultsAreSeen) {
  const std::pair<const char*, StatusManager::Faults> all[] = {
      {"end_while_running", {.end_while_running = true}}, {"no_version", {.no_version = true}},
      {"drop_foreign", {.drop_foreign = true}},           {"settle_early", {.settle_early = true}},
      {"delete_early", {.delete_early = true}},
  };
  for (const auto& [name, faults] : all) {
    uint64_t seed = 1;
    while (seed <= 100 && Run(seed, faults).empty()) ++seed;
    EXPECT_LE(seed, 100U) << name;
    RecordProperty(name, static_cast<int>(seed));
  }
}

}  // namespace
}  // namespace denselet::managers::tests
