#include "cri/pod_read.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "cri/messages.h"
#include "cri/methods.h"
#include "cri/names.h"
#include "cri/observed_messages.h"
#include "rpc/call.h"

namespace denselet::cri {

namespace {

using reactor::Done;

struct FoundContainer {
  ContainerId id;
  SandboxId sandbox;
};

// What a list with a filter found. A runtime that does not heed the filter is caught by the uid.
template <class Id>
struct Found {
  sync::PodIdentity pod = {};
  std::vector<Id> objects = {};
};

Result<Found<SandboxId>> FindSandboxes(const PodUid& pod, pb::ListPodSandboxResponse& response) {
  Found<SandboxId> found;
  for (const pb::PodSandbox& sandbox : response.items()) {
    sync::PodIdentity owner = OwnerOf(sandbox);
    if (owner.uid != pod || sandbox.id().empty()) continue;
    found.pod = std::move(owner);
    found.objects.emplace_back(sandbox.id());
  }
  return found;
}

Result<Found<FoundContainer>> FindContainers(const PodUid& pod,
                                             pb::ListContainersResponse& response) {
  Found<FoundContainer> found;
  for (const pb::Container& container : response.containers()) {
    sync::PodIdentity owner = OwnerOf(container);
    if (owner.uid != pod || container.id().empty()) continue;
    found.pod = std::move(owner);
    found.objects.push_back({ContainerId(container.id()), SandboxId(container.pod_sandbox_id())});
  }
  return found;
}

void AskForContainer(rpc::Client& client, const Context& context, const ContainerId& id,
                     Done<sync::ObservedContainer> done) {
  pb::ContainerStatusRequest request;
  request.set_container_id(id.value());
  rpc::Call<pb::ContainerStatusResponse, sync::ObservedContainer>(
      client, context, methods::kContainerStatus, std::move(request),
      [](pb::ContainerStatusResponse& response) { return ReadContainer(response.status()); },
      std::move(done));
}

// Puts the sandbox into what is read.
Done<sync::ObservedContainer> InSandbox(SandboxId sandbox, Done<sync::ObservedContainer> done) {
  return [sandbox = std::move(sandbox),
          done = std::move(done)](Result<sync::ObservedContainer> read) mutable {
    if (read) read->sandbox = std::move(sandbox);
    done(std::move(read));
  };
}

// One ReadPod. Shared by the calls under way, of which the last to end lets it go; when the client
// goes they let it go unasked.
//
//   finding (both lists) --> asking (one call an object, kStatusCallsMax at once) --> told
class PodRead : public std::enable_shared_from_this<PodRead> {
 public:
  PodRead(rpc::Client& client, const Context& context, PodUid pod, Done<sync::ObservedPod> done)
      : client_(client), context_(context), uid_(std::move(pod)), done_(std::move(done)) {}

  void Start() {
    under_way_ = 2;
    pb::ListPodSandboxRequest sandboxes;
    (*sandboxes.mutable_filter()->mutable_label_selector())[std::string(kPodUidLabel)] =
        uid_.value();
    rpc::Call<pb::ListPodSandboxResponse, Found<SandboxId>>(
        client_, context_, methods::kFindPodSandbox, std::move(sandboxes),
        [uid = uid_](pb::ListPodSandboxResponse& answer) { return FindSandboxes(uid, answer); },
        Done<Found<SandboxId>>([self = shared_from_this()](Result<Found<SandboxId>> found) {
          self->OnFound(std::move(found), self->sandboxes_);
        }));
    pb::ListContainersRequest containers;
    (*containers.mutable_filter()->mutable_label_selector())[std::string(kPodUidLabel)] =
        uid_.value();
    rpc::Call<pb::ListContainersResponse, Found<FoundContainer>>(
        client_, context_, methods::kFindContainers, std::move(containers),
        [uid = uid_](pb::ListContainersResponse& answer) { return FindContainers(uid, answer); },
        Done<Found<FoundContainer>>(
            [self = shared_from_this()](Result<Found<FoundContainer>> found) {
              self->OnFound(std::move(found), self->containers_);
            }));
  }

