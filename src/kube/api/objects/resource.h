// Where a kind of object lives on the API server: its group, version and plural, and the paths made
// of them.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "kube/api/codec/codec.h"

namespace denselet::kube {

enum class Scope : bool { kCluster, kNamespace };

struct Resource {
  std::string_view group;  // empty: the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  Scope scope = Scope::kNamespace;

  std::string ApiVersion() const;  // "v1", "coordination.k8s.io/v1"
  TypeMeta Type() const { return {ApiVersion(), std::string(kind)}; }

  // "/api/v1/namespaces/default/pods"; without a namespace: of all of them.
  std::string CollectionPath(std::string_view ns) const;
  // "/api/v1/namespaces/default/pods/web/status"
  std::string ObjectPath(const ObjectRef& object, std::string_view subresource = {}) const;
};

inline constexpr std::string_view kCertificatesGroup = "certificates.k8s.io";

inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap"};
inline constexpr Resource kCertificateSigningRequests{kCertificatesGroup, "v1",
                                                      "certificatesigningrequests",
                                                      "CertificateSigningRequest", Scope::kCluster};
inline constexpr Resource kCsiNodes{"storage.k8s.io", "v1", "csinodes", "CSINode", Scope::kCluster};
inline constexpr Resource kEvents{"", "v1", "events", "Event"};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline constexpr Resource kNamespaces{"", "v1", "namespaces", "Namespace", Scope::kCluster};
inline constexpr Resource kNodes{"", "v1", "nodes", "Node", Scope::kCluster};
inline constexpr Resource kPods{"", "v1", "pods", "Pod"};
inline constexpr Resource kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass",
                                          Scope::kCluster};
inline constexpr Resource kSecrets{"", "v1", "secrets", "Secret"};
inline constexpr Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount"};
inline constexpr Resource kServices{"", "v1", "services", "Service"};

// Puts a text into a path or a query, so that it stays one piece of it.
std::string PercentEncode(std::string_view text);

}  // namespace denselet::kube
