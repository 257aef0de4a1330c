#include "bench/cri_sim/encode.h"

#include "bench/cri_sim/wire.h"

namespace denselet::cri_sim {
namespace {

int64_t Nanos(WallTime at) { return at.time_since_epoch().count(); }

void AppendPairs(std::string& out, int field, const Pairs& pairs) {
  pairs.ForEach([&](std::string_view entry, std::string_view, std::string_view) {
    AppendBytes(out, field, entry);
  });
}

void AppendSandboxMetadata(std::string& out, int field, const SandboxSpec& spec) {
  std::string metadata;
  AppendText(metadata, 1, spec.name);
  AppendText(metadata, 2, spec.uid);
  AppendText(metadata, 3, spec.pod_namespace);
  AppendNumber(metadata, 4, spec.attempt);
  AppendBytes(out, field, metadata);
}

void AppendContainerMetadata(std::string& out, int field, const ContainerSpec& spec) {
  std::string metadata;
  AppendText(metadata, 1, spec.name);
  AppendNumber(metadata, 2, spec.attempt);
  AppendBytes(out, field, metadata);
}

void AppendImage(std::string& out, int field, std::string_view image, std::string_view user) {
  std::string spec;
  AppendText(spec, 1, image);
  AppendText(spec, 18, user);
  AppendBytes(out, field, spec);
}

}  // namespace

std::string EncodeSandbox(const Sandbox& sandbox) {
  std::string out;
  out.reserve(256 + sandbox.spec.labels.bytes() + sandbox.spec.annotations.bytes());
  AppendText(out, 1, sandbox.id);
  AppendSandboxMetadata(out, 2, sandbox.spec);
  AppendNumber(out, 3, static_cast<int64_t>(sandbox.state));
  AppendNumber(out, 4, Nanos(sandbox.created_at));
  AppendPairs(out, 5, sandbox.spec.labels);
  AppendPairs(out, 6, sandbox.spec.annotations);
  AppendText(out, 7, sandbox.spec.runtime_handler);
  return out;
}

std::string EncodeSandboxStatus(const Sandbox& sandbox, const std::string& node_ip) {
  std::string out;
  AppendText(out, 1, sandbox.id);
  AppendSandboxMetadata(out, 2, sandbox.spec);
  AppendNumber(out, 3, static_cast<int64_t>(sandbox.state));
  AppendNumber(out, 4, Nanos(sandbox.created_at));
  // On the host's network containerd tells no address; the kubelet knows it.
  std::string network;
  AppendText(network, 1, sandbox.spec.host_network ? node_ip : sandbox.ip.ToString());
  AppendBytes(out, 5, network);
  AppendBytes(out, 6, sandbox.spec.linux_status);
  AppendPairs(out, 7, sandbox.spec.labels);
  AppendPairs(out, 8, sandbox.spec.annotations);
  AppendText(out, 9, sandbox.spec.runtime_handler);
  return out;
}

std::string EncodeContainer(const Container& container) {
  const ContainerSpec& spec = container.spec;
  std::string out;
  out.reserve(512 + spec.labels.bytes() + spec.annotations.bytes());
  AppendText(out, 1, container.id);
  AppendText(out, 2, container.sandbox->id);
  AppendContainerMetadata(out, 3, spec);
  AppendImage(out, 4, spec.image, spec.user_image);
  AppendText(out, 5, spec.image_id);
  AppendNumber(out, 6, static_cast<int64_t>(container.state));
  AppendNumber(out, 7, Nanos(container.created_at));
  AppendPairs(out, 8, spec.labels);
  AppendPairs(out, 9, spec.annotations);
  AppendText(out, 10, spec.image_id);
  return out;
}

std::string EncodeContainerStatus(const Container& container) {
  const ContainerSpec& spec = container.spec;
  std::string out;
  AppendText(out, 1, container.id);
  AppendContainerMetadata(out, 2, spec);
  AppendNumber(out, 3, static_cast<int64_t>(container.state));
  AppendNumber(out, 4, Nanos(container.created_at));
  AppendNumber(out, 5, Nanos(container.started_at));
  AppendNumber(out, 6, Nanos(container.finished_at));
  AppendNumber(out, 7, container.exit_code);
  AppendImage(out, 8, spec.image_tag, spec.user_image);
  AppendText(out, 9, spec.image_ref);
  AppendText(out, 10, container.reason);
  AppendText(out, 11, container.message);
  AppendPairs(out, 12, spec.labels);
  AppendPairs(out, 13, spec.annotations);
  AppendText(out, 15, spec.log_path);
  AppendText(out, 16, spec.resources);
  AppendText(out, 17, spec.image_id);
  out += spec.status_extra;
  return out;
}

std::string EncodeEvent(EventKind kind, const Sandbox& sandbox, const std::string& id,
                        const std::string& node_ip, WallTime now) {
  std::string out;
  AppendText(out, 1, id);
  AppendNumber(out, 2, static_cast<int64_t>(kind));
  AppendNumber(out, 3, Nanos(now));
  AppendBytes(out, 4, EncodeSandboxStatus(sandbox, node_ip));
  for (const Container* container : sandbox.containers) {
    AppendBytes(out, 5, EncodeContainerStatus(*container));
  }
  return out;
}

}  // namespace denselet::cri_sim
