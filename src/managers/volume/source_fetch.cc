#include "managers/volume/source_fetch.h"

#include <memory>
#include <utility>

#include "base/check.h"

namespace denselet::managers {
namespace {

// Shared by the callbacks under way: the last of them answers.
struct Fetch {
  SourceAnswers answers = {};
  size_t missing = 0;
  UniqueFunction<void(SourceAnswers)> done;

  void Came() {
    if (--missing == 0) done(std::move(answers));
  }
};

}  // namespace

void FetchSources(sync::PodObjects& objects, const Context& context, const SourceWishes& wishes,
                  UniqueFunction<void(SourceAnswers)> done) {
  const auto fetch = std::make_shared<Fetch>();
  fetch->missing = wishes.objects.size() + wishes.tokens.size() + wishes.trusts.size();
  fetch->done = std::move(done);
  CHECK(fetch->missing > 0);
  for (const sync::ObjectKey& key : wishes.objects) {
    objects.Fetch(context, key, [fetch, key](Result<sync::ObjectBytes> answer) {
      fetch->answers.objects.emplace(key, std::move(answer));
      fetch->Came();
    });
  }
  for (const sync::TokenWish& wish : wishes.tokens) {
    objects.Token(context, wish, [fetch, wish](Result<sync::ServiceToken> answer) {
      fetch->answers.tokens.emplace(wish, std::move(answer));
      fetch->Came();
    });
  }
  for (const sync::TrustWish& wish : wishes.trusts) {
    objects.TrustAnchors(context, wish, [fetch, wish](Result<sync::ObjectBytes> answer) {
      fetch->answers.trusts.emplace(wish, std::move(answer));
      fetch->Came();
    });
  }
}

}  // namespace denselet::managers
