#include "managers/node/node_images.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace denselet::node {

namespace {

ImageInput ToInput(sync::ObservedImage image) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  return {.id = image.id.value(),
          .digests = std::move(image.repo_digests),
          .tags = std::move(image.repo_tags),
          .bytes = static_cast<int64_t>(std::min(image.size_bytes, kMost))};
}

}  // namespace

void SortImages(std::vector<ImageInput>& images) {
  std::ranges::sort(images, [](const ImageInput& a, const ImageInput& b) {
    return a.bytes == b.bytes ? a.id > b.id : a.bytes > b.bytes;
  });
}

NodeImages::NodeImages(reactor::Loop& loop, sync::ImageService& images, Logger log,
                       int32_t images_max)
    : loop_(loop), service_(images), log_(std::move(log)), images_max_(images_max) {}

NodeImages::~NodeImages() {
  loop_.Disarm(timer_);
  cancel_.Cancel();
}

void NodeImages::Start() {
  CHECK(stage_ == Stage::kIdle);
  if (images_max_ == 0) {
    images_.emplace();
    return;
  }
  Ask();
}

void NodeImages::Ask() {
  stage_ = Stage::kAsking;
  again_ = false;
  asked_at_ = loop_.Now();
  const Context context{.deadline = After(asked_at_, kAnswerTimeMax),
                        .priority = Priority::kBackground,
                        .cancel = cancel_.token(),
                        .trace = {}};
  service_.List(context,
                [this, alive = cancel_.token()](Result<std::vector<sync::ObservedImage>> list) {
                  if (!alive.cancelled()) OnListed(std::move(list));
                });
}

void NodeImages::OnListed(Result<std::vector<sync::ObservedImage>> list) {
  if (!list) {
    // What was listed before is nearer to the truth than nothing.
    if (unlisted_.IsNews(loop_.Now(), list.error().message())) {
      log_.Error(list.error(), "Could not list the images of the container runtime");
    }
    return Rest(kRetryPause);
  }
  (void)unlisted_.Over(loop_.Now());
  std::vector<ImageInput>& images = images_.emplace();
  for (sync::ObservedImage& image : *list) images.push_back(ToInput(std::move(image)));
  SortImages(images);
  if (images_max_ >= 0 && static_cast<size_t>(images_max_) < images.size()) {
    images.resize(static_cast<size_t>(images_max_));
    images.shrink_to_fit();
  }
  Rest(kPeriod);
}

void NodeImages::Rest(Duration pause) {
  stage_ = Stage::kResting;
  ask_at_ = After(loop_.Now(), pause);
  timer_ = loop_.Arm(ask_at_, [this] { Ask(); });
  if (again_) AskSoon();
}

void NodeImages::OnChanged() {
  switch (stage_) {
    case Stage::kIdle:
      return;  // all is listed when it starts
    case Stage::kAsking:
      again_ = true;
      return;
    case Stage::kResting:
      return AskSoon();
  }
}

void NodeImages::AskSoon() {
  const TimePoint at = std::max(After(loop_.Now(), kSettle), After(asked_at_, kAskedAgain));
  if (ask_at_ <= at) return;
  loop_.Disarm(timer_);
  ask_at_ = at;
  timer_ = loop_.Arm(at, [this] { Ask(); });
}

}  // namespace denselet::node
