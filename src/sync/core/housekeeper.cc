#include "sync/core/housekeeper.h"

#include <utility>

namespace denselet::sync {

Housekeeper::Housekeeper(reactor::Loop& loop, Random& random, const Logger& log,
                         PodLeftovers& leftovers, HousekeeperUser& user,
                         const HousekeeperOptions& options)
    : loop_(loop),
      random_(random),
      log_(log),
      leftovers_(leftovers),
      user_(user),
      options_(options) {}

Housekeeper::~Housekeeper() {
  *alive_ = false;
  loop_.Disarm(timer_);
}

void Housekeeper::Start() {
  if (stage_ == Stage::kWaiting) Look();
}

void Housekeeper::Look() {
  stage_ = Stage::kLooking;
  timer_ = {};
  Context context;
  leftovers_.Find(context.WithTimeout(loop_.Now(), options_.look_limit),
                  [this, alive = alive_](const Result<std::vector<PodIdentity>>& pods) {
                    if (*alive) OnFound(pods);
                  });
}

void Housekeeper::OnFound(const Result<std::vector<PodIdentity>>& pods) {
  ++looks_;
  if (!pods) {
    log_.Error(pods.error(), "Could not look for what is left of pods");
    return Rest();
  }
  found_.assign(pods->begin(), pods->end());
  handed_before_ = std::exchange(handed_, 0);
  stage_ = Stage::kHanding;
  Hand();
}

// Those that are known cost no place in a handful, but not more than a turn's worth of them is
// passed over at once.
void Housekeeper::Hand() {
  timer_ = {};
  uint32_t left = options_.handful;
  for (uint32_t i = 0; i < 64 * options_.handful && left > 0 && !found_.empty(); ++i) {
    if (!user_.IsKnown(found_.front().uid)) {
      if (!user_.TakeLeftover(found_.front())) break;
      if (handed_++ == 0 && handed_before_ > 0) {
        log_.Info("There is still something left of pods that are gone", Pod(found_.front().ref),
                  Uid(found_.front().uid), KV("pods", handed_before_));
      }
      --left;
    }
    found_.pop_front();
  }
  if (found_.empty()) return Rest();
  timer_ = loop_.Arm(After(loop_.Now(), options_.pause), [this] { Hand(); });
}

// Ends before the next look begins: look_limit is shorter than the rest.
void Housekeeper::RemoveDeadLinks() {
  Context context;
  leftovers_.RemoveDeadLinks(
      context.WithTimeout(loop_.Now(), options_.look_limit),
      [this, alive = alive_](const Result<size_t>& removed) {
        if (!*alive) return;
        if (!removed) {
          log_.Error(removed.error(), "Could not look for links to logs that are gone");
        } else if (*removed > 0) {
          log_.Info("Removed links to logs that are gone", KV("links", *removed));
        }
      });
}

void Housekeeper::Rest() {
  stage_ = Stage::kResting;
  RemoveDeadLinks();
  if (handed_ > 0) log_.Info("Looked after what was left of pods", KV("pods", handed_));
  timer_ = loop_.Arm(After(loop_.Now(), random_.Jitter(options_.period, 0.2)), [this] { Look(); });
}

}  // namespace denselet::sync
