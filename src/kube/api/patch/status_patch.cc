#include "kube/api/patch/status_patch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/json_encode.h"
#include "kube/api/codec/json_same.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/patch/patch_terms.h"
#include "kube/api/patch/strategic_diff.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

// What the codec wrote is JSON, but for what it took over as it came (raw JSON from outside).
Result<Json::Object> ToJson(std::string_view wire, const MessageSchema& type) {
  std::string text;
  WireToJson(wire, type, {}, text);
  auto json = Json::Parse(text);
  if (!json) return json.error();
  CHECK(json->object() != nullptr);
  return std::move(*json->object());
}

Result<Json::Object> ToJson(const google::protobuf::Message& message) {
  return ToJson(EncodeWire(message), SchemaOf(*message.GetDescriptor()));
}

bool SameAddresses(const core::NodeStatus& a, const core::NodeStatus& b) {
  return std::ranges::equal(a.addresses(), b.addresses(),
                            [](const core::NodeAddress& x, const core::NodeAddress& y) {
                              return x.type() == y.type() && x.address() == y.address();
                            });
}

// All addresses, and an element that says to forget the others.
Json::List ReplacingAddresses(const Json* status) {
  Json::List list;
  const Json* addresses = status == nullptr ? nullptr : status->Find("addresses");
  if (addresses != nullptr && addresses->list() != nullptr) list = *addresses->list();
  list.push_back(ObjectOf(kPatchDirective, "replace"));
  return list;
}

}  // namespace

Result<std::optional<std::string>> MakePodStatusPatch(std::string_view uid,
                                                      const core::PodStatus& before,
                                                      const core::PodStatus& after,
                                                      std::string_view resource_version) {
  const MessageSchema& type = SchemaOf(*core::PodStatus::descriptor());
  std::string old_wire = EncodeWire(before), new_wire = EncodeWire(after);
  DropSameFields(old_wire, new_wire);  // what is the same does not make it into a patch
  const auto old_status = ToJson(old_wire, type), new_status = ToJson(new_wire, type);
  for (const auto* status : {&old_status, &new_status}) {
    if (!*status) return status->error().With("patch a pod's status");
  }
  auto change = MakeStrategicDiff(*old_status, *new_status, type);
  if (!change) return change.error().With("patch a pod's status");
  if (change->empty()) return std::optional<std::string>();
  Json::Object patch = ObjectOf("status", std::move(*change));
  Json::Object metadata = ObjectOf("uid", uid);
  if (!resource_version.empty()) metadata.emplace("resourceVersion", Json(resource_version));
  patch.emplace("metadata", std::move(metadata));
  return std::optional(Json(std::move(patch)).ToString());
}

Result<std::optional<std::string>> MakeNodeStatusPatch(const core::Node& before,
                                                       const core::Node& after) {
  auto old_node = ToJson(before), new_node = ToJson(after);
  for (const auto* node : {&old_node, &new_node}) {
    if (!*node) return node->error().With("patch a node's status");
  }
  const bool replace_addresses =
      before.status().addresses_size() > 0 && !SameAddresses(before.status(), after.status());
  Json::List addresses;
  if (replace_addresses) {
    const auto status = new_node->find("status");
    addresses = ReplacingAddresses(status == new_node->end() ? nullptr : &status->second);
  }
  for (Json::Object* node : {&*old_node, &*new_node}) {
    node->erase("spec");
    const auto status = node->find("status");
    if (replace_addresses && status != node->end()) status->second.object()->erase("addresses");
  }
  auto patch = MakeStrategicDiff(*old_node, *new_node, SchemaOf(*core::Node::descriptor()));
  if (!patch) return patch.error().With("patch a node's status");
  if (replace_addresses) {
    Json& status = patch->emplace("status", Json::Object()).first->second;
    status.object()->insert_or_assign("addresses", std::move(addresses));
  }
  if (patch->empty()) return std::optional<std::string>();
  return std::optional(Json(std::move(*patch)).ToString());
}

}  // namespace denselet::kube
