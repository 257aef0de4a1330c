#include "cri/list_collector.h"

#include <algorithm>
#include <utility>

#include "cri/messages.h"
#include "cri/names.h"
#include "cri/observed_messages.h"
#include "cri/values.h"
#include "kube/api/codec/wire_reader.h"

namespace denselet::cri {

namespace {

using kube::WireField;
using kube::WireReader;

// Numbers of fields in CRI's api.proto; tests compare what is read by them with the messages.
constexpr uint32_t kItems = 1;  // of all four answers
struct SandboxField {
  enum : uint32_t { kId = 1, kMetadata = 2, kState = 3, kLabels = 5 };
};
struct SandboxMetadataField {
  enum : uint32_t { kName = 1, kNamespace = 3, kAttempt = 4 };
};
struct ContainerField {
  enum : uint32_t { kId = 1, kMetadata = 3, kState = 6, kLabels = 8 };
};
struct ContainerMetadataField {
  enum : uint32_t { kName = 1, kAttempt = 2 };
};

// As protobuf does, a field that is not of its type is none of ours.
bool IsBytes(const WireField& field) { return field.type == WireField::Type::kBytes; }
bool IsNumber(const WireField& field) { return field.type == WireField::Type::kVarint; }

void Set(std::string_view& text, const WireField& field) {
  if (IsBytes(field)) text = field.bytes;
}
void Set(uint32_t& number, const WireField& field) {
  if (IsNumber(field)) number = static_cast<uint32_t>(field.value);
}
void Set(int& number, const WireField& field) {
  if (IsNumber(field)) number = static_cast<int>(field.value);
}

// `each` (Status(const WireField&)) sees the fields of a message.
template <class Each>
Status ForFields(std::string_view message, const char* what, Each each) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(field)) {
    if (const Status taken = each(field); !taken) return taken;
  }
  return reader.ToStatus(what);
}

struct Label {
  std::string_view key, value;
};

// An entry of a map is a message of two fields.
Status ReadLabel(const WireField& entry, Label& label) {
  if (!IsBytes(entry)) return Ok();
  return ForFields(entry.bytes, "label", [&label](const WireField& field) {
    if (field.number == 1) Set(label.key, field);
    if (field.number == 2) Set(label.value, field);
    return Ok();
  });
}

// Sorted, so what came twice stands side by side.
template <class Objects>
void DropRepeated(Objects& objects) {
  const auto repeated = std::ranges::unique(
      objects, {}, [](const auto& object) -> const auto& { return object.id; });
  objects.erase(repeated.begin(), repeated.end());
}

}  // namespace

Result<ListCollector::Sandbox> ListCollector::ReadSandbox(std::string_view wire) {
  Sandbox sandbox;
  const auto metadata = [&sandbox](const WireField& field) {
    if (field.number == SandboxMetadataField::kName) Set(sandbox.name, field);
    if (field.number == SandboxMetadataField::kNamespace) Set(sandbox.ns, field);
    if (field.number == SandboxMetadataField::kAttempt) Set(sandbox.attempt, field);
    return Ok();
  };
  const Status read = ForFields(wire, "sandbox", [&](const WireField& field) {
    if (field.number == SandboxField::kId) Set(sandbox.id, field);
    if (field.number == SandboxField::kState) Set(sandbox.state, field);
    if (field.number == SandboxField::kMetadata && IsBytes(field)) {
      sandbox.has_metadata = true;
      return ForFields(field.bytes, "metadata", metadata);
    }
    if (field.number != SandboxField::kLabels) return Ok();
    Label label;
    const Status labelled = ReadLabel(field, label);
    if (label.key == kPodUidLabel) sandbox.uid = label.value;
    return labelled;
  });
  if (!read) return read.error();
  return sandbox;
}

