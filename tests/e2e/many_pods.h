// Pods of one node on a real API server, by the thousand: made, given a status, and changed, many
// requests at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "sync/ports/api_server.h"

namespace denselet::e2e {

struct ManyPodsOptions {
  // Both are made, and the service account that the pods want.
  std::string ns = {};
  std::string node = {};
  size_t count = 0;
  // The bytes of a pod; each gets a name of its own. Its status, if it has one, is set as well.
  std::string pod = {};
  size_t requests_max = 64;  // at once
};

// The bytes of a small pod without a status.
std::string SmallPod();

// Lives on the loop of `api`, which outlives it, and which its owner turns until nothing is under
// way. Destroyed before that, it hears of nothing more.
class ManyPods {
 public:
  static constexpr char kLabel[] = "denselet.dev/round";

  ManyPods(sync::ApiServer& api, ManyPodsOptions options);
  ~ManyPods();
  ManyPods(const ManyPods&) = delete;
  ManyPods& operator=(const ManyPods&) = delete;

  // Each of them starts work, which is done in the order in which it was started.
  void Create();
  // Sets the label of each pod to `value`.
  void Label(const std::string& value);
  // Also the node; the namespace stays.
  void Delete();

  bool busy() const { return !passes_.empty(); }
  // The first request that did not succeed; the rest of the work was dropped then.
  const std::optional<Error>& failed() const { return failed_; }

  std::string NameOf(size_t pod) const;

 private:
  // The same for many objects.
  struct Pass {
    size_t count;
    std::function<sync::ApiRequest(size_t)> request;
    size_t started = 0, under_way = 0;
  };

  void Do(size_t count, std::function<sync::ApiRequest(size_t)> request);
  void Feed();
  void OnAnswer(const Result<sync::ApiObject>& answer);
  sync::ApiRequest PodRequest(sync::ApiVerb verb, size_t pod) const;

  sync::ApiServer& api_;
  const ManyPodsOptions options_;
  const std::shared_ptr<ManyPods*> self_;  // shared with requests under way
  std::deque<Pass> passes_;
  std::optional<Error> failed_;
};

}  // namespace denselet::e2e
