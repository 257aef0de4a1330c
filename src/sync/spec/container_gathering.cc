#include "sync/spec/container_gathering.h"

#include "base/quoted.h"
#include "sync/spec/container_spec.h"
#include "sync/spec/hosts_file.h"
#include "sync/spec/ip_preference.h"
#include "sync/spec/pod_traits.h"
#include "sync/spec/sandbox_spec.h"
#include "sync/spec/unsupported_fields.h"

namespace denselet::sync {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message

}  // namespace

PodSpecBuilder::Gathering::Gathering(PodSpecBuilder& owner, uint64_t number, const Context& context,
                                     kube::PodRef pod, ContainerWish wish,
                                     reactor::Done<ContainerSpec> done)
    : owner_(owner),
      number_(number),
      context_(context),
      pod_(std::move(pod)),
      wish_(std::move(wish)),
      done_(std::move(done)) {}

template <class T, class Take>
reactor::Done<T> PodSpecBuilder::Gathering::Then(Take take) {
  return [&owner = owner_, alive = owner_.alive_, number = number_,
          take = std::move(take)](Result<T> answer) mutable {
    if (!*alive) return;
    const auto found = owner.gathering_.find(number);
    if (found != owner.gathering_.end()) take(*found->second, std::move(answer));
  };
}

void PodSpecBuilder::Gathering::Begin() {
  if (const Status parsed = Parse(); !parsed) {
    owner_.seams_.loop.Post(
        [finish = Then<Unit>([error = parsed.error()](Gathering& it, const Status&) {
           it.Finish(error);
         })]() mutable { finish(Unit{}); });
    return;
  }
  Ask();
}

Status PodSpecBuilder::Gathering::Parse() {
  Result<std::unique_ptr<kube::core::Pod>> parsed = pod_->Parse();
  if (!parsed) return parsed.error();
  parsed_ = *std::move(parsed);
  if (Status supported = CheckSupported(*parsed_); !supported) return supported;
  std::optional<kube::core::Container> container = FindContainer(*parsed_, wish_.name);
  if (!container) {
    return Error(ErrorCode::kNotFound, "the pod has no such container")
        .With("container " + Quoted(wish_.name, kShownMax));
  }
  container_ = *std::move(container);
  return Ok();
}

void PodSpecBuilder::Gathering::Ask() {
  EnvironmentNeeds needs = NeedsOf(*parsed_, container_);
  if (!owner_.node_.env_files) {
    for (const EnvFileRef& file : std::exchange(needs.files, {})) {
      facts_.files.emplace(file, std::string());
    }
  }
  awaited_ = 1 + needs.objects.size() + needs.files.size();
  const std::string& ns = parsed_->metadata().namespace_();
  const bool is_static = IsStaticPod(*parsed_);
  owner_.seams_.objects.Services(context_, ns,
                                 is_static ? WhenUnlisted::kNone : WhenUnlisted::kWait,
                                 Then<ServiceSet>([](Gathering& it, Result<ServiceSet> services) {
                                   if (services) {
                                     it.facts_.services = *std::move(services);
                                   } else {
                                     it.unlisted_ = services.error();
                                   }
                                   it.Arrived();
                                 }));
  for (const ObjectKey& key : needs.objects) {
    owner_.seams_.objects.Fetch(context_, key,
                                Then<ObjectBytes>([key](Gathering& it, Result<ObjectBytes> bytes) {
                                  it.facts_.objects.emplace(key, std::move(bytes));
                                  it.Arrived();
                                }));
  }
  for (const EnvFileRef& file : needs.files) {
    owner_.seams_.volumes.ReadFile(
        context_, pod_, file.volume, file.path, kEnvFileMax,
        Then<std::string>([file](Gathering& it, Result<std::string> text) {
          it.facts_.files.emplace(file, std::move(text));
          it.Arrived();
        }));
  }
}

void PodSpecBuilder::Gathering::Arrived() {
  if (--awaited_ == 0) MakeEnvironmentNow();
}