 private:
  template <class Id>
  void OnFound(Result<Found<Id>> found, std::vector<Id>& ids) {
    --under_way_;
    if (!found) return Tell(found.error());
    ids = std::move(found->objects);
    // Either will do, but a sandbox has name and namespace first hand.
    if (!found->pod.uid.empty() && (std::is_same_v<Id, SandboxId> || pod_.pod.uid.empty())) {
      pod_.pod = std::move(found->pod);
    }
    if (under_way_ == 0) AskMore();
  }

  void AskMore() {
    if (!done_) return;
    while (under_way_ < kStatusCallsMax && next_ < sandboxes_.size() + containers_.size()) {
      ++under_way_;
      const size_t index = next_++;
      if (index < sandboxes_.size()) {
        ReadSandbox(client_, context_, sandboxes_[index],
                    [self = shared_from_this()](Result<sync::ObservedSandbox> sandbox) {
                      self->OnAnswer(sandbox, self->pod_.sandboxes);
                    });
        continue;
      }
      const FoundContainer& found = containers_[index - sandboxes_.size()];
      AskForContainer(client_, context_, found.id,
                      InSandbox(found.sandbox, [self = shared_from_this()](
                                                   Result<sync::ObservedContainer> container) {
                        self->OnAnswer(container, self->pod_.containers);
                      }));
    }
    if (under_way_ > 0) return;
    Sort(pod_);
    Tell(std::move(pod_));
  }

  template <class Object>
  void OnAnswer(Result<Object>& object, std::vector<Object>& into) {
    --under_way_;
    if (!object) return OnFailure(object.error());
    into.push_back(std::move(*object));
    AskMore();
  }

  // Not inlined: GCC 12 loses its way in the variant and sees an uninitialized code.
  [[gnu::noinline]] void OnFailure(const Error& error) {
    if (error.code() != ErrorCode::kNotFound) return Tell(error);
    AskMore();
  }

  // Once: the first error is the answer, and what comes after it is not wanted any more.
  void Tell(Result<sync::ObservedPod> result) {
    if (Done<sync::ObservedPod> done = std::move(done_)) done(std::move(result));
  }

  rpc::Client& client_;
  const Context context_;
  const PodUid uid_;
  Done<sync::ObservedPod> done_;
  sync::ObservedPod pod_;
  std::vector<SandboxId> sandboxes_;
  std::vector<FoundContainer> containers_;
  size_t next_ = 0;  // to ask for: sandboxes, then containers
  size_t under_way_ = 0;
};

}  // namespace

void ReadPod(rpc::Client& client, const Context& context, const PodUid& pod,
             Done<sync::ObservedPod> done) {
  std::make_shared<PodRead>(client, context, pod, std::move(done))->Start();
}

void ReadSandbox(rpc::Client& client, const Context& context, const SandboxId& id,
                 Done<sync::ObservedSandbox> done) {
  pb::PodSandboxStatusRequest request;
  request.set_pod_sandbox_id(id.value());
  rpc::Call<pb::PodSandboxStatusResponse, sync::ObservedSandbox>(
      client, context, methods::kPodSandboxStatus, std::move(request),
      [](pb::PodSandboxStatusResponse& response) { return ReadSandbox(response.status()); },
      std::move(done));
}

// Its sandbox is in no status: where nobody knows it, a list comes first.
void ReadContainer(rpc::Client& client, const Context& context, const ContainerId& container,
                   const SandboxId& known_sandbox, Done<sync::ObservedContainer> done) {
  if (!known_sandbox.empty()) {
    return AskForContainer(client, context, container, InSandbox(known_sandbox, std::move(done)));
  }
  pb::ListContainersRequest request;
  request.mutable_filter()->set_id(container.value());
  const auto find = [container](pb::ListContainersResponse& response) -> Result<SandboxId> {
    for (const pb::Container& each : response.containers()) {
      if (each.id() == container.value() && !OwnerOf(each).uid.empty()) {
        return SandboxId(each.pod_sandbox_id());
      }
    }
    return Error(ErrorCode::kNotFound, "the runtime has no such container");
  };
  auto found = [&client, context, container,
                done = std::move(done)](Result<SandboxId> sandbox) mutable {
    if (!sandbox) return done(sandbox.error());
    AskForContainer(client, context, container, InSandbox(*std::move(sandbox), std::move(done)));
  };
  rpc::Call<pb::ListContainersResponse, SandboxId>(client, context, methods::kFindContainers,
                                                   std::move(request), find,
                                                   Done<SandboxId>(std::move(found)));
}

}  // namespace denselet::cri
