#include "managers/source/http_source.h"

#include <utility>

#include "base/base64.h"
#include "base/hash.h"
#include "reactor/api/activity.h"

namespace denselet::managers {
namespace {

constexpr sync::SourceKind kHttp = sync::SourceKind::kHttp;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool TellsWhoWeAre(std::string_view header) {
  for (const std::string_view secret : {"Authorization", "Cookie", "Www-Authenticate"}) {
    if (net::EqualsIgnoringCase(header, secret)) return true;
  }
  return false;
}

std::string WithoutUser(std::string url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  const size_t at = url.substr(0, url.find('/', begin)).rfind('@');
  if (at != std::string::npos && at >= begin) url.erase(begin, at + 1 - begin);
  return url;
}

}  // namespace

HttpSource::HttpSource(reactor::Loop& loop, UrlDial dial, HttpSourceOptions options,
                       sync::PodSourceUser& user)
    : loop_(loop),
      dial_(std::move(dial)),
      options_(std::move(options)),
      user_(user),
      where_(WithoutUser(options_.url)),
      self_(std::make_shared<HttpSource*>(this)) {
  timer_ = loop_.Arm(loop_.Now(), [this] { Poll(); });
}

HttpSource::~HttpSource() {
  *self_ = nullptr;
  loop_.Disarm(timer_);
}

void HttpSource::Poll() {
  ++stats_.polls;
  redirects_ = 0;
  context_ = Context().WithTimeout(loop_.Now(), options_.answer_time_max);
  auto url = ParseManifestUrl(options_.url);
  if (!url) return End(url.error());
  first_ = *std::move(url);
  Ask(first_);
}

net::HttpRequest HttpSource::RequestFor(const ManifestUrl& url) const {
  net::HttpRequest request{.method = "GET",
                           .scheme = url.secure ? "https" : "http",
                           .authority = url.Authority(),
                           .target = url.target,
                           .headers = {}};
  const bool same_host = url.host == first_.host;
  for (const auto& [name, value] : options_.headers.entries()) {
    // The URL says whom we ask.
    if (net::EqualsIgnoringCase(name, "Host")) continue;
    if (same_host || !TellsWhoWeAre(name)) request.headers.Add(name, value);
  }
  if (!url.user_info.empty() && request.headers.Find("Authorization") == nullptr) {
    request.headers.Add("Authorization", "Basic " + Base64Encode(url.user_info));
  }
  return request;
}

void HttpSource::Ask(const ManifestUrl& url) {
  net::FetchOptions fetch;
  fetch.body_bytes_max = options_.body_bytes_max;
  net::Fetch(
      loop_, context_,
      [self = self_, url](const Context& context,
                          reactor::Done<std::unique_ptr<net::Stream>> done) {
        if (*self != nullptr) (*self)->dial_(context, url, std::move(done));
      },
      RequestFor(url), {}, fetch,
      [self = self_, url](Result<net::HttpResponse> answer) {
        if (*self != nullptr) (*self)->OnAnswer(url, std::move(answer));
      });
}

void HttpSource::OnAnswer(const ManifestUrl& url, Result<net::HttpResponse> answer) {
  if (!answer) return End(answer.error());
  if (IsRedirect(answer->status)) {
    const std::string* location = answer->headers.Find("Location");
    if (location == nullptr) {
      return End(Error(ErrorCode::kCorrupt, "a redirect that leads nowhere"));
    }
    if (++redirects_ > options_.redirects_max) {
      return End(Error(ErrorCode::kOverloaded,
                       "more redirects than " + std::to_string(options_.redirects_max)));
    }
    const auto next = FollowLocation(url, *location);
    if (!next) return End(next.error().With("redirect"));
    return Ask(*next);
  }
  if (answer->status != 200) {
    return End(Error(ErrorCode::kUnavailable, "the answer was " + std::to_string(answer->status) +
                                                  " " +
                                                  std::string(net::ReasonPhrase(answer->status))));
  }
  OnBody(answer->body);
}

void HttpSource::OnBody(const std::string& body) {
  if (body.empty()) {
    // What comes next is new, also when it is what was there before.
    body_hash_.reset();
    body_trouble_.reset();
    user_.OnPods(kHttp, {});
    return End(Error(ErrorCode::kInvalid, "the answer was empty: there is no pod"));
  }
  const uint64_t hash = Fnv1a64(body);
  if (body_hash_ == hash) return End(body_trouble_);
  body_hash_ = hash;
  body_trouble_.reset();
  body_used_ = false;
  ++stats_.decodes;
  const reactor::ActivityScope scope(loop_.activity(), "read manifest");
  Result<Manifest> manifest =
      DecodeManifest(body, ManifestForm::kPodOrList, options_.node_name,
                     {.kind = kube::StaticPodOrigin::Kind::kUrl, .location = options_.url});
  if (manifest) {
    body_trouble_ = std::move(manifest->ignored);
    body_used_ = true;
    user_.OnPods(kHttp, std::move(manifest->pods));
  } else {
    body_trouble_ = manifest.error();
  }
  End(body_trouble_);
}

void HttpSource::End(std::optional<Error> trouble) {
  timer_ = loop_.Arm(After(loop_.Now(), options_.check_period), [this] { Poll(); });
  if (trouble_ == trouble) return;
  trouble_ = std::move(trouble);
  if (trouble_ && trouble_ == body_trouble_ && body_used_) {
    return user_.OnPartIgnored(kHttp, where_, *trouble_);
  }
  if (trouble_) return user_.OnTrouble(kHttp, where_, *trouble_);
  user_.OnTroubleOver(kHttp, where_);
}

}  // namespace denselet::managers
