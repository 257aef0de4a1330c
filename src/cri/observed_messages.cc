#include "cri/observed_messages.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <tuple>

#include "base/quoted.h"
#include "cri/labels.h"
#include "cri/messages.h"
#include "cri/names.h"
#include "cri/spec_messages.h"
#include "cri/values.h"

namespace denselet::cri {

namespace {

constexpr size_t kQuotedBytesMax = 200;

Error Corrupt(std::string text) { return Error(ErrorCode::kCorrupt, std::move(text)); }

std::optional<WallTime> OptionalTime(int64_t nanoseconds) {
  if (nanoseconds <= 0) return std::nullopt;
  return TimeOf(nanoseconds);
}

template <class Map>
const std::string& Value(const Map& map, std::string_view key) {
  static const std::string kNone;
  const auto found = map.find(std::string(key));
  return found == map.end() ? kNone : found->second;
}

template <class T, class Map>
std::optional<T> Number(const Map& map, std::string_view key, int base = 10) {
  const std::string& text = Value(map, key);
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> IfSet(int64_t value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

bool IsAddress(const std::string& text) {
  std::array<unsigned char, 16> address;
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

// All or none, as the kubelet: half of a pod's addresses would be taken for its whole.
std::vector<std::string> AddressesOf(const pb::PodSandboxNetworkStatus& network) {
  std::vector<std::string> addresses;
  if (!network.ip().empty()) addresses.push_back(network.ip());
  for (const pb::PodIP& further : network.additional_ips()) addresses.push_back(further.ip());
  return std::ranges::all_of(addresses, IsAddress) ? addresses : std::vector<std::string>{};
}

sync::ObservedResources ReadResources(const pb::LinuxContainerResources& resources) {
  return {.cpu_shares = IfSet(resources.cpu_shares()),
          .cpu_quota_us = IfSet(resources.cpu_quota()),
          .cpu_period_us = IfSet(resources.cpu_period()),
          .memory_limit_bytes = IfSet(resources.memory_limit_in_bytes())};
}

sync::ObservedUser ReadUser(const pb::LinuxContainerUser& user) {
  return {.uid = user.uid(),
          .gid = user.gid(),
          .supplemental_groups = {user.supplemental_groups().begin(),
                                  user.supplemental_groups().end()}};
}

sync::ObservedMount ReadMount(const pb::Mount& mount) {
  return {.container_path = mount.container_path(),
          .host_path = mount.host_path(),
          .read_only = mount.readonly(),
          .recursive_read_only = mount.recursive_read_only(),
          .image_ref = mount.image().image_ref()};
}

void ReadAnnotations(const pb::ContainerStatus& status, sync::ObservedContainer& container) {
  const auto& annotations = status.annotations();
  container.hash = Number<uint64_t>(annotations, kHashAnnotation, 16);
  container.restart_count = Number<uint32_t>(annotations, kRestartCountAnnotation);
  container.pod_termination_grace_seconds =
      Number<int64_t>(annotations, kTerminationGraceAnnotation);
  container.pod_deletion_grace_seconds = Number<int64_t>(annotations, kDeletionGraceAnnotation);
  container.termination_message_path = Value(annotations, kTerminationMessagePathAnnotation);
  container.termination_message_policy = Value(annotations, kTerminationMessagePolicyAnnotation);
  container.pre_stop_json = Value(annotations, kPreStopAnnotation);
  container.ports_json = Value(annotations, kPortsAnnotation);
}

// What is missing, in the words of the kubelet; empty: nothing.
std::string MissingOf(const pb::ContainerStatus& status) {
  if (status.id().empty()) return "status.Id is not set";
  if (!status.has_metadata()) return "status.Metadata is not set";
  if (status.metadata().name().empty()) return "metadata.Name is not set in the status";
  if (status.created_at() == 0) return "status.CreatedAt is not set";
  if (!status.has_image() || status.image().image().empty()) return "status.Image is not set";
  if (status.image_ref().empty()) return "status.ImageRef is not set";
  return {};
}

std::string MissingOf(const pb::PodSandboxStatus& status) {
  if (status.id().empty()) return "status.Id is not set";
  if (!status.has_metadata()) return "status.Metadata is not set";
  const pb::PodSandboxMetadata& metadata = status.metadata();
  if (metadata.name().empty() || metadata.namespace_().empty() || metadata.uid().empty()) {
    return "metadata.Name, metadata.Namespace or metadata.Uid is not in the status";
  }
  if (status.created_at() == 0) return "status.CreatedAt is not set";
  return {};
}

std::optional<sync::RuntimeCondition> ConditionOf(const pb::RuntimeStatus& status,
                                                  std::string_view type) {
  for (const pb::RuntimeCondition& condition : status.conditions()) {
    if (condition.type() != type) continue;
    return sync::RuntimeCondition{
        .met = condition.status(), .reason = condition.reason(), .message = condition.message()};
  }
  return std::nullopt;
}

sync::FilesystemUsage ReadFilesystem(const pb::FilesystemUsage& usage) {
  return {.mountpoint = usage.fs_id().mountpoint(),
          .used_bytes = usage.used_bytes().value(),
          .inodes_used = usage.inodes_used().value()};
}

// Sandboxes by descending attempt, containers by name and descending attempt. Of several with the
// same, whose order means nothing, the id decides, so that it is always the same one.
template <class Pod>
void SortPod(Pod& pod) {
  std::ranges::sort(pod.sandboxes, [](const auto& a, const auto& b) {
    return std::tie(b.attempt, a.id) < std::tie(a.attempt, b.id);
  });
  std::ranges::sort(pod.containers, [](const auto& a, const auto& b) {
    return std::tie(a.name, b.attempt, a.id) < std::tie(b.name, a.attempt, b.id);
  });
}

}  // namespace

Result<sync::RuntimeVersion> ReadVersion(const pb::VersionResponse& response) {
  if (response.version() != kApiVersion) {
    return Corrupt("the runtime speaks version " + Quoted(response.version(), kQuotedBytesMax) +
                   " of its API, not \"0.1.0\"");
  }
  if (response.runtime_name().empty() || response.runtime_version().empty() ||
      response.runtime_api_version().empty()) {
    return Corrupt("not all fields are set in VersionResponse (" +
                   Quoted(response.ShortDebugString(), kQuotedBytesMax) + ")");
  }
  return sync::RuntimeVersion{.name = response.runtime_name(),
                              .version = response.runtime_version(),
                              .api_version = response.runtime_api_version()};
}

Result<sync::RuntimeStatus> ReadStatus(const pb::StatusResponse& response) {
  if (response.status().conditions_size() < 2) {
    return Corrupt("RuntimeReady or NetworkReady condition are not set");
  }
  sync::RuntimeStatus status = {
      .runtime_ready = ConditionOf(response.status(), "RuntimeReady"),
      .network_ready = ConditionOf(response.status(), "NetworkReady"),
      .supplemental_groups_policy = response.features().supplemental_groups_policy(),
      .user_namespaces_host_network = response.features().user_namespaces_host_network(),
  };
  for (const pb::RuntimeHandler& handler : response.runtime_handlers()) {
    status.handlers.push_back(
        {.name = handler.name(),
         .recursive_read_only_mounts = handler.features().recursive_read_only_mounts(),
         .user_namespaces = handler.features().user_namespaces()});
  }
  std::ranges::stable_sort(status.handlers, {}, &sync::RuntimeHandler::name);
  return status;
}

Result<sync::ObservedSandbox> ReadSandbox(const pb::PodSandboxStatus& status) {
  if (const std::string missing = MissingOf(status); !missing.empty()) return Corrupt(missing);
  const bool on_node = status.linux().namespaces().options().network() == pb::NamespaceMode::NODE;
  return sync::ObservedSandbox{
      .id = SandboxId(status.id()),
      .attempt = status.metadata().attempt(),
      .state = StateOf(status.state()),
      .created = TimeOf(status.created_at()),
      .runtime_handler = status.runtime_handler(),
      .network = on_node ? sync::NetworkMode::kNode : sync::NetworkMode::kPod,
      .ips = AddressesOf(status.network()),
  };
}

Result<sync::ObservedContainer> ReadContainer(const pb::ContainerStatus& status) {
  if (const std::string missing = MissingOf(status); !missing.empty()) return Corrupt(missing);
  sync::ObservedContainer container = {
      .id = ContainerId(status.id()),
      .name = status.metadata().name(),
      .attempt = status.metadata().attempt(),
      .state = StateOf(status.state()),
      .created = TimeOf(status.created_at()),
      .image = status.image().image(),
      .image_ref = status.image_ref(),
      .image_id = status.image_id(),
      .started = OptionalTime(status.started_at()),
      .finished = OptionalTime(status.finished_at()),
      .exit_code = status.exit_code(),
      .reason = status.reason(),
      .message = status.message(),
      .log_path = status.log_path(),
      .stop_signal = SignalName(status.stop_signal()),
  };
  ReadAnnotations(status, container);
  if (status.resources().has_linux())
    container.resources = ReadResources(status.resources().linux());
  if (status.user().has_linux()) container.user = ReadUser(status.user().linux());
  for (const pb::Mount& mount : status.mounts()) container.mounts.push_back(ReadMount(mount));
  return container;
}

sync::PodIdentity OwnerOf(const pb::PodSandbox& sandbox) {
  const std::string* uid = PodUidLabel(sandbox.labels());
  if (uid == nullptr) return {};
  return {.ref = {.ns = sandbox.metadata().namespace_(), .name = sandbox.metadata().name()},
          .uid = PodUid(*uid)};
}

sync::PodIdentity OwnerOf(const pb::Container& container) {
  const std::string* uid = PodUidLabel(container.labels());
  if (uid == nullptr) return {};
  return {.ref = {.ns = Value(container.labels(), kPodNamespaceLabel),
                  .name = Value(container.labels(), kPodNameLabel)},
          .uid = PodUid(*uid)};
}

std::optional<PodUid> OwnerOf(const pb::ContainerEventResponse& event) {
  if (const std::string* uid = PodUidLabel(event.pod_sandbox_status().labels()))
    return PodUid(*uid);
  for (const pb::ContainerStatus& status : event.containers_statuses()) {
    if (const std::string* uid = PodUidLabel(status.labels())) return PodUid(*uid);
  }
  const std::string& uid = event.pod_sandbox_status().metadata().uid();
  if (!uid.empty()) return PodUid(uid);
  return std::nullopt;
}

std::optional<sync::PodHint> ReadHint(const pb::ContainerEventResponse& event) {
  const std::optional<PodUid> pod = OwnerOf(event);
  if (!pod) return std::nullopt;
  const bool began = event.container_event_type() == pb::CONTAINER_CREATED_EVENT ||
                     event.container_event_type() == pb::CONTAINER_STARTED_EVENT;
  if (!began || event.container_id().empty()) return sync::PodHint(*pod);
  return sync::PodHint(*pod, event.container_id());
}

sync::ObservedImage ReadImage(const pb::Image& image) {
  sync::ObservedImage observed = {
      .id = ImageId(image.id()),
      .repo_tags = {image.repo_tags().begin(), image.repo_tags().end()},
      .repo_digests = {image.repo_digests().begin(), image.repo_digests().end()},
      .size_bytes = image.size(),
      .username = image.username(),
      .pinned = image.pinned(),
  };
  if (image.has_uid()) observed.uid = image.uid().value();
  return observed;
}

Result<sync::ObservedImage> ReadFoundImage(const pb::Image& image, const std::string& asked) {
  if (image.id().empty() || image.size() == 0) {
    return Corrupt("Id or size of image " + Quoted(asked, kQuotedBytesMax) + " is not set");
  }
  return ReadImage(image);
}

sync::ImageFilesystems ReadFilesystems(const pb::ImageFsInfoResponse& response) {
  sync::ImageFilesystems filesystems;
  for (const auto& usage : response.image_filesystems()) {
    filesystems.images.push_back(ReadFilesystem(usage));
  }
  for (const auto& usage : response.container_filesystems()) {
    filesystems.containers.push_back(ReadFilesystem(usage));
  }
  return filesystems;
}

void Sort(sync::ObservedPod& pod) { SortPod(pod); }
void Sort(sync::ListedPod& pod) { SortPod(pod); }

}  // namespace denselet::cri
