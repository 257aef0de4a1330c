#include "sync/images/image_puller.h"

#include <algorithm>
#include <utility>

#include "sync/images/image_name.h"
#include "sync/images/pull_failure.h"

namespace denselet::sync {
namespace {

// A container does not wait longer for a number that people may want to read.
constexpr Duration kMeasureMax = Seconds(2);

// After a failure the next look is soon: it only turns the reason into ImagePullBackOff.
constexpr Duration kTellBackOff = Seconds(1);
constexpr Duration kAskAgain = Seconds(10);

// A thousand pods of one image ask once. A look that is older may hang, and then only those wait
// for it who came with it.
constexpr Duration kJoinLookWithin = Milliseconds(100);

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// As the kubelet: an image that names no user, and one that nobody can look at, is root's.
ImageOutcome Present(std::string ref, const ObservedImage* image, std::string message) {
  ImageOutcome outcome{.image_ref = std::move(ref), .message = std::move(message)};
  if (image != nullptr) outcome.image_uid = image->uid;
  if (image != nullptr && !image->uid) outcome.image_username = image->username;
  if (!outcome.image_uid && outcome.image_username.empty()) outcome.image_uid = 0;
  return outcome;
}

// For people, who do not read microseconds.
std::string InMilliseconds(Duration time) {
  return FormatDuration(std::chrono::duration_cast<Milliseconds>(time));
}

}  // namespace

ImagePuller::ImagePuller(reactor::Loop& loop, ImageService& images,
                         const ImagePullerOptions& options)
    : loop_(loop),
      images_(images),
      options_(options),
      wishes_(options.wishes_max),
      tokens_(options.burst),
      tokens_at_(loop.Now()),
      alive_(std::make_shared<bool>(true)) {
  CHECK(options_.parallel_max > 0);
}

ImagePuller::~ImagePuller() {
  *alive_ = false;
  for (auto& [key, pull] : pulls_) {
    loop_.Disarm(pull.timer);
    if (pull.cancel != nullptr) pull.cancel->Cancel();
  }
}

void ImagePuller::Ensure(const Context& context, ImageWish wish,
                         UniqueFunction<void(ImageOutcome)> done) {
  const Result<std::string> image = WithDefaultTag(wish.image);
  Wish mine{context, std::move(wish), image ? *image : std::string(), std::move(done)};
  const std::optional<SlotKey> key = wishes_.Insert(std::move(mine));
  if (!key) {
    loop_.Post([done = std::move(mine.done)]() mutable {
      done({.reason = "ErrImagePull",
            .message = "too many images are asked for",
            .retry_in = kAskAgain});
    });
    return;
  }
  wishes_.Find(*key)->wished_at = loop_.Now();
  if (!image) {
    return AnswerSoon(
        *key, {.reason = "InvalidImageName",
               .message = "Failed to apply default image tag " +
                          Quoted(wishes_.Find(*key)->wish.image) + ": " + image.error().message(),
               .retry_in = Minutes(1)});
  }
  if (context.cancel.cancelled()) {
    return AnswerSoon(*key, {.reason = "ErrImagePull", .message = "cancelled"});
  }
  wishes_.Find(*key)->cancelled = context.cancel.OnCancel([this, key = *key] { OnCancelled(key); });
  Look(*key);
}

void ImagePuller::Answer(SlotKey key, ImageOutcome outcome) {
  std::optional<Wish> wish = wishes_.Remove(key);
  if (!wish) return;
  wish->cancelled.Forget();
  wish->done(std::move(outcome));
}

void ImagePuller::AnswerSoon(SlotKey key, ImageOutcome outcome) {
  loop_.Post([this, alive = alive_, key, outcome = std::move(outcome)]() mutable {
    if (*alive) Answer(key, std::move(outcome));
  });
}

void ImagePuller::OnCancelled(SlotKey key) {
  for (auto& [pull_key, pull] : pulls_) std::erase(pull.wishes, key);
  std::erase_if(pulls_, [this](const auto& entry) {
    if (!entry.second.wishes.empty() || entry.second.started) return false;
    std::erase(line_, entry.first);
    return true;
  });
  for (auto& [pull_key, pull] : pulls_) {
    if (pull.wishes.empty() && pull.cancel != nullptr) pull.cancel->Cancel();
  }
  AnswerSoon(key, {.reason = "ErrImagePull", .message = "cancelled"});
}

void ImagePuller::Look(SlotKey key) {
  Wish& wish = *wishes_.Find(key);
  if (wish.wish.policy == PullPolicy::kAlways) return WantPull(key);
  const std::pair name(wish.image, wish.wish.image);
  std::shared_ptr<SharedLook>& newest = looks_[name];
  if (newest != nullptr && loop_.Now() - newest->began < kJoinLookWithin) {
    return newest->wishes.push_back(key);
  }
  newest = std::make_shared<SharedLook>(SharedLook{loop_.Now(), {key}});
  // Of nobody in particular: who is cancelled leaves it to the others.
  Context context;
  context.priority = wish.context.priority;
  images_.Find(context.WithTimeout(loop_.Now(), options_.look_deadline),
               {.image = wish.image, .user_specified = wish.wish.image},
               [this, alive = alive_, name,
                look = newest](const Result<std::optional<ObservedImage>>& answer) {
                 if (!*alive) return;
                 if (const auto mine = looks_.find(name);
                     mine != looks_.end() && mine->second == look) {
                   looks_.erase(mine);
                 }
                 OnLookEnded(*look, answer);
               });
}

void ImagePuller::OnLookEnded(const SharedLook& look,
                              const Result<std::optional<ObservedImage>>& answer) {
  for (const SlotKey key : look.wishes) OnLooked(key, answer);
}

void ImagePuller::OnLooked(SlotKey key, const Result<std::optional<ObservedImage>>& answer) {
  Wish* wish = wishes_.Find(key);
  if (wish == nullptr) return;
  const std::string quoted = Quoted(wish->wish.image);
  if (!answer) {
    return Answer(key,
                  {.reason = "ImageInspectError",
                   .message = "Failed to inspect image " + quoted + ": " + answer.error().message(),
                   .retry_in = kAskAgain});
  }
  if (answer->has_value()) {
    std::string ref = (*answer)->id.value();
    backoffs_.erase({wish->wish.pod.uid, wish->image});
    return Answer(key, Present(std::move(ref), &**answer,
                               "Container image " + quoted +
                                   " already present on machine and can be accessed by the pod"));
  }
  if (wish->wish.policy == PullPolicy::kNever) {
    return Answer(
        key, {.reason = "ErrImageNeverPull",
              .message = "Container image " + quoted + " is not present with pull policy of Never",
              .retry_in = kAskAgain});
  }
  WantPull(key);
}

void ImagePuller::WantPull(SlotKey key) {
  Wish& wish = *wishes_.Find(key);
  const auto backoff = backoffs_.find({wish.wish.pod.uid, wish.image});
  if (backoff != backoffs_.end() && backoff->second.until > loop_.Now()) {
    const ImageOutcome outcome{.reason = "ImagePullBackOff",
                               .message = "Back-off pulling image " + Quoted(wish.wish.image) +
                                          ": " + backoff->second.last_error,
                               .retry_in = backoff->second.until - loop_.Now()};
    return AnswerSoon(key, outcome);
  }
  if (!wish.wish.credentials_fault.empty()) {
    return AnswerSoon(
        key,
        {.reason = "ErrImagePull", .message = wish.wish.credentials_fault, .retry_in = kAskAgain});
  }
  const PullKey pull_key{wish.image, wish.wish.credentials};
  Pull& pull = pulls_[pull_key];
  pull.wishes.push_back(key);
  if (pull.started && pulling_listener_) pulling_listener_(wish.wish);
  if (pull.wishes.size() == 1 && !pull.started) line_.push_back(pull_key);
  Pump();
}

bool ImagePuller::TakeToken(TimePoint now) {
  if (options_.pulls_per_second <= 0) return true;
  const double passed = std::chrono::duration<double>(now - tokens_at_).count();
  tokens_ = std::min(options_.burst, tokens_ + passed * options_.pulls_per_second);
  tokens_at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void ImagePuller::Pump() {
  while (pulling_ < options_.parallel_max && !line_.empty()) {
    const PullKey key = std::move(line_.front());
    line_.pop_front();
    Pull& pull = pulls_.at(key);
    CHECK(!pull.started);
    const Wish* first = wishes_.Find(pull.wishes.front());
    CHECK(first != nullptr);
    pull.started = true;
    pull.began = loop_.Now();
    pull.request = {.image = key.image, .user_specified = first->wish.image};
    pull.sandbox = first->wish.sandbox;
    pull.priority = first->context.priority;
    pull.cancel = std::make_unique<CancelSource>();
    pull.timer = loop_.Arm(After(loop_.Now(), options_.slow_after), [this, key] { OnSlow(key); });
    ++pulling_;
    for (const SlotKey wish : pull.wishes) {
      if (pulling_listener_) pulling_listener_(wishes_.Find(wish)->wish);
    }
    TryPull(key, pull);
  }
}

// With the credentials that come next. Each try counts for the registry.
void ImagePuller::TryPull(const PullKey& key, Pull& pull) {
  const auto done = [this, alive = alive_, key](const Result<std::string>& answer) {
    if (*alive) OnTried(key, answer);
  };
  if (!TakeToken(loop_.Now())) {
    loop_.Post([done] { done(Error(ErrorCode::kOverloaded, "pull QPS exceeded")); });
    return;
  }
  Context context;
  context.priority = pull.priority;
  context.cancel = pull.cancel->token();
  const PodIdentity& first = pull.sandbox.pod;
  context.pod = std::make_shared<const ContextPod>(ContextPod{first.ref, first.uid});
  const size_t next = pull.failures.size();
  images_.Pull(context, pull.request,
               key.credentials.empty() ? ImageCredentials{} : key.credentials[next], pull.sandbox,
               done);
}

void ImagePuller::OnTried(const PullKey& key, const Result<std::string>& answer) {
  const auto found = pulls_.find(key);
  CHECK(found != pulls_.end());
  Pull& pull = found->second;
  if (answer || pull.cancel->token().cancelled()) return OnPulled(key, answer);
  pull.failures.push_back(answer.error().message());
  if (pull.failures.size() < key.credentials.size()) return TryPull(key, pull);
  OnPulled(key, Error(answer.error().code(), JoinPullErrors(pull.failures)));
}

void ImagePuller::OnSlow(const PullKey& key) {
  if (slow_ >= options_.slow_max) return;
  const auto found = pulls_.find(key);
  CHECK(found != pulls_.end() && found->second.started);
  found->second.slow = true;
  ++slow_;
  --pulling_;
  Pump();
}

void ImagePuller::OnPulled(const PullKey& pulled, const Result<std::string>& answer) {
  const auto found = pulls_.find(pulled);
  CHECK(found != pulls_.end());
  loop_.Disarm(found->second.timer);
  --(found->second.slow ? slow_ : pulling_);
  const std::vector<SlotKey> keys = std::move(found->second.wishes);
  const TimePoint began = found->second.began;
  const bool given_up = found->second.cancel->token().cancelled();
  pulls_.erase(found);
  // Who joined a pull that nobody wanted any more gets one of their own.
  if (!answer && given_up) {
    for (const SlotKey key : keys) {
      if (wishes_.Find(key) != nullptr) WantPull(key);
    }
    return Pump();
  }
  for (const SlotKey key : keys) {
    Wish* wish = wishes_.Find(key);
    if (wish == nullptr) continue;
    if (answer) {
      backoffs_.erase({wish->wish.pod.uid, wish->image});
      Measure(key, *answer, loop_.Now() - began);
      continue;
    }
    PullFailure failure = FailureOfPull(wish->wish.image, answer.error().message());
    Failed(*wish, failure.reason + ": " + failure.message);
    Answer(key, {.reason = std::move(failure.reason),
                 .message = std::move(failure.message),
                 .pull_error = std::move(failure.error),
                 .retry_in = kTellBackOff});
  }
  Pump();
}

// Its size is for people only: without it the message is shorter.
void ImagePuller::Measure(SlotKey key, const std::string& ref, Duration took) {
  const Wish& wish = *wishes_.Find(key);
  const std::string message = "Successfully pulled image " + Quoted(wish.wish.image) + " in " +
                              InMilliseconds(took) + " (" +
                              InMilliseconds(loop_.Now() - wish.wished_at) + " including waiting).";
  images_.Find(
      Context{}.WithTimeout(loop_.Now(), kMeasureMax),
      {.image = ref, .user_specified = wish.wish.image},
      [this, alive = alive_, key, ref, message](const Result<std::optional<ObservedImage>>& found) {
        if (!*alive) return;
        const bool known = found && found->has_value();
        if (!known) return Answer(key, Present(ref, nullptr, message));
        Answer(key, Present(ref, &**found,
                            message + " Image size: " + std::to_string((*found)->size_bytes) +
                                " bytes."));
      });
}

void ImagePuller::Failed(const Wish& wish, std::string told) {
  if (backoffs_.size() >= options_.backoffs_max) {
    const auto oldest = std::ranges::min_element(
        backoffs_, {}, [](const auto& entry) { return entry.second.used; });
    backoffs_.erase(oldest);
  }
  const TimePoint now = loop_.Now();
  BackOff& backoff = backoffs_[{wish.wish.pod.uid, wish.image}];
  // As upstream: a pause that was not needed for twice the maximum starts over.
  const bool old = now - backoff.used > 2 * options_.backoff_max;
  backoff.pause = backoff.pause == Duration::zero() || old
                      ? options_.backoff_min
                      : std::min(backoff.pause * 2, options_.backoff_max);
  backoff.used = now;
  backoff.until = After(now, backoff.pause);
  backoff.last_error = std::move(told);
}

void ImagePuller::Forget(const PodUid& pod) {
  std::erase_if(backoffs_, [&pod](const auto& entry) { return entry.first.first == pod; });
}

}  // namespace denselet::sync