Result<ListCollector::Container> ListCollector::ReadContainer(std::string_view wire) {
  Container container;
  const auto metadata = [&container](const WireField& field) {
    if (field.number == ContainerMetadataField::kName) Set(container.name, field);
    if (field.number == ContainerMetadataField::kAttempt) Set(container.attempt, field);
    return Ok();
  };
  const Status read = ForFields(wire, "container", [&](const WireField& field) {
    if (field.number == ContainerField::kId) Set(container.id, field);
    if (field.number == ContainerField::kState) Set(container.state, field);
    if (field.number == ContainerField::kMetadata && IsBytes(field)) {
      return ForFields(field.bytes, "metadata", metadata);
    }
    if (field.number != ContainerField::kLabels) return Ok();
    Label label;
    const Status labelled = ReadLabel(field, label);
    if (label.key == kPodUidLabel) container.uid = label.value;
    if (label.key == kPodNamespaceLabel) container.pod_ns = label.value;
    if (label.key == kPodNameLabel) container.pod_name = label.value;
    return labelled;
  });
  if (!read) return read.error();
  return container;
}

Status ListCollector::AddSandboxes(std::string_view answer) {
  return ForFields(answer, "list of sandboxes", [this](const WireField& field) -> Status {
    if (field.number != kItems || !IsBytes(field)) return Ok();
    const Result<Sandbox> sandbox = ReadSandbox(field.bytes);
    if (!sandbox) return sandbox.error();
    Add(*sandbox);
    return Ok();
  });
}

Status ListCollector::AddContainers(std::string_view answer) {
  return ForFields(answer, "list of containers", [this](const WireField& field) -> Status {
    if (field.number != kItems || !IsBytes(field)) return Ok();
    const Result<Container> container = ReadContainer(field.bytes);
    if (!container) return container.error();
    Add(*container);
    return Ok();
  });
}

void ListCollector::TakeContainersBack() {
  unreadable_containers_ = 0;
  // tidy: allow random-order because each pod is changed by itself
  for (auto& [uid, pod] : pods_) pod.containers.clear();
  // Those are there for their containers only.
  std::erase_if(pods_, [](const auto& pod) { return pod.second.sandboxes.empty(); });
}

sync::ListedPod& ListCollector::PodOf(std::string_view uid, std::string_view ns,
                                      std::string_view name) {
  if (const auto found = pods_.find(uid); found != pods_.end()) return found->second;
  sync::ListedPod& pod = pods_[std::string(uid)];
  pod.pod.ref = {.ns = std::string(ns), .name = std::string(name)};
  return pod;
}

void ListCollector::Add(const Sandbox& sandbox) {
  if (sandbox.uid.empty()) return;
  if (sandbox.id.empty() || !sandbox.has_metadata) {
    ++unreadable_sandboxes_;
    return;
  }
  PodOf(sandbox.uid, sandbox.ns, sandbox.name)
      .sandboxes.push_back({.id = SandboxId(std::string(sandbox.id)),
                            .attempt = sandbox.attempt,
                            .state = StateOf(static_cast<pb::PodSandboxState>(sandbox.state))});
}

void ListCollector::Add(const Container& container) {
  if (container.uid.empty()) return;
  if (container.id.empty() || container.name.empty()) {
    ++unreadable_containers_;
    return;
  }
  PodOf(container.uid, container.pod_ns, container.pod_name)
      .containers.push_back({.id = ContainerId(std::string(container.id)),
                             .name = std::string(container.name),
                             .attempt = container.attempt,
                             .state = StateOf(static_cast<pb::ContainerState>(container.state))});
}

sync::RuntimeList ListCollector::Take() {
  sync::RuntimeList list;
  list.pods.reserve(pods_.size());
  while (!pods_.empty()) {
    // tidy: allow random-order because the pods are sorted below
    auto node = pods_.extract(pods_.begin());
    sync::ListedPod& pod = list.pods.emplace_back(std::move(node.mapped()));
    pod.pod.uid = PodUid(std::move(node.key()));
    Sort(pod);
    DropRepeated(pod.sandboxes);
    DropRepeated(pod.containers);
  }
  std::ranges::sort(list.pods, {},
                    [](const sync::ListedPod& pod) -> const PodUid& { return pod.pod.uid; });
  return list;
}

}  // namespace denselet::cri
