#include "tests/fakes/fake_runtime.h"

#include <algorithm>
#include <utility>

#include "base/cancel.h"

namespace denselet::fakes {
namespace {

// Of an image that several pods want at once: the first one's.
PodUid PodOf(const Context& context) {
  return context.pod == nullptr ? PodUid() : context.pod->uid;
}

}  // namespace

void FakeRuntimeHost::Crash() {
  up_ = false;
  ++life_;
  model_.ReleaseAll();
}

bool FakeRuntimeHost::CountCall() {
  if (!calls_left_) return true;
  if (*calls_left_ > 0) --*calls_left_;
  return *calls_left_ > 0;
}

Duration FakeRuntimeHost::Delay() {
  const Duration spread = faults_.delay_max - faults_.delay_min;
  return faults_.delay_min +
         Duration(static_cast<int64_t>(random_.Below(static_cast<uint64_t>(spread.count()) + 1)));
}

struct FakeRuntime::CallBase {
  virtual ~CallBase() = default;
  reactor::TimerId timer = {};
  CancelRegistration cancelled = {};
  std::optional<FakeFault> fault = {};
};

template <class T>
struct FakeRuntime::Call final : CallBase {
  reactor::Done<T> done;
  Kind kind;
  uint64_t life = 0;
};

FakeRuntime::FakeRuntime(reactor::Loop& loop, FakeRuntimeHost& host)
    : loop_(loop), host_(host), alive_(std::make_shared<bool>(true)) {}

FakeRuntime::~FakeRuntime() {
  *alive_ = false;
  for (auto& [number, call] : calls_) loop_.Disarm(call->timer);
}

template <class T>
void FakeRuntime::Finish(uint64_t number, Result<T> result) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  std::unique_ptr<CallBase> base = std::move(found->second);
  calls_.erase(found);
  auto& call = static_cast<Call<T>&>(*base);
  call.cancelled.Forget();
  loop_.Disarm(call.timer);
  const bool unknown = !result && result.error().code() == ErrorCode::kUnknownOutcome;
  if (unknown && call.kind.sent &&
      (call.kind.sent->request == RuntimeRequest::kRunSandbox ||
       call.kind.sent->request == RuntimeRequest::kCreateContainer)) {
    host_.model().OutcomeUnknown(*call.kind.sent);
  }
  if (unknown && call.kind.starts) host_.model().StartUnknown(*call.kind.starts);
  if (call.fault && !call.kind.pod.empty()) host_.Told(*call.fault, call.kind.pod);
  call.done(std::move(result));
}

