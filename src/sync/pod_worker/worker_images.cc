// How a pod worker gets the images that a container needs: of volumes that it mounts, then its own;
// with the credentials that the pod names.
#include <memory>
#include <utility>

#include "sync/images/image_name.h"
#include "sync/images/keyring.h"
#include "sync/pod_worker/pod_worker.h"
#include "sync/pod_worker/worker_pauses.h"

namespace denselet::sync {
namespace {

constexpr std::string_view kConfigError = "CreateContainerConfigError";

std::string JoinedNames(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

void SetFailed(ImageFact& image, ImageOutcome outcome, TimePoint now) {
  image.state = WorkState::kFailed;
  image.reason = std::move(outcome.reason);
  image.message = std::move(outcome.message);
  image.retry_at = After(now, outcome.retry_in);
}

}  // namespace

// What is to be had for one start of one container, in this order.
struct PodWorker::ImageErrand {
  struct Part {
    std::string volume = {};  // empty: the container's own image
    std::string image = {};
    PullPolicy policy = PullPolicy::kIfNotPresent;
  };
  std::string container = {};
  std::string own_image = {};
  uint32_t attempt = 0;
  std::vector<Part> parts = {};
  size_t next = 0;
  SandboxSpec sandbox = {};
  Keys keys = {};
  std::vector<std::pair<std::string, std::string>> volumes = {};  // references, by volume
};

Status PodWorker::Begin(const EnsureImages& action, TimePoint now) {
  for (const EnsureImages::Item& item : action.items) {
    ImageFact& fact = facts_.containers[item.container].image;
    fact.attempt = item.attempt;
    fact.state = WorkState::kInProgress;
  }
  if (plan_.pull_secrets.empty()) {
    for (const EnsureImages::Item& item : action.items) EnsureImage(item, nullptr, now);
    return Ok();
  }
  const Result<OpToken> op = host_.BeginOp(*this, "image pull secrets", OpGroup::kStarts);
  if (!op) {
    for (const EnsureImages::Item& item : action.items) {
      SetFailed(
          facts_.containers[item.container].image,
          {.reason = "ErrImagePull", .message = op.error().message(), .retry_in = kWorkPauseMax},
          now);
    }
    return Ok();
  }
  // By name: the plan may be another one when they come.
  std::vector<std::pair<std::string, uint32_t>> wanted;
  for (const EnsureImages::Item& item : action.items) {
    wanted.emplace_back(plan_.containers[item.container].name, item.attempt);
  }
  host_.ports().specs.FetchPullSecrets(
      WorkContext(*op, now, kWorkLimit), pod_id_.ref.ns, plan_.pull_secrets,
      [done = host_.Reply<PullSecrets>(
           *op, [wanted = std::move(wanted)](PodWorker& w, const Result<PullSecrets>& secrets,
                                             TimePoint then) {
             w.TakePullSecrets(wanted, *secrets, then);
           })](PullSecrets secrets) mutable { done(std::move(secrets)); });
  return Ok();
}

// Without those that are missing it is tried all the same: the image may be there, or anybody's.
void PodWorker::TakePullSecrets(const std::vector<std::pair<std::string, uint32_t>>& wanted,
                                const PullSecrets& secrets, TimePoint now) {
  if (!secrets.missing.empty() && !starts_given_up_) {
    Tell("", EventType::kWarning, "FailedToRetrieveImagePullSecret",
         "Unable to retrieve some image pull secrets (" + JoinedNames(secrets.missing) +
             "); attempting to pull the image may not succeed.");
  }
  const Keys keys = std::make_shared<const Result<Keyring>>(Keyring::Read(secrets.secrets));
  for (const auto& [name, attempt] : wanted) {
    const ContainerIndex index = plan_.Find(name);
    if (index == kNoContainer) continue;
    const ImageFact& fact = facts_.containers[index].image;
    if (fact.attempt != attempt || fact.state != WorkState::kInProgress) continue;
    EnsureImage({.container = index, .attempt = attempt}, keys, now);
  }
}

void PodWorker::EnsureImage(const EnsureImages::Item& item, const Keys& keys, TimePoint now) {
  const ContainerPlan& container = plan_.containers[item.container];
  // Of a pod that had its sandbox before our time: no sandbox is made of what cannot be.
  const Result<SandboxSpec> sandbox = host_.ports().specs.Sandbox(pod_, 0);
  if (!sandbox) {
    TellFailure(container.name, ToStatus(sandbox));
    return SetFailed(facts_.containers[item.container].image,
                     {.reason = std::string(kConfigError),
                      .message = sandbox.error().message(),
                      .retry_in = kWorkPauseMax},
                     now);
  }
  ImageErrand errand{.container = container.name,
                     .own_image = container.image,
                     .attempt = item.attempt,
                     .sandbox = *sandbox,
                     .keys = keys};
  for (const ImageVolumePlan& volume : container.image_volumes) {
    errand.parts.push_back({volume.volume, volume.image, volume.policy});
  }
  errand.parts.push_back({"", container.image, host_.ports().specs.Policy(pod_, container.name)});
  EnsureNext(std::move(errand), now);
}

ImageFact* PodWorker::FactOf(const ImageErrand& errand) {
  const ContainerIndex index = plan_.Find(errand.container);
  if (index == kNoContainer || plan_.containers[index].image != errand.own_image) return nullptr;
  ImageFact& fact = facts_.containers[index].image;
  if (fact.attempt != errand.attempt || fact.state != WorkState::kInProgress) return nullptr;
  return &fact;
}

void PodWorker::EnsureNext(ImageErrand errand, TimePoint now) {
  ImageFact* const fact = FactOf(errand);
  if (fact == nullptr) return;
  const auto refuse = [&](std::string why) {
    SetFailed(*fact,
              {.reason = "ErrImagePull", .message = std::move(why), .retry_in = kWorkPauseMax},
              now);
  };
  // The pod's end came between.
  if (Ends()) return refuse("cancelled");
  const ImageErrand::Part& part = errand.parts[errand.next];
  const Result<OpToken> op = host_.BeginOp(*this, "image", OpGroup::kStarts);
  if (!op) return refuse(op.error().message());
  // What is told of a volume's image is told of the pod.
  ImageWish wish{.pod = pod_id_,
                 .container = errand.container,
                 .told_of = EventObjectOf(part.volume.empty() ? errand.container : ""),
                 .image = part.image,
                 .policy = part.policy,
                 .sandbox = errand.sandbox};
  if (errand.keys != nullptr) {
    const Result<std::string> repository = RepositoryOf(part.image);
    if (!*errand.keys) {
      wish.credentials_fault = errand.keys->error().message();
    } else if (repository) {
      wish.credentials = (*errand.keys)->Lookup(*repository);
    }
  }
  host_.ports().images.Ensure(
      WorkContext(*op, now, Duration::max()), std::move(wish),
      [done = host_.Reply<ImageOutcome>(
           *op, [errand = std::move(errand)](PodWorker& w, Result<ImageOutcome> answer,
                                             TimePoint then) mutable {
             w.TakeImage(std::move(errand), *std::move(answer), then);
           })](ImageOutcome outcome) mutable { done(std::move(outcome)); });
}

void PodWorker::TakeImage(ImageErrand errand, ImageOutcome outcome, TimePoint now) {
  ImageFact* const fact = FactOf(errand);
  if (fact == nullptr) return;
  const ImageErrand::Part& part = errand.parts[errand.next];
  TellImage(errand.container, part.volume, part.image, outcome);
  if (outcome.image_ref.empty()) return SetFailed(*fact, std::move(outcome), now);
  if (!part.volume.empty()) {
    errand.volumes.emplace_back(part.volume, std::move(outcome.image_ref));
    ++errand.next;
    return EnsureNext(std::move(errand), now);
  }
  *fact = {.state = WorkState::kDone,
           .attempt = errand.attempt,
           .image_ref = std::move(outcome.image_ref),
           .image_uid = outcome.image_uid,
           .image_username = std::move(outcome.image_username),
           .volumes = std::move(errand.volumes)};
  timeline_.images = now;
}

}  // namespace denselet::sync
