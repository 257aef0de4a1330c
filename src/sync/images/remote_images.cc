#include "sync/images/remote_images.h"

namespace denselet::sync {
namespace {

constexpr Duration kSendAgain = Milliseconds(10);

ImageOutcome Overloaded() {
  return {.reason = "ErrImagePull", .message = "too much is asked at once", .retry_in = Seconds(1)};
}

}  // namespace

ImageDesk::ImageDesk(reactor::Loop& loop, PodImages& puller, ShardRouter& router)
    : loop_(loop), puller_(puller), router_(router), self_(std::make_shared<ImageDesk*>(this)) {}

ImageDesk::~ImageDesk() { *self_ = nullptr; }

void ImageDesk::Ask(uint32_t shard, uint64_t number, Priority priority, ImageWish wish,
                    RemoteImages& asker, std::shared_ptr<bool> asker_alive) {
  auto cancel = std::make_unique<CancelSource>();
  Context context;
  context.priority = priority;
  context.cancel = cancel->token();
  asked_[{shard, number}] = std::move(cancel);
  puller_.Ensure(context, std::move(wish),
                 [self = self_, asker_alive = std::move(asker_alive), &asker, shard,
                  number](ImageOutcome outcome) {
                   ImageDesk* const desk = *self;
                   if (desk == nullptr || desk->asked_.erase({shard, number}) == 0) return;
                   desk->Answer(shard, number, asker, asker_alive, std::move(outcome));
                 });
}

// An answer must not be lost: somebody waits for it.
void ImageDesk::Answer(uint32_t shard, uint64_t number, RemoteImages& asker,
                       std::shared_ptr<bool> asker_alive, ImageOutcome outcome) {
  const Status sent = router_.Send(shard, [asker_alive, &asker, number, outcome]() mutable {
    if (*asker_alive) asker.Answer(number, std::move(outcome));
  });
  if (sent) return;
  loop_.Arm(After(loop_.Now(), kSendAgain), [self = self_, shard, number, &asker, asker_alive,
                                             outcome = std::move(outcome)]() mutable {
    if (*self != nullptr) (*self)->Answer(shard, number, asker, asker_alive, std::move(outcome));
  });
}

void ImageDesk::Cancel(uint32_t shard, uint64_t number) {
  const auto found = asked_.find({shard, number});
  if (found == asked_.end()) return;
  const std::unique_ptr<CancelSource> cancel = std::move(found->second);
  asked_.erase(found);
  cancel->Cancel();
}

RemoteImages::RemoteImages(reactor::Loop& loop, ShardRouter& router, uint32_t here, ImageDesk& desk,
                           uint32_t desk_shard)
    : loop_(loop),
      router_(router),
      here_(here),
      desk_(desk.self()),
      desk_shard_(desk_shard),
      alive_(std::make_shared<bool>(true)) {}

RemoteImages::~RemoteImages() { *alive_ = false; }

void RemoteImages::Ensure(const Context& context, ImageWish wish,
                          UniqueFunction<void(ImageOutcome)> done) {
  const uint64_t number = next_++;
  Asked& asked = asked_[number];
  asked.done = std::move(done);
  if (context.cancel.cancelled()) {
    return AnswerSoon(number, {.reason = "ErrImagePull", .message = "cancelled"});
  }
  asked.cancelled = context.cancel.OnCancel([this, number] {
    // A lost cancel costs one pull that nobody wanted.
    const Status sent = router_.Send(desk_shard_, [desk = desk_, here = here_, number] {
      if (*desk != nullptr) (*desk)->Cancel(here, number);
    });
    static_cast<void>(sent);
    AnswerSoon(number, {.reason = "ErrImagePull", .message = "cancelled"});
  });
  const Status sent =
      router_.Send(desk_shard_, [this, alive = alive_, desk = desk_, here = here_, number,
                                 priority = context.priority, wish = std::move(wish)]() mutable {
        if (*desk == nullptr) return;
        (*desk)->Ask(here, number, priority, std::move(wish), *this, std::move(alive));
      });
  if (!sent) AnswerSoon(number, Overloaded());
}

void RemoteImages::AnswerSoon(uint64_t number, ImageOutcome outcome) {
  loop_.Post([this, alive = alive_, number, outcome = std::move(outcome)]() mutable {
    if (*alive) Answer(number, std::move(outcome));
  });
}

void RemoteImages::Answer(uint64_t number, ImageOutcome outcome) {
  const auto found = asked_.find(number);
  if (found == asked_.end()) return;
  Asked asked = std::move(found->second);
  asked_.erase(found);
  asked.cancelled.Forget();
  asked.done(std::move(outcome));
}

void RemoteImages::Forget(const PodUid& pod) {
  const Status sent = router_.Send(desk_shard_, [desk = desk_, pod] {
    if (*desk != nullptr) (*desk)->Forget(pod);
  });
  static_cast<void>(sent);  // a back-off too long kept does no harm: the uid is gone
}

}  // namespace denselet::sync