template <class T>
void FakeRuntime::Begin(const Context& context, Kind kind, Effect<T> effect,
                        reactor::Done<T> done) {
  const uint64_t number = next_++;
  ++host_.counters().calls[kind.name];
  if (context.pod == nullptr) ++host_.counters().of_no_pod[kind.name];
  const bool mutates = kind.mutates;
  auto call = std::make_unique<Call<T>>();
  call->done = std::move(done);
  if (kind.sent) {
    kind.pod = kind.sent->pod;
    kind.sent->agent = host_.model().agent();
  }
  call->kind = kind;
  // Nobody will ever ask for the answer.
  if (!host_.CountCall()) {
    calls_.emplace(number, std::move(call));
    return;
  }
  const auto answer_at_once = [this, number](Error error) {
    loop_.Post([this, alive = alive_, number, error = std::move(error)]() mutable {
      if (*alive) Finish<T>(number, std::move(error));
    });
  };
  const auto fault = [this, &base = *call](FakeFault what, const char* name) {
    base.fault = what;
    ++host_.counters().faults[name];
  };
  if (context.cancel.cancelled()) {
    calls_.emplace(number, std::move(call));
    return answer_at_once(Error(ErrorCode::kCancelled, "nobody wants it any more"));
  }
  const FakeRuntimeFaults& faults = host_.faults();
  if (!host_.up() || host_.Chance(faults.not_sent)) {
    host_.up() ? fault(FakeFault::kNotSent, "not sent") : fault(FakeFault::kDown, "down");
    calls_.emplace(number, std::move(call));
    return answer_at_once(Error(ErrorCode::kUnavailable, "the runtime cannot be reached"));
  }
  if (kind.sent) host_.model().Sent(*kind.sent);

  // From here on it is sent.
  const Error no_answer = mutates ? Error(ErrorCode::kUnknownOutcome, "no answer came")
                                  : Error(ErrorCode::kDeadlineExceeded, "no answer came");
  const Error lost = mutates ? Error(ErrorCode::kUnknownOutcome, "the connection was lost")
                             : Error(ErrorCode::kUnavailable, "the connection was lost");
  const TimePoint deadline = std::min(context.deadline, After(loop_.Now(), kind.timeout));
  call->timer = loop_.Arm(deadline, [this, number, no_answer] { Finish<T>(number, no_answer); });
  call->cancelled = context.cancel.OnCancel([answer_at_once, mutates] {
    answer_at_once(mutates ? Error(ErrorCode::kUnknownOutcome, "cancelled on its way")
                           : Error(ErrorCode::kCancelled, "cancelled"));
  });
  call->life = host_.life();
  calls_.emplace(number, std::move(call));

  // Answers travel through the world, not through the caller's loop, which may be gone by then.
  FakeRuntimeHost* host = &host_;
  auto reply = [this, host, alive = alive_, number](Duration after, Result<T> result) {
    host->Later(after, [this, alive, number, result = std::move(result)]() mutable {
      if (!*alive) return;
      loop_.Post([this, alive, number, result = std::move(result)]() mutable {
        if (*alive) Finish<T>(number, std::move(result));
      });
    });
  };
  const uint64_t life = host_.life();
  // Arrives, which reserves the name of what is to be made, and takes effect `work` later; `then`
  // hears what came of it.
  auto perform = [host, life, effect, lost, sent = kind.sent, alive = alive_](
                     Duration arrives, Duration work, std::function<void(Result<T>)> then) {
    host->Later(arrives, [host, life, effect, lost, sent, alive, work, then = std::move(then)] {
      const bool creates = sent && (sent->request == RuntimeRequest::kRunSandbox ||
                                    sent->request == RuntimeRequest::kCreateContainer);
      if (!host->up() || host->life() != life) return then(lost);
      if (creates && !host->model().Reserve(*sent)) {
        return then(Error(ErrorCode::kAlreadyExists, "the name is reserved"));
      }
      host->Later(work, [host, life, effect, lost, sent, alive, creates, then] {
        if (host->life() != life) return then(lost);
        // With its caller's connection the making of something may end, as in real runtimes.
        const bool given_up = creates && !*alive && host->Chance(0.5);
        if (!given_up) effect([then](Result<T> result) { then(std::move(result)); });
        if (creates) host->model().Release(*sent);
        if (given_up) then(lost);
      });
    });
  };

  const Duration way_back = host_.Delay();
  if (host_.Chance(faults.refused)) {
    fault(FakeFault::kRefused, "refused");
    return reply(host_.Delay() + way_back, Error(ErrorCode::kIo, "the runtime failed"));
  }
  if (host_.Chance(faults.lost_before)) {
    fault(FakeFault::kLostBefore, "lost before");
    return reply(way_back, lost);
  }
  if (host_.Chance(faults.lost_after)) {
    fault(FakeFault::kLostAfter, "lost after");
    return perform(host_.Delay(), host_.Delay(),
                   [reply, way_back, lost](Result<T>) mutable { reply(way_back, lost); });
  }
  const auto some_time = [this, &faults] {
    return Duration(static_cast<int64_t>(
        host_.random().Below(static_cast<uint64_t>(faults.late_max.count()) + 1)));
  };
  if (host_.Chance(faults.late)) {
    fault(FakeFault::kLate, "late");
    reply(way_back, lost);
    return perform(host_.Delay(), some_time(), [](Result<T>) {});
  }
  if (host_.Chance(faults.hang)) {
    fault(FakeFault::kHang, "hang");
    switch (host_.random().Below(3)) {
      case 0:
        return perform(host_.Delay(), host_.Delay(), [](Result<T>) {});
      case 1:
        return perform(host_.Delay(), some_time(), [](Result<T>) {});
      default:
        return;
    }
  }
  perform(host_.Delay(), host_.Delay(),
          [reply, way_back](Result<T> result) mutable { reply(way_back, std::move(result)); });
}

void FakeRuntime::Version(const Context& context, reactor::Done<sync::RuntimeVersion> done) {
  Begin<sync::RuntimeVersion>(
      context, {.name = "Version", .timeout = Timeout()},
      [](Answer<sync::RuntimeVersion> answer) {
        answer(sync::RuntimeVersion{.name = "fake", .version = "1", .api_version = "v1"});
      },
      std::move(done));
}

