// Static pods from a URL (staticPodURL): a Pod or a PodList, asked for again and again.
//
// As upstream: the next question comes check_period after the last answer, good or bad; an answer
// must be 200 and come within 10 s; one that is empty means that there is no pod; one that cannot
// be used, or none at all, leaves the pods as they were; redirects are followed, ten at most, and
// what tells who we are is not sent to another host. Proxies of the environment are not used.
//
// Lives on the shard of its loop; destroying it ends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "managers/source/manifest.h"
#include "managers/source/manifest_url.h"
#include "reactor/api/loop.h"
#include "reactor/net/http/message.h"
#include "reactor/net/http1/fetch.h"
#include "sync/ports/pod_source.h"

namespace denselet::managers {

struct HttpSourceOptions {
  std::string url = {};
  net::Headers headers = {};  // staticPodURLHeader
  std::string node_name = {};
  Duration check_period = Seconds(20);  // httpCheckFrequency
  Duration answer_time_max = Seconds(10);
  // A longer answer is none: the pods stay as they were, and it is reported.
  size_t body_bytes_max = kManifestBytesMax;
  int redirects_max = 10;
};

// As UrlDialer::Dial.
using UrlDial = UniqueFunction<void(const Context&, const ManifestUrl&,
                                    reactor::Done<std::unique_ptr<net::Stream>>)>;

struct HttpSourceStats {
  uint64_t polls = 0;
  uint64_t decodes = 0;
};

class HttpSource final : public sync::PodSource {
 public:
  HttpSource(reactor::Loop& loop, UrlDial dial, HttpSourceOptions options,
             sync::PodSourceUser& user);
  ~HttpSource() override;
  HttpSource(const HttpSource&) = delete;
  HttpSource& operator=(const HttpSource&) = delete;

  sync::SourceKind kind() const override { return sync::SourceKind::kHttp; }
  const HttpSourceStats& stats() const { return stats_; }

 private:
  void Poll();
  void Ask(const ManifestUrl& url);
  net::HttpRequest RequestFor(const ManifestUrl& url) const;
  void OnAnswer(const ManifestUrl& url, Result<net::HttpResponse> answer);
  void OnBody(const std::string& body);
  // The end of a poll; the next comes after a pause.
  void End(std::optional<Error> trouble);

  reactor::Loop& loop_;
  UrlDial dial_;
  const HttpSourceOptions options_;
  sync::PodSourceUser& user_;
  const std::string where_;                  // the URL, without what is secret in it
  const std::shared_ptr<HttpSource*> self_;  // shared with requests under way

  Context context_;  // of this poll
  ManifestUrl first_;
  int redirects_ = 0;
  std::optional<uint64_t> body_hash_;  // of the last body that was decoded
  std::optional<Error> body_trouble_;  // what it had
  bool body_used_ = false;             // all the same
  std::optional<Error> trouble_;       // as told
  HttpSourceStats stats_;
  reactor::TimerId timer_;
};

}  // namespace denselet::managers
