// What pods refer to on the API server: configMaps, secrets, services, tokens of their service
// accounts, trust bundles. managers/secrets implements it; who builds environments and fills
// volumes asks.
//
// One instance a shard, in front of the one cache of the node on the API shard. Objects come as
// their protobuf bytes, immutable and shared by all shards: a configMap of a thousand pods is in
// memory once.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/api/pod/pod_at_rest.h"
#include "reactor/api/file_system.h"

namespace denselet::sync {

// All trust bundles of the cluster are one object without a name: which of them a pod refers to
// changes with their labels.
enum class ObjectKind : uint8_t { kConfigMap, kSecret, kTrustBundles };

struct ObjectKey {
  ObjectKind kind = ObjectKind::kConfigMap;
  ObjectRef ref = {};
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

// Shared, because whoever fills a volume from it may still read while a newer one has come.
using ObjectBytes = std::shared_ptr<const std::string>;

// All services of a namespace and those of `default` that every pod hears of, as their bytes.
struct ServiceSet {
  std::vector<ObjectBytes> services = {};
};

// A pod of the API server proves that there is one: its services are waited for. A static pod is
// not to wait for anybody.
enum class WhenUnlisted : uint8_t {
  kWait,  // for a while, then kUnavailable
  kNone,  // then there are none
};

// A token of a pod's service account, bound to the pod (TokenRequest).
struct TokenWish {
  std::string ns = {};
  std::string service_account = {};
  std::string audience = {};  // empty: the API server's own
  int64_t expiration_seconds = 3600;
  std::string pod_name = {};
  PodUid pod_uid = {};
  friend auto operator<=>(const TokenWish&, const TokenWish&) = default;
};

// Certificates of ClusterTrustBundles: of one by its name, or of those of a signer that a selector
// means.
struct TrustWish {
  std::string name = {};  // empty: by signer
  std::string signer = {};
  std::optional<std::string> selector = {};  // its bytes; nothing: none is meant
  bool optional = false;                     // without any: an empty text
  friend auto operator<=>(const TrustWish&, const TrustWish&) = default;
};

struct ServiceToken {
  std::string token = {};
  WallTime expires = {};
  WallTime refresh_at = {};  // from then on a new one should be asked for
};

// Told on the pod's shard, in a later turn.
class PodObjectsUser {
 public:
  // An object that the pod refers to is another one now, has come or has gone.
  virtual void OnObjectChanged(const PodUid& pod, const ObjectKey& key) = 0;

 protected:
  ~PodObjectsUser() = default;
};

class PodObjects {
 public:
  virtual ~PodObjects() = default;

  // From here on what the pod refers to is kept up to date. Asked again with a newer form of the
  // pod, what only the older one referred to is let go.
  virtual void Follow(const kube::PodRef& pod) = 0;
  virtual void Unfollow(const PodUid& pod) = 0;

  // Answers once, in a later turn, when the object is known (a first list may have to come), within
  // the context's deadline. kNotFound: the API server says that there is none.
  virtual void Fetch(const Context&, const ObjectKey&, reactor::Done<ObjectBytes>) = 0;
  // Before the services were listed once: as asked for; without an API server: none.
  virtual void Services(const Context&, const std::string& ns, WhenUnlisted,
                        reactor::Done<ServiceSet>) = 0;
  // One that is still good is handed out again; one due for renewal is renewed first, and where
  // that fails the old one serves as long as it lasts.
  virtual void Token(const Context&, const TokenWish&, reactor::Done<ServiceToken>) = 0;
  // In PEM, each once. kNotFound: there is none, and it is not optional.
  virtual void TrustAnchors(const Context&, const TrustWish&, reactor::Done<ObjectBytes>) = 0;
};

}  // namespace denselet::sync