void FakeRuntime::Status(const Context& context, reactor::Done<sync::RuntimeStatus> done) {
  Begin<sync::RuntimeStatus>(
      context, {.name = "Status", .timeout = Timeout()},
      [](Answer<sync::RuntimeStatus> answer) {
        answer(sync::RuntimeStatus{.runtime_ready = sync::RuntimeCondition{.met = true},
                                   .network_ready = sync::RuntimeCondition{.met = true}});
      },
      std::move(done));
}

void FakeRuntime::CgroupDriverInUse(const Context& context,
                                    reactor::Done<std::optional<sync::CgroupDriver>> done) {
  Begin<std::optional<sync::CgroupDriver>>(
      context, {.name = "RuntimeConfig", .timeout = Timeout()},
      [](Answer<std::optional<sync::CgroupDriver>> answer) {
        answer(std::optional<sync::CgroupDriver>());
      },
      std::move(done));
}

void FakeRuntime::SetPodCidr(const Context& context, std::string, reactor::Done<Unit> done) {
  Begin<Unit>(
      context, {.name = "SetPodCidr", .mutates = true, .timeout = Timeout()},
      [](Answer<Unit> answer) { answer(Unit{}); }, std::move(done));
}

// Sandboxes and containers are two requests: what changes between them shows in one and not in the
// other.
void FakeRuntime::ListAll(const Context& context, reactor::Done<sync::RuntimeList> done) {
  host_.model().ListSent();
  FakeRuntimeHost* host = &host_;
  Begin<sync::RuntimeList>(
      context, {.name = "ListAll", .timeout = Timeout()},
      [host](Answer<sync::RuntimeList> answer) {
        auto pods = host->model().ListSandboxes();
        host->Later(host->Delay(), [host, pods = std::move(pods),
                                    answer = std::move(answer)]() mutable {
          host->model().ListContainers(pods);
          sync::RuntimeList list;
          for (auto& [uid, pod] : pods) {
            std::ranges::sort(pod.sandboxes, std::ranges::greater{}, &sync::ListedSandbox::attempt);
            std::ranges::sort(pod.containers, [](const auto& a, const auto& b) {
              return std::tie(a.name, b.attempt) < std::tie(b.name, a.attempt);
            });
            list.pods.push_back(std::move(pod));
          }
          answer(std::move(list));
        });
      },
      std::move(done));
}

void FakeRuntime::ReadPod(const Context& context, const PodUid& pod,
                          reactor::Done<sync::ObservedPod> done) {
  host_.model().ReadSent(pod);
  RuntimeModel* model = &host_.model();
  Begin<sync::ObservedPod>(
      context, {.name = "ReadPod", .timeout = Timeout(), .pod = pod},
      [model, pod](Answer<sync::ObservedPod> answer) { answer(model->Read(pod)); },
      [model, done = std::move(done)](Result<sync::ObservedPod> read) mutable {
        if (read) {
          for (const sync::ObservedContainer& container : read->containers) {
            model->WasRead(container);
          }
        }
        done(std::move(read));
      });
}

void FakeRuntime::ReadSandbox(const Context& context, const SandboxId& id,
                              reactor::Done<sync::ObservedSandbox> done) {
  RuntimeModel* model = &host_.model();
  const auto owner = model->SandboxOwner(id);
  Begin<sync::ObservedSandbox>(
      context,
      {.name = "ReadSandbox", .timeout = Timeout(), .pod = owner ? owner->first : PodUid()},
      [model, id](Answer<sync::ObservedSandbox> answer) { answer(model->ReadSandbox(id)); },
      std::move(done));
}

void FakeRuntime::ReadContainer(const Context& context, const ContainerId& id, const SandboxId&,
                                reactor::Done<sync::ObservedContainer> done) {
  RuntimeModel* model = &host_.model();
  const auto owner = model->OwnerOf(id);
  Begin<sync::ObservedContainer>(
      context,
      {.name = "ReadContainer", .timeout = Timeout(), .pod = owner ? owner->pod : PodUid()},
      [model, id](Answer<sync::ObservedContainer> answer) { answer(model->ReadContainer(id)); },
      [model, done = std::move(done)](Result<sync::ObservedContainer> read) mutable {
        if (read) model->WasRead(*read);
        done(std::move(read));
      });
}

