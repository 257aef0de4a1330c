#include "kube/api/patch/json_merge_patch.h"

#include <utility>

#include "kube/api/patch/json_tree.h"

namespace denselet::kube {
namespace {

void Merge(Json& target, Json patch) {
  Json::Object* members = patch.object();
  if (members == nullptr) {
    target = std::move(patch);
    return;
  }
  if (target.object() == nullptr) target = Json(Json::Object());
  for (auto& [key, value] : *members) {
    if (value.IsNull()) {
      target.object()->erase(key);
    } else {
      Merge((*target.object())[key], std::move(value));
    }
  }
}

}  // namespace

Result<std::string> ApplyJsonMergePatch(std::string_view json, std::string_view patch) {
  auto target = Json::Parse(json);
  if (!target) return target.error().With("read the document");
  auto change = Json::Parse(patch);
  if (!change) return change.error().With("read the patch");
  Merge(*target, std::move(*change));
  return target->ToString();
}

}  // namespace denselet::kube
