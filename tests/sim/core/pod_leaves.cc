#include "tests/sim/core/pod_leaves.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "kube/api/types.h"
#include "sync/decide/pod_plan.h"

namespace denselet::sim {
namespace {

constexpr Duration kHangsFor = Minutes(1);

PodUid UidOf(const kube::PodRef& pod) { return PodUid(std::string(pod->hot().uid)); }

std::string Hex(uint64_t value) {
  char text[17];
  const auto end = std::to_chars(text, text + sizeof text, value, 16).ptr;
  return {text, end};
}

std::string LogFolder(const sync::PodIdentity& pod) {
  return std::string(PodLeaves::kLogs) + "/" + pod.ref.ns + "_" + pod.ref.name + "_" +
         pod.uid.value();
}

}  // namespace

std::vector<std::string> PodLeaves::kept() const {
  std::vector<std::string> names;
  const auto entries = disk_.List(std::string(kRoot) + "/pods", managers::PodDirectories::kLogsMax);
  if (!entries) return names;  // there was never a pod
  for (const reactor::DirectoryEntry& entry : *entries) names.push_back(entry.name);
  return names;
}

bool PodLeaves::HasData(const PodUid& pod) const {
  return static_cast<bool>(disk_.Stat(std::string(kRoot) + "/pods/" + pod.value()));
}

bool PodLeaves::HasLogs(const sync::PodIdentity& pod) const {
  return static_cast<bool>(disk_.Stat(LogFolder(pod)));
}

size_t PodLeaves::LinksOf(const sync::PodIdentity& pod) const {
  const auto entries = disk_.List(kLinks, managers::PodDirectories::kLogsMax);
  if (!entries) return 0;  // there was never one
  const std::string prefix = pod.ref.name + "_" + pod.ref.ns + "_";
  return static_cast<size_t>(std::ranges::count_if(
      *entries, [&](const reactor::DirectoryEntry& e) { return e.name.starts_with(prefix); }));
}

void PodLeaves::Logged(const sync::PodIdentity& pod, const std::string& container,
                       uint32_t attempt) {
  const std::string folder = LogFolder(pod);
  // A runtime whose log cannot be opened runs the container all the same.
  const auto opened = disk_.Open(folder + "/" + container + "/" + std::to_string(attempt) + ".log",
                                 reactor::OpenMode::kAppend, 0640, {});
  static_cast<void>(opened);
}

PodLeaves::OfShard::OfShard(PodLeaves& leaves, reactor::Loop& loop, sync::Runtime& runtime,
                            const Logger& log)
    : leaves_(leaves),
      loop_(loop),
      files_(loop, leaves.host_.random(), leaves.disk_),
      links_(loop, files_, log, kLinks),
      directories_(loop, files_, {.root_folder = kRoot, .logs_folder = kLogs}, nullptr, &links_),
      leftovers_of_pods_(loop, files_, runtime,
                         {.root_folder = kRoot, .logs_folder = kLogs, .links_folder = kLinks}),
      alive_(std::make_shared<bool>(true)) {}

PodLeaves::OfShard::~OfShard() {
  *alive_ = false;
  for (auto& [number, pending] : pending_) loop_.Disarm(pending.timer);
}

void PodLeaves::OfShard::Begin(const Context& context, const PodUid& pod,
                               UniqueFunction<void()> effect, reactor::Done<Unit> done) {
  const uint64_t number = next_++;
  Pending& pending = pending_[number];
  pending.pod = pod;
  pending.done = std::move(done);
  if (!leaves_.host_.CountCall()) return;  // the agent died; nobody will ask for the answer
  Random& random = leaves_.host_.random();
  const Faults& faults = leaves_.faults_;
  const auto chance = [&random](double p) { return p > 0 && random.Unit() < p; };
  const bool hangs = chance(faults.hangs);
  const bool fails = chance(faults.fails);
  const Duration delay(
      static_cast<int64_t>(random.Below(static_cast<uint64_t>(faults.delay_max.count()) + 1)));
  if (!fails && !hangs) pending.effect = std::move(effect);
  if (fails) pending.fault = Fault::kFailed;
  if (hangs) pending.fault = Fault::kHung;
  // What has no deadline ends at some time all the same, as the command of a hook does.
  const Duration length = hangs ? kHangsFor : delay;
  const TimePoint when = hangs && context.deadline != kNever
                             ? context.deadline
                             : std::min(context.deadline, After(loop_.Now(), length));
  const bool late = hangs || when == context.deadline;
  pending.timer = loop_.Arm(when, [this, number, fails, late] {
    if (late) return Finish(number, Error(ErrorCode::kUnknownOutcome, "it took too long"));
    if (fails) return Finish(number, Error(ErrorCode::kIo, "it failed"));
    Finish(number, Ok());
  });
  if (context.cancel.cancelled()) return;
  pending.cancelled = context.cancel.OnCancel([this, number] {
    loop_.Post([this, alive = alive_, number] {
      if (*alive) Finish(number, Error(ErrorCode::kUnknownOutcome, "cancelled"));
    });
  });
}

void PodLeaves::OfShard::Finish(uint64_t number, const Status& answer) {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  loop_.Disarm(pending.timer);
  pending.cancelled.Forget();
  if (pending.fault && leaves_.on_fault_) leaves_.on_fault_(*pending.fault, pending.pod);
  if (answer && pending.effect) pending.effect();
  pending.done(answer);
}

template <class T>
reactor::Done<T> PodLeaves::OfShard::Told(const Context& context, const PodUid& pod,
                                          reactor::Done<T> done) {
  return [this, alive = alive_, cancel = context.cancel, pod,
          done = std::move(done)](Result<T> answer) mutable {
    if (!*alive) return;
    if (!answer && !cancel.cancelled() && leaves_.on_fault_) {
      const bool hung = answer.error().code() == ErrorCode::kUnknownOutcome;
      leaves_.on_fault_(hung ? Fault::kHung : Fault::kFailed, pod);
    }
    done(std::move(answer));
  };
}

void PodLeaves::OfShard::Prepare(const Context& context, const kube::PodRef& pod,
                                 reactor::Done<sync::PreparedPod> done) {
  if (!leaves_.host_.CountCall()) return;
  directories_.Prepare(context, pod, Told(context, UidOf(pod), std::move(done)));
}

void PodLeaves::OfShard::Mount(const Context& context, const kube::PodRef& pod,
                               reactor::Done<sync::MountedVolumes> done) {
  const PodUid uid = UidOf(pod);
  const auto found = leaves_.missing_volumes_.find(uid);
  const bool all = found == leaves_.missing_volumes_.end();
  Begin(
      context, uid,
      [this, uid, all] {
        if (all) leaves_.mounted_.insert(uid);
      },
      [mounted = sync::MountedVolumes{all ? std::vector<sync::VolumeFault>() : found->second},
       done = std::move(done)](const Status& answer) mutable {
        if (!answer) return done(answer.error());
        done(std::move(mounted));
      });
}

void PodLeaves::OfShard::Release(const Context& context, const sync::PodIdentity& pod,
                                 reactor::Done<Unit> done) {
  if (!leaves_.host_.CountCall()) return;
  leaves_.mounted_.erase(pod.uid);
  directories_.Release(context, pod, Told(context, pod.uid, std::move(done)));
}

void PodLeaves::OfShard::LinkLog(const sync::PodIdentity& pod,
                                 const sync::LoggedContainer& container) {
  if (leaves_.host_.CountCall()) directories_.LinkLog(pod, container);
}

void PodLeaves::OfShard::UnlinkLog(const sync::PodIdentity& pod,
                                   const sync::LoggedContainer& container) {
  if (leaves_.host_.CountCall()) directories_.UnlinkLog(pod, container);
}

void PodLeaves::OfShard::RemoveContainerLogs(const Context& context, const sync::PodIdentity& pod,
                                             const sync::LoggedContainer& container,
                                             reactor::Done<Unit> done) {
  if (!leaves_.host_.CountCall()) return;
  directories_.RemoveContainerLogs(context, pod, container,
                                   Told(context, pod.uid, std::move(done)));
}

void PodLeaves::OfShard::RemoveLogs(const Context& context, const sync::PodIdentity& pod,
                                    reactor::Done<Unit> done) {
  if (!leaves_.host_.CountCall()) return;
  directories_.RemoveLogs(context, pod, Told(context, pod.uid, std::move(done)));
}

void PodLeaves::OfShard::Run(const Context& context, sync::HookKind, const kube::PodRef& pod,
                             const std::string&, const ContainerId&,
                             const std::vector<std::string>&,
                             reactor::Done<sync::HookOutcome> done) {
  Begin(
      context, UidOf(pod), [this] { ++leaves_.hooks_run_; },
      [told = leaves_.faults_.hooks_without_tls,
       done = std::move(done)](const Status& answer) mutable {
        if (!answer) return done(answer.error());
        done(sync::HookOutcome{.answered_without_tls = std::move(told)});
      });
}

Result<sync::SandboxSpec> PodLeaves::OfShard::Sandbox(const kube::PodRef& pod, uint32_t attempt) {
  const kube::PodHotFields& hot = pod->hot();
  sync::SandboxSpec spec;
  spec.pod = {.ref = {std::string(hot.ns), std::string(hot.name)}, .uid = UidOf(pod)};
  spec.attempt = attempt;
  if (hot.host_network) spec.namespaces.network = sync::NamespaceMode::kNode;
  return spec;
}

// What it refers to is gathered: that takes a while, and may fail.
void PodLeaves::OfShard::Container(const Context& context, const kube::PodRef& pod,
                                   const sync::ContainerWish& wish,
                                   reactor::Done<sync::ContainerSpec> done) {
  Begin(context, UidOf(pod), nullptr,
        [this, pod, wish, done = std::move(done)](const Status& answer) mutable {
          if (!answer) return done(answer.error());
          done(Specify(pod, wish));
        });
}

Result<sync::ContainerSpec> PodLeaves::OfShard::Specify(const kube::PodRef& pod,
                                                        const sync::ContainerWish& wish) const {
  if (leaves_.missing_.count(UidOf(pod)) != 0) {
    return Error(ErrorCode::kNotFound, R"(configmap "settings" not found)");
  }
  ENSURE(leaves_.poison_.count(UidOf(pod)) == 0, "a poisoned pod");
  const auto parsed = pod->Parse();
  if (!parsed) return parsed.error();
  const Result<sync::PodPlan> plan = sync::MakePodPlan(**parsed);
  if (!plan) return plan.error();
  const sync::ContainerIndex index = plan->Find(wish.name);
  ENSURE(index != sync::kNoContainer, "the pod has no such container");
  const sync::ContainerPlan& container = plan->containers[index];
  sync::ContainerSpec spec;
  spec.pod = UidOf(pod);
  spec.name = wish.name;
  spec.attempt = wish.attempt;
  spec.image = wish.image_ref;
  spec.image_user_specified = container.image;
  spec.annotations = {
      {"io.kubernetes.container.hash", Hex(container.hash)},
      {"io.kubernetes.container.restartCount", std::to_string(wish.attempt)},
  };
  if (const auto grace = pod->hot().termination_grace_seconds) {
    spec.annotations.emplace_back("io.kubernetes.pod.terminationGracePeriod",
                                  std::to_string(*grace));
  }
  return spec;
}

// Nobody has them.
void PodLeaves::OfShard::FetchPullSecrets(const Context& context, const std::string&,
                                          const std::vector<std::string>& names,
                                          UniqueFunction<void(sync::PullSecrets)> done) {
  Begin(context, {}, nullptr,
        [names, done = std::move(done)](const Status&) mutable { done({.missing = names}); });
}

sync::PullPolicy PodLeaves::OfShard::Policy(const kube::PodRef&, const std::string& container) {
  return container.size() % 2 == 0 ? sync::PullPolicy::kAlways : sync::PullPolicy::kIfNotPresent;
}

}  // namespace denselet::sim