void FakeRuntime::RunSandbox(const Context& context, const sync::SandboxSpec& spec,
                             reactor::Done<SandboxId> done) {
  const SentRequest sent{
      .request = RuntimeRequest::kRunSandbox, .pod = spec.pod.uid, .attempt = spec.attempt};
  RuntimeModel* model = &host_.model();
  Begin<SandboxId>(
      context, {.name = "RunSandbox", .mutates = true, .timeout = 2 * Timeout(), .sent = sent},
      [model, spec](Answer<SandboxId> answer) { answer(model->RunSandbox(spec)); },
      std::move(done));
}

void FakeRuntime::StopSandbox(const Context& context, const SandboxId& id,
                              reactor::Done<Unit> done) {
  const auto owner = host_.model().SandboxOwner(id);
  SentRequest sent{.request = RuntimeRequest::kStopSandbox};
  if (owner) sent = {.request = sent.request, .pod = owner->first, .attempt = owner->second};
  RuntimeModel* model = &host_.model();
  Begin<Unit>(
      context, {.name = "StopSandbox", .mutates = true, .timeout = Timeout(), .sent = sent},
      [model, id](Answer<Unit> answer) { answer(model->StopSandbox(id)); }, std::move(done));
}

void FakeRuntime::RemoveSandbox(const Context& context, const SandboxId& id,
                                reactor::Done<Unit> done) {
  const auto owner = host_.model().SandboxOwner(id);
  SentRequest sent{.request = RuntimeRequest::kRemoveSandbox};
  if (owner) sent = {.request = sent.request, .pod = owner->first, .attempt = owner->second};
  RuntimeModel* model = &host_.model();
  Begin<Unit>(
      context, {.name = "RemoveSandbox", .mutates = true, .timeout = Timeout(), .sent = sent},
      [model, id](Answer<Unit> answer) { answer(model->RemoveSandbox(id)); }, std::move(done));
}

void FakeRuntime::CreateContainer(const Context& context, const SandboxId& sandbox,
                                  const sync::ContainerSpec& spec, const sync::SandboxSpec&,
                                  reactor::Done<ContainerId> done) {
  const SentRequest sent{.request = RuntimeRequest::kCreateContainer,
                         .pod = spec.pod,
                         .name = spec.name,
                         .attempt = spec.attempt,
                         .sandbox = sandbox};
  RuntimeModel* model = &host_.model();
  Begin<ContainerId>(
      context, {.name = "CreateContainer", .mutates = true, .timeout = Timeout(), .sent = sent},
      [model, sandbox, spec](Answer<ContainerId> answer) {
        answer(model->CreateContainer(sandbox, spec));
      },
      std::move(done));
}

void FakeRuntime::StartContainer(const Context& context, const ContainerId& id,
                                 reactor::Done<Unit> done) {
  SentRequest sent{.request = RuntimeRequest::kStartContainer};
  if (const auto owner = host_.model().OwnerOf(id)) {
    sent = {
        .request = sent.request, .pod = owner->pod, .name = owner->name, .attempt = owner->attempt};
  }
  RuntimeModel* model = &host_.model();
  Begin<Unit>(
      context,
      {.name = "StartContainer", .mutates = true, .timeout = Timeout(), .sent = sent, .starts = id},
      [model, id, agent = model->agent()](Answer<Unit> answer) {
        answer(model->StartContainer(id, agent));
      },
      std::move(done));
}

void FakeRuntime::StopContainer(const Context& context, const ContainerId& id, Duration grace,
                                reactor::Done<Unit> done) {
  SentRequest sent{.request = RuntimeRequest::kStopContainer, .grace = grace};
  if (const auto owner = host_.model().OwnerOf(id)) {
    sent = {.request = sent.request,
            .pod = owner->pod,
            .name = owner->name,
            .attempt = owner->attempt,
            .grace = grace};
  }
  RuntimeModel* model = &host_.model();
  Begin<Unit>(
      context,
      {.name = "StopContainer", .mutates = true, .timeout = Timeout() + grace, .sent = sent},
      [model, id, grace](Answer<Unit> answer) {
        model->StopContainer(id, grace, std::move(answer));
      },
      std::move(done));
}

void FakeRuntime::RemoveContainer(const Context& context, const ContainerId& id,
                                  reactor::Done<Unit> done) {
  SentRequest sent{.request = RuntimeRequest::kRemoveContainer};
  if (const auto owner = host_.model().OwnerOf(id)) {
    sent = {
        .request = sent.request, .pod = owner->pod, .name = owner->name, .attempt = owner->attempt};
  }
  RuntimeModel* model = &host_.model();
  Begin<Unit>(
      context, {.name = "RemoveContainer", .mutates = true, .timeout = Timeout(), .sent = sent},
      [model, id](Answer<Unit> answer) { answer(model->RemoveContainer(id)); }, std::move(done));
}

