#include "sync/spec/pod_specs.h"

#include <memory>
#include <optional>
#include <string_view>

#include "kube/api/types.h"
#include "sync/spec/container_gathering.h"
#include "sync/spec/sandbox_spec.h"
#include "sync/spec/unsupported_fields.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

// An ephemeral container in the form of a container: upstream gives the fields of the one the
// numbers of the other, and a test holds it to that.
std::optional<core::Container> FromEphemeral(const core::EphemeralContainer& ephemeral) {
  core::Container container;
  if (!container.ParseFromString(ephemeral.ephemeralcontainercommon().SerializeAsString())) {
    return std::nullopt;
  }
  return container;
}

}  // namespace

std::optional<core::Container> FindContainer(const core::Pod& pod, std::string_view name) {
  for (const auto& container : pod.spec().initcontainers()) {
    if (container.name() == name) return container;
  }
  for (const auto& container : pod.spec().containers()) {
    if (container.name() == name) return container;
  }
  for (const auto& ephemeral : pod.spec().ephemeralcontainers()) {
    if (ephemeral.ephemeralcontainercommon().name() == name) return FromEphemeral(ephemeral);
  }
  return std::nullopt;
}

PodSpecBuilder::PodSpecBuilder(const PodSpecSeams& seams, SpecNode node)
    : seams_(seams),
      node_(std::move(node)),
      dns_node_{.cluster_servers = node_.cluster_dns,
                .cluster_domain = node_.cluster_domain,
                .resolv_conf_path = node_.resolv_conf_path},
      host_dns_(DnsSpec{}),
      alive_(std::make_shared<bool>(true)) {
  if (node_.resolv_conf_path.empty()) return;
  host_dns_ = Error(ErrorCode::kUnavailable, "the node's resolv.conf has not been read yet");
}

PodSpecBuilder::~PodSpecBuilder() { *alive_ = false; }

void PodSpecBuilder::SetResolvConf(const Result<std::string>& text) {
  host_dns_ = text ? ParseResolvConf(*text) : Result<DnsSpec>(text.error());
  if (text && !host_dns_) {
    host_dns_ = Error(
        host_dns_.error().code(),
        "Encountered error while parsing resolv conf file. Error: " + host_dns_.error().message());
  }
}

SpecPod PodSpecBuilder::PodFacts() const {
  SpecPod facts;
  facts.cgroup_parent = node_.cgroup_root;
  return facts;
}

Result<SandboxSpec> PodSpecBuilder::Sandbox(const kube::PodRef& pod, uint32_t attempt) {
  const Result<std::unique_ptr<core::Pod>> parsed = pod->Parse();
  if (!parsed) return parsed.error();
  if (const Status supported = CheckSupported(**parsed); !supported) return supported.error();
  Result<PodDns> dns = DnsOf(**parsed);
  if (!dns) return dns.error();
  SpecPod facts = PodFacts();
  facts.dns = std::move(dns->dns);
  return MakeSandboxSpec(**parsed, attempt, node_, facts);
}

Result<PodDns> PodSpecBuilder::DnsOf(const core::Pod& pod) const {
  if (!host_dns_) return host_dns_.error();
  return MakePodDns(pod, dns_node_, *host_dns_, now_.host_ips);
}

std::vector<PodNote> PodSpecBuilder::Notes(const kube::PodRef& pod) {
  const Result<std::unique_ptr<core::Pod>> parsed = pod->Parse();
  if (!parsed) return {};
  Result<PodDns> dns = DnsOf(**parsed);
  if (!dns) return {};
  return std::move(dns->notes);
}

void PodSpecBuilder::Container(const Context& context, const kube::PodRef& pod,
                               const ContainerWish& wish, reactor::Done<ContainerSpec> done) {
  const uint64_t number = next_++;
  auto& mine = gathering_[number];
  mine = std::make_unique<Gathering>(*this, number, context, pod, wish, std::move(done));
  mine->Begin();
}

PullPolicy PodSpecBuilder::Policy(const kube::PodRef& pod, const std::string& container) {
  const Result<std::unique_ptr<core::Pod>> parsed = pod->Parse();
  if (!parsed) return PullPolicy::kIfNotPresent;
  const std::optional<core::Container> found = FindContainer(**parsed, container);
  if (!found) return PullPolicy::kIfNotPresent;
  return PullPolicyOf(found->imagepullpolicy());
}

namespace {

// Shared by the questions under way; the last answer ends it.
struct SecretFetch {
  std::vector<std::string> names;
  std::vector<Result<ObjectBytes>> answers;  // by name
  size_t missing = 0;
  UniqueFunction<void(PullSecrets)> done;

  void End() {
    PullSecrets secrets;
    for (size_t i = 0; i < names.size(); ++i) {
      if (answers[i]) {
        secrets.secrets.push_back(*answers[i]);
      } else {
        secrets.missing.push_back(names[i]);
      }
    }
    done(std::move(secrets));
  }
};

}  // namespace

void PodSpecBuilder::FetchPullSecrets(const Context& context, const std::string& ns,
                                      const std::vector<std::string>& names,
                                      UniqueFunction<void(PullSecrets)> done) {
  const auto fetch = std::make_shared<SecretFetch>();
  fetch->names = names;
  fetch->answers.assign(names.size(), Error(ErrorCode::kBug, "not answered"));
  fetch->missing = names.size();
  fetch->done = std::move(done);
  for (size_t i = 0; i < names.size(); ++i) {
    seams_.objects.Fetch(context, {ObjectKind::kSecret, {ns, names[i]}},
                         [alive = alive_, fetch, i](Result<ObjectBytes> answer) {
                           fetch->answers[i] = std::move(answer);
                           if (--fetch->missing == 0 && *alive) fetch->End();
                         });
  }
}

}  // namespace denselet::sync