void PodSpecBuilder::Gathering::MakeEnvironmentNow() {
  if (unlisted_) return Finish(*unlisted_);
  const SpecNodeNow& now = owner_.now_;
  facts_.host_ips = now.host_ips;
  // One in the node's network has the node's addresses.
  facts_.pod_ips = parsed_->spec().hostnetwork() ? now.host_ips
                                                 : IpsByPreference(wish_.pod_ips, now.prefers_ipv6);
  facts_.allocatable = now.allocatable;
  facts_.pod_folder = PodFolder();
  Result<KeyValues> env = MakeEnvironment(*parsed_, container_, facts_);
  if (!env) return Finish(env.error());
  env_ = *std::move(env);
  if (!WantsHostsFile(*parsed_, container_, wish_.pod_ips)) return AskMounts();
  if (parsed_->spec().hostnetwork()) return ReadNodeHosts();
  const Result<PodHostname> hostname = HostnameOf(*parsed_, owner_.node_.cluster_domain);
  if (!hostname) return Finish(hostname.error());
  CompareHosts(HostsFile(*parsed_, *hostname, wish_.pod_ips));
}

std::string PodSpecBuilder::Gathering::PodFolder() const {
  return owner_.node_.pods_dir + "/" + parsed_->metadata().uid();
}

void PodSpecBuilder::Gathering::ReadNodeHosts() {
  owner_.seams_.files.ReadFile(context_, "/etc/hosts", kHostsFileMax,
                               Then<std::string>([](Gathering& it, Result<std::string> text) {
                                 if (!text) return it.Finish(text.error());
                                 it.CompareHosts(NodeHostsFile(*it.parsed_, *text));
                               }));
}

void PodSpecBuilder::Gathering::CompareHosts(std::string text) {
  hosts_ = std::move(text);
  std::deque<uint64_t>& line = owner_.at_hosts_[PodFolder()];
  line.push_back(number_);
  if (line.size() == 1) CompareHostsNow();
}

// Written where it is, because the containers before this one have that very file; but not over the
// same, because they would see it empty for a moment.
void PodSpecBuilder::Gathering::CompareHostsNow() {
  owner_.seams_.files.ReadFile(
      context_, PodFolder() + "/etc-hosts", kHostsFileMax * 2,
      Then<std::string>([](Gathering& it, const Result<std::string>& before) {
        if (before && *before == it.hosts_) return it.AskMounts();
        it.WriteHosts();
      }));
}

void PodSpecBuilder::Gathering::WriteHosts() {
  reactor::FileSystem& files = owner_.seams_.files;
  files.Open(context_, PodFolder() + "/etc-hosts", reactor::OpenMode::kCreateOrTruncate, kHostsMode,
             Then<reactor::FileId>([](Gathering& it, Result<reactor::FileId> file) {
               if (!file) return it.Finish(file.error());
               it.owner_.seams_.files.Append(
                   it.context_, *file, it.hosts_,
                   it.Then<Unit>([file = *file](Gathering& that, const Status& written) {
                     that.owner_.seams_.files.Close(file);
                     if (!written) return that.Finish(written.error());
                     that.AskMounts();
                   }));
             }));
}

void PodSpecBuilder::Gathering::LeaveHosts() {
  const auto found = owner_.at_hosts_.find(PodFolder());
  if (found == owner_.at_hosts_.end() || found->second.front() != number_) return;
  found->second.pop_front();
  if (found->second.empty()) {
    owner_.at_hosts_.erase(found);
  } else {
    owner_.gathering_.at(found->second.front())->CompareHostsNow();
  }
}

void PodSpecBuilder::Gathering::AskMounts() {
  LeaveHosts();
  owner_.seams_.volumes.MountsOf(
      context_, pod_, wish_, env_,
      Then<std::vector<MountSpec>>([](Gathering& it, Result<std::vector<MountSpec>> mounts) {
        if (!mounts) return it.Finish(mounts.error());
        it.Specify(*std::move(mounts));
      }));
}

void PodSpecBuilder::Gathering::Specify(std::vector<MountSpec> mounts) {
  if (WantsHostsFile(*parsed_, container_, wish_.pod_ips)) {
    mounts.push_back({.container_path = "/etc/hosts",
                      .host_path = PodFolder() + "/etc-hosts",
                      .selinux_relabel = owner_.node_.selinux});
  }
  SpecContainer facts;
  facts.attempt = wish_.attempt;
  facts.image_ref = wish_.image_ref;
  facts.image_uid = wish_.image_uid;
  facts.image_username = wish_.image_username;
  facts.pid_target = wish_.pid_target;
  facts.env = std::move(env_);
  facts.mounts = std::move(mounts);
  Finish(MakeContainerSpec(*parsed_, container_, owner_.node_, owner_.PodFacts(), facts));
}

void PodSpecBuilder::Gathering::Finish(Result<ContainerSpec> answer) {
  if (parsed_ != nullptr) LeaveHosts();
  const auto self = owner_.gathering_.extract(number_);  // until this returns
  done_(std::move(answer));
}

}  // namespace denselet::sync