void FakeRuntime::UpdateResources(const Context& context, const ContainerId&,
                                  const sync::LinuxResources&, reactor::Done<Unit> done) {
  Begin<Unit>(
      context, {.name = "UpdateResources", .mutates = true, .timeout = Timeout()},
      [](Answer<Unit> answer) { answer(Unit{}); }, std::move(done));
}

void FakeRuntime::UpdateSandboxResources(const Context& context, const SandboxId&,
                                         const sync::LinuxResources&, const sync::LinuxResources&,
                                         reactor::Done<Unit> done) {
  Begin<Unit>(
      context, {.name = "UpdateSandboxResources", .mutates = true, .timeout = Timeout()},
      [](Answer<Unit> answer) { answer(Unit{}); }, std::move(done));
}

void FakeRuntime::ReopenLog(const Context& context, const ContainerId&, reactor::Done<Unit> done) {
  Begin<Unit>(
      context, {.name = "ReopenLog", .mutates = true, .timeout = Timeout()},
      [](Answer<Unit> answer) { answer(Unit{}); }, std::move(done));
}

void FakeRuntime::Exec(const Context& context, const ContainerId& id, std::vector<std::string>,
                       Duration timeout, reactor::Done<sync::ExecResult> done) {
  RuntimeModel* model = &host_.model();
  Begin<sync::ExecResult>(
      context, {.name = "Exec", .mutates = true, .timeout = Timeout() + timeout},
      [model, id](Answer<sync::ExecResult> answer) {
        if (!model->IsRunning(id)) {
          return answer(Error(ErrorCode::kNotFound, "the container does not run"));
        }
        answer(sync::ExecResult{});
      },
      std::move(done));
}

void FakeRuntime::Find(const Context& context, const sync::ImageRequest& request,
                       reactor::Done<std::optional<sync::ObservedImage>> done) {
  RuntimeModel* model = &host_.model();
  Begin<std::optional<sync::ObservedImage>>(
      context, {.name = "ImageStatus", .timeout = Timeout(), .pod = PodOf(context)},
      [model, image = request.image](Answer<std::optional<sync::ObservedImage>> answer) {
        if (model->images().count(image) == 0) {
          return answer(std::optional<sync::ObservedImage>());
        }
        answer(std::optional<sync::ObservedImage>(
            sync::ObservedImage{.id = ImageId(image), .repo_tags = {image}, .size_bytes = 1}));
      },
      std::move(done));
}

void FakeRuntime::Pull(const Context& context, const sync::ImageRequest& request,
                       const sync::ImageCredentials&, const sync::SandboxSpec&,
                       reactor::Done<std::string> done) {
  RuntimeModel* model = &host_.model();
  Begin<std::string>(
      context,
      {.name = "PullImage", .mutates = true, .timeout = Minutes(10), .pod = PodOf(context)},
      [model, image = request.image](Answer<std::string> answer) {
        model->images().insert(image);
        answer(image);
      },
      std::move(done));
}

void FakeRuntime::List(const Context& context,
                       reactor::Done<std::vector<sync::ObservedImage>> done) {
  RuntimeModel* model = &host_.model();
  Begin<std::vector<sync::ObservedImage>>(
      context, {.name = "ListImages", .timeout = Timeout()},
      [model](Answer<std::vector<sync::ObservedImage>> answer) {
        std::vector<sync::ObservedImage> images;
        for (const std::string& image : model->images()) {
          images.push_back({.id = ImageId(image), .repo_tags = {image}, .size_bytes = 1});
        }
        answer(std::move(images));
      },
      std::move(done));
}

void FakeRuntime::Remove(const Context& context, const ImageId& id, reactor::Done<Unit> done) {
  RuntimeModel* model = &host_.model();
  Begin<Unit>(
      context, {.name = "RemoveImage", .mutates = true, .timeout = Timeout()},
      [model, id](Answer<Unit> answer) {
        model->images().erase(id.value());
        answer(Unit{});
      },
      std::move(done));
}

void FakeRuntime::Filesystems(const Context& context, reactor::Done<sync::ImageFilesystems> done) {
  Begin<sync::ImageFilesystems>(
      context, {.name = "ImageFsInfo", .timeout = Timeout()},
      [](Answer<sync::ImageFilesystems> answer) { answer(sync::ImageFilesystems{}); },
      std::move(done));
}

}  // namespace denselet::fakes
