#include "kube/api/objects/resource.h"

namespace denselet::kube {

std::string Resource::ApiVersion() const {
  if (group.empty()) return std::string(version);
  return std::string(group).append("/").append(version);
}

std::string Resource::CollectionPath(std::string_view ns) const {
  std::string path = group.empty() ? "/api/" : "/apis/";
  path += ApiVersion();
  if (scope == Scope::kNamespace && !ns.empty()) {
    path.append("/namespaces/").append(PercentEncode(ns));
  }
  return path.append("/").append(plural);
}

std::string Resource::ObjectPath(const ObjectRef& object, std::string_view subresource) const {
  std::string path = CollectionPath(object.ns) + "/" + PercentEncode(object.name);
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

std::string PercentEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.append({'%', kHex[byte >> 4], kHex[byte & 15]});
  }
  return encoded;
}

}  // namespace denselet::kube
