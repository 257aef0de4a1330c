// Strong ids: a container's id does not fit where a pod's uid is asked for.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace denselet {

template <class Tag>
class StringId {
 public:
  StringId() = default;
  explicit StringId(std::string value) : value_(std::move(value)) {}

  const std::string& value() const { return value_; }
  bool empty() const { return value_.empty(); }

  friend auto operator<=>(const StringId&, const StringId&) = default;

 private:
  std::string value_;
};

using PodUid = StringId<struct PodUidTag>;
using SandboxId = StringId<struct SandboxIdTag>;
using ContainerId = StringId<struct ContainerIdTag>;
using ImageId = StringId<struct ImageIdTag>;
using NodeName = StringId<struct NodeNameTag>;

// A namespaced name, as people and logs say it: "kube-system/coredns".
struct ObjectRef {
  std::string ns;
  std::string name;

  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }

  friend auto operator<=>(const ObjectRef&, const ObjectRef&) = default;
};

// The same as views: hash maps of ObjectRef are asked without making one.
struct ObjectRefView {
  ObjectRefView(std::string_view ns_, std::string_view name_) : ns(ns_), name(name_) {}
  ObjectRefView(const ObjectRef& ref) : ns(ref.ns), name(ref.name) {}  // implicit: for lookups

  std::string_view ns;
  std::string_view name;

  friend bool operator==(const ObjectRefView&, const ObjectRefView&) = default;
};

struct ObjectRefHash {
  using is_transparent = void;
  size_t operator()(const ObjectRefView& ref) const noexcept {
    const std::hash<std::string_view> hash;
    return hash(ref.name) * 31 + hash(ref.ns);
  }
};
struct ObjectRefEqual {
  using is_transparent = void;
  bool operator()(const ObjectRefView& a, const ObjectRefView& b) const noexcept { return a == b; }
};

}  // namespace denselet

template <class Tag>
struct std::hash<denselet::StringId<Tag>> {
  size_t operator()(const denselet::StringId<Tag>& id) const noexcept {
    return std::hash<std::string_view>{}(id.value());
  }
};
