// A container runtime behind its port that answers what a test says about its state, its version,
// its one pod and commands in containers, on a simulated loop, in a later turn. It notes the
// containers it is asked for, and has no opinion about cgroups; everything else it cannot do.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reactor/api/loop.h"
#include "sync/ports/runtime.h"

namespace denselet::tests {

class ScriptedRuntime final : public sync::Runtime {
 public:
  explicit ScriptedRuntime(reactor::Loop& loop) : loop_(loop) {}

  // What is asked next is answered with this, until it is changed. Nothing: it hangs.
  std::optional<Result<sync::RuntimeStatus>> status = sync::RuntimeStatus{};
  std::optional<Result<sync::RuntimeVersion>> version = sync::RuntimeVersion{};
  int status_asked = 0, version_asked = 0;
  // Commands in containers. Nothing: they hang.
  std::optional<Result<sync::ExecResult>> exec = sync::ExecResult{};
  std::vector<std::vector<std::string>> commands;
  sync::ObservedPod pod;
  // Of a container that is not in the pod.
  Error container_failure = Error(ErrorCode::kNotFound, "no such container");
  std::vector<sync::ContainerSpec> created;

  void Version(const Context& context, reactor::Done<sync::RuntimeVersion> done) override {
    ++version_asked;
    Answer(context, version, std::move(done));
  }
  void Status(const Context& context, reactor::Done<sync::RuntimeStatus> done) override {
    ++status_asked;
    Answer(context, status, std::move(done));
  }
  void CgroupDriverInUse(const Context& context,
                         reactor::Done<std::optional<sync::CgroupDriver>> done) override {
    using Driver = std::optional<sync::CgroupDriver>;
    Answer<Driver>(context, Result<Driver>(Driver()), std::move(done));
  }
  void SetPodCidr(const Context&, std::string, reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void ListAll(const Context& context, reactor::Done<sync::RuntimeList> done) override {
    Answer<sync::RuntimeList>(context, sync::RuntimeList{}, std::move(done));
  }
  void ReadPod(const Context& context, const PodUid&,
               reactor::Done<sync::ObservedPod> done) override {
    Answer<sync::ObservedPod>(context, pod, std::move(done));
  }
  void ReadSandbox(const Context&, const SandboxId&,
                   reactor::Done<sync::ObservedSandbox> done) override {
    Refuse(std::move(done));
  }
  void ReadContainer(const Context& context, const ContainerId& id, const SandboxId&,
                     reactor::Done<sync::ObservedContainer> done) override {
    for (const sync::ObservedContainer& container : pod.containers) {
      if (container.id == id) {
        return Answer<sync::ObservedContainer>(context, container, std::move(done));
      }
    }
    Answer<sync::ObservedContainer>(context, container_failure, std::move(done));
  }
  void RunSandbox(const Context&, const sync::SandboxSpec&,
                  reactor::Done<SandboxId> done) override {
    Refuse(std::move(done));
  }
  void StopSandbox(const Context&, const SandboxId&, reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void RemoveSandbox(const Context&, const SandboxId&, reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void CreateContainer(const Context& context, const SandboxId&, const sync::ContainerSpec& spec,
                       const sync::SandboxSpec&, reactor::Done<ContainerId> done) override {
    created.push_back(spec);
    Answer<ContainerId>(context, ContainerId("made"), std::move(done));
  }
  void StartContainer(const Context&, const ContainerId&, reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void StopContainer(const Context&, const ContainerId&, Duration,
                     reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void RemoveContainer(const Context& context, const ContainerId&,
                       reactor::Done<Unit> done) override {
    Answer<Unit>(context, Unit{}, std::move(done));
  }
  void UpdateResources(const Context&, const ContainerId&, const sync::LinuxResources&,
                       reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void UpdateSandboxResources(const Context&, const SandboxId&, const sync::LinuxResources&,
                              const sync::LinuxResources&, reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void ReopenLog(const Context&, const ContainerId&, reactor::Done<Unit> done) override {
    Refuse(std::move(done));
  }
  void Exec(const Context& context, const ContainerId&, std::vector<std::string> command, Duration,
            reactor::Done<sync::ExecResult> done) override {
    commands.push_back(std::move(command));
    Answer(context, exec, std::move(done));
  }

 private:
  template <class T>
  void Answer(const Context& context, std::optional<Result<T>> answer, reactor::Done<T> done) {
    if (answer) {
      return loop_.Post([answer = std::move(*answer), done = std::move(done)]() mutable {
        done(std::move(answer));
      });
    }
    loop_.Arm(context.deadline, [done = std::move(done)]() mutable {
      done(Error(ErrorCode::kDeadlineExceeded, "the runtime hangs"));
    });
  }
  template <class T>
  void Refuse(reactor::Done<T> done) {
    loop_.Post([done = std::move(done)]() mutable {
      done(Error(ErrorCode::kUnsupported, "not a part of this fake"));
    });
  }

  reactor::Loop& loop_;
};

}  // namespace denselet::tests
