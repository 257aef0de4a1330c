// Jobs on a FakeDisk, on the simulated loop: each takes a while, fails, or hangs, as drawn. Lanes
// are kept, also behind a job that was given up.
//
// One for each life of an agent: destroyed, nothing of it has any effect any more.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/random.h"
#include "reactor/api/disk_jobs.h"
#include "reactor/api/loop.h"

namespace denselet::sim {

class SimDiskJobs final : public reactor::DiskJobs {
 public:
  struct Faults {
    Duration delay_max = Milliseconds(5);
    double refuses = 0;  // kOverloaded: nothing was done
    double hangs = 0;
    Duration hangs_for = Minutes(3);
    // These hang until they are let go.
    std::string hangs_with = {};  // a part of the subject
  };

  SimDiskJobs(reactor::Loop& loop, Random& random, reactor::DiskCalls& disk)
      : loop_(loop), random_(random), disk_(disk) {}
  ~SimDiskJobs() override {
    for (auto& [number, job] : jobs_) {
      loop_.Disarm(job.timer);
      loop_.Disarm(job.deadline);
    }
  }

  Faults& faults() { return faults_; }
  uint64_t jobs_run() const { return jobs_run_; }
  size_t under_way() const { return jobs_.size(); }
  // What hangs for its subject goes on.
  void LetGo() {
    faults_.hangs_with.clear();
    for (auto& [number, job] : jobs_) {
      if (!job.stuck) continue;
      job.stuck = false;
      job.timer = loop_.Arm(loop_.Now(), [this, number = number] { Finish(number); });
    }
  }

  uint64_t MakeLane() override { return ++lanes_made_; }

  void Run(const Context& context, reactor::DiskJob job, reactor::DiskWork work,
           reactor::Done<std::string> done) override {
    if (Chance(faults_.refuses)) {
      loop_.Post([done = std::move(done)]() mutable {
        done(Error(ErrorCode::kOverloaded, "too many jobs"));
      });
      return;
    }
    const uint64_t number = ++numbers_;
    Job& mine = jobs_[number];
    mine.lane = job.lane;
    mine.subject = std::move(job.subject);
    mine.work = std::move(work);
    mine.done = std::move(done);
    mine.deadline = loop_.Arm(context.deadline, [this, number] { GiveUp(number); });
    auto& lane = lanes_[mine.lane];
    lane.push_back(number);
    if (lane.size() == 1) Begin(number);
  }

 private:
  struct Job {
    uint64_t lane = 0;
    std::string subject;
    reactor::DiskWork work;
    reactor::Done<std::string> done;
    reactor::TimerId timer = {};
    reactor::TimerId deadline = {};
    bool begun = false;
    bool stuck = false;
    bool given_up = false;
  };

  bool Chance(double p) { return p > 0 && random_.Unit() < p; }

  void Begin(uint64_t number) {
    Job& job = jobs_.at(number);
    job.begun = true;
    if (!faults_.hangs_with.empty() && job.subject.find(faults_.hangs_with) != std::string::npos) {
      job.stuck = true;
      return;
    }
    const Duration takes = Chance(faults_.hangs)
                               ? faults_.hangs_for
                               : Duration(static_cast<int64_t>(random_.Below(
                                     static_cast<uint64_t>(faults_.delay_max.count()) + 1)));
    job.timer = loop_.Arm(After(loop_.Now(), takes), [this, number] { Finish(number); });
  }

  void GiveUp(uint64_t number) {
    Job& job = jobs_.at(number);
    job.given_up = true;
    reactor::Done<std::string> done = std::move(job.done);
    const bool begun = job.begun;
    if (!begun) job.work = {};
    done(begun ? Error(ErrorCode::kUnknownOutcome, "it took too long")
               : Error(ErrorCode::kDeadlineExceeded, "it did not begin"));
  }

  void Finish(uint64_t number) {
    Job job = std::move(jobs_.at(number));
    jobs_.erase(number);
    loop_.Disarm(job.deadline);
    Result<std::string> answer = std::string();
    if (job.work) {
      ++jobs_run_;
      answer = job.work(disk_);
    }
    auto& lane = lanes_.at(job.lane);
    lane.pop_front();
    if (lane.empty()) {
      lanes_.erase(job.lane);
    } else {
      Begin(lane.front());
    }
    if (!job.given_up) job.done(std::move(answer));
  }

  reactor::Loop& loop_;
  Random& random_;
  reactor::DiskCalls& disk_;
  Faults faults_;
  uint64_t lanes_made_ = 0;
  uint64_t numbers_ = 0;
  uint64_t jobs_run_ = 0;
  std::map<uint64_t, Job> jobs_;
  std::map<uint64_t, std::deque<uint64_t>> lanes_;
};

}  // namespace denselet::sim
