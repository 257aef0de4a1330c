#include "bench/cri_sim/simulator.h"

#include <utility>

#include "bench/cri_sim/encode.h"
#include "bench/cri_sim/handlers.h"

namespace denselet::cri_sim {

Simulator::Simulator(reactor::Loop& loop, Identity identity, Settings settings, uint64_t seed,
                     PortOpener& ports, Violations::Print print)
    : loop_(loop),
      identity_(std::move(identity)),
      settings_(std::move(settings)),
      random_(seed),
      violations_(std::move(print)),
      model_(random_, violations_, *this),
      processes_(loop, model_, logs_),
      events_(loop, random_, settings_),
      later_(loop),
      world_{loop,   identity_,  settings_, random_, violations_, images_,
             model_, processes_, logs_,     events_, ports,       later_},
      dispatcher_(loop, settings_, random_, violations_, table_) {
  AddNodeCalls(world_, table_);
  AddSandboxCalls(world_, table_);
  AddContainerCalls(world_, table_);
  AddExecCalls(world_, table_);
  AddListCalls(world_, table_);
  AddStatsCalls(world_, table_);
  AddImageCalls(world_, table_);
}

Simulator::~Simulator() = default;

void Simulator::OnEvent(EventKind kind, const Sandbox& sandbox, const std::string& id) {
  if (!settings_.events.enabled) return;
  events_.Publish(EncodeEvent(kind, sandbox, id, identity_.node_ip, loop_.WallNow()));
}

void Simulator::OnContainerStopped(Container& container) { processes_.Stopped(container); }

void Simulator::Crash(KeepState keep) {
  events_.Forget();
  later_.Clear();
  if (keep == KeepState::kKeep) return;
  model_.Clear();
  images_.Clear();
}

Status Simulator::Populate(uint64_t pods, uint64_t containers) {
  constexpr uint64_t kPodsMax = 100'000, kContainersMax = 100;
  if (pods > kPodsMax || containers > kContainersMax) {
    return Error(ErrorCode::kInvalid, "too many pods or containers");
  }
  const Image& image = images_.Add("cri-sim.local/populated:1", settings_.image_size);
  const WallTime now = loop_.WallNow();
  for (uint64_t i = 0; i < pods; ++i) {
    const std::string number = std::to_string(populated_++);
    SandboxSpec pod;
    pod.name = "populated-" + number;
    pod.pod_namespace = "default";
    pod.uid = "00000000-0000-4000-8000-" + std::string(12 - number.size(), '0') + number;
    pod.labels.Add("io.kubernetes.pod.name", pod.name);
    pod.labels.Add("io.kubernetes.pod.namespace", pod.pod_namespace);
    pod.labels.Add("io.kubernetes.pod.uid", pod.uid);
    pod.annotations.Add("kubernetes.io/config.seen", FormatRfc3339(now, 9));
    pod.annotations.Add("kubernetes.io/config.source", "api");
    const SandboxSpec copy = pod;
    const Result<Sandbox*> sandbox = model_.RunSandbox(std::move(pod), now);
    if (!sandbox) return sandbox.error();
    for (uint64_t c = 0; c < containers; ++c) {
      ContainerSpec spec;
      spec.name = "c" + std::to_string(c);
      spec.image = spec.image_id = image.id;
      spec.user_image = spec.image_tag = image.tag;
      spec.image_ref = image.digest;
      spec.labels = copy.labels;
      spec.labels.Add("io.kubernetes.container.name", spec.name);
      spec.annotations.Add("io.kubernetes.container.hash", "6e980702");
      spec.annotations.Add("io.kubernetes.container.restartCount", "0");
      spec.annotations.Add("io.kubernetes.container.terminationMessagePath",
                           "/dev/termination-log");
      spec.annotations.Add("io.kubernetes.container.terminationMessagePolicy", "File");
      spec.annotations.Add("io.kubernetes.pod.terminationGracePeriod", "30");
      const Result<Container*> made = model_.CreateContainer((*sandbox)->id, std::move(spec), now);
      if (!made) return made.error();
      if (Status started = model_.StartContainer(**made, now); !started) return started;
    }
  }
  return Ok();
}

}  // namespace denselet::cri_sim
