#include "kube/api/patch/strategic_merge.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api/patch/element_order.h"
#include "kube/api/patch/merge_lists.h"
#include "kube/api/patch/patch_terms.h"

namespace denselet::kube {
namespace {

Error Malformed(std::string_view what) { return Error(ErrorCode::kInvalid, std::string(what)); }

// What goes into a document as it stands in a patch: no member that is null, wherever it is.
void DropNullMembers(Json& value) {
  if (Json::Object* object = value.object()) {
    std::erase_if(*object, [](const auto& member) { return member.second.IsNull(); });
    for (auto& [name, member] : *object) DropNullMembers(member);
  } else if (Json::List* list = value.list()) {
    for (Json& element : *list) DropNullMembers(element);
  }
}

// A member that the target does not have, or has as something else.
void Take(Json::Object& target, const std::string& name, Json value) {
  DropNullMembers(value);
  if (DropDirectives(value)) {
    target.insert_or_assign(name, std::move(value));
  } else {
    target.erase(name);
  }
}

// "$patch" stands for the whole object.
Status ApplyObjectDirective(const Json& directive, Json::Object& target, Json::Object& patch) {
  const std::string* word = directive.text();
  if (word != nullptr && *word == "replace") {
    patch.erase(std::string(kPatchDirective));
    target = std::move(patch);
    return Ok();
  }
  if (word != nullptr && *word == "delete") {
    target.clear();
    return Ok();
  }
  return UnknownPatchDirective(directive);
}

Status ApplyRetainKeys(Json::Object& target, Json::Object& patch) {
  const auto found = patch.find(kRetainKeysDirective);
  if (found == patch.end()) return Ok();
  const Json::List* list = found->second.list();
  if (list == nullptr) return Malformed("$retainKeys is no list");
  std::set<std::string, std::less<>> retained;
  for (const Json& name : *list) {
    if (name.text() == nullptr) return Malformed("$retainKeys names something that is no text");
    retained.insert(*name.text());
  }
  patch.erase(found);
  for (const auto& [name, value] : patch) {
    if (value.IsNull() || name.starts_with(kDeleteDirective) ||
        name.starts_with(kElementOrderDirective)) {
      continue;
    }
    if (!retained.contains(name)) {
      return Malformed("\"" + name + "\" is set but not in $retainKeys");
    }
  }
  std::erase_if(target, [&](const auto& member) { return !retained.contains(member.first); });
  return Ok();
}

// The list that "$setElementOrder/conditions" is about.
Result<std::string> ListName(std::string_view key, std::string_view directive) {
  if (!key.substr(directive.size()).starts_with('/')) return Malformed("names no list");
  return std::string(key.substr(directive.size() + 1));
}

// Elements of the patch, those that have a directive aside, must stand in the order and in its
// order.
Status CheckOrder(const Json::List& patch, const Json::List& order, std::string_view merge_key) {
  if (Status status = CheckMergeKeys(order, merge_key); !status) return status;
  if (order.empty()) return Ok();
  auto next = order.begin();
  for (const Json& element : patch) {
    if (element.Find(kPatchDirective) != nullptr) continue;
    const Json* key = MergeKeyOf(element, merge_key);
    if (key == nullptr) return CheckMergeKeys(patch, merge_key);
    while (next != order.end() && *MergeKeyOf(*next, merge_key) != *key) ++next;
    if (next == order.end()) return Malformed("the patch has another order, or other elements");
    ++next;
  }
  return Ok();
}

// Null where the member is absent. An error: it is there and is no list.
Result<Json::List*> FindList(Json::Object& object, std::string_view name) {
  const auto found = object.find(name);
  if (found == object.end()) return nullptr;
  if (found->second.list() == nullptr) {
    return Malformed("its list is " + std::string(Name(found->second.kind())));
  }
  return found->second.list();
}

// Merges the list and brings it into the order; the patch has then no more to say about its
// elements.
Status ApplyOrderedList(Json::Object& target, Json::Object& patch, const std::string& name,
                        const Json::List& order, PatchedType type) {
  const auto live = FindList(target, name);
  if (!live) return live.error();
  const auto changes = FindList(patch, name);
  if (!changes) return changes.error();
  const auto field = FindPatchedField(type, name);
  if (!field) return field.error();
  if (!IsMergedList(**field)) return Malformed("the elements of this list are not merged");
  const std::string& merge_key = (*field)->merge_key;
  static const Json::List kNone;
  const Json::List& changed = *changes == nullptr ? kNone : **changes;
  if (*live == nullptr && *changes == nullptr) return Ok();
  if (Status status = CheckOrder(changed, order, merge_key); !status) return status;

  MergedList merged;
  if (*live == nullptr) {
    Json list(std::move(**changes));
    (void)DropDirectives(list);
    merged.elements = std::move(*list.list());
  } else if (*changes == nullptr) {
    merged = {.elements = **live, .live_order = **live};
  } else {
    auto both = MergeLists(std::move(**live), std::move(**changes), **field);
    if (!both) return both.error();
    merged = std::move(*both);
  }
  if (Status status = CheckMergeKeys(merged.elements, merge_key); !status) return status;
  target.insert_or_assign(
      name, OrderMerged(std::move(merged.elements), order, merged.live_order, merge_key));
  patch.erase(name);
  return Ok();
}

Status ApplyElementOrders(Json::Object& target, Json::Object& patch, PatchedType type) {
  std::vector<std::string> directives;
  for (const auto& [key, value] : patch) {
    if (key.starts_with(kElementOrderDirective)) directives.push_back(key);
  }
  for (const std::string& key : directives) {
    const Json order = std::move(patch.extract(key).mapped());
    const auto name = ListName(key, kElementOrderDirective);
    if (!name) return name.error().With(key);
    if (order.list() == nullptr) return Malformed("no list").With(key);
    const Status status = ApplyOrderedList(target, patch, *name, *order.list(), type);
    if (!status) return status.error().With(key);
  }
  return Ok();
}

Status DeleteFromList(Json::Object& target, std::string_view key, const Json& deleted) {
  const auto name = ListName(key, kDeleteDirective);
  if (!name) return name.error();
  if (deleted.list() == nullptr) return Malformed("no list");
  const auto found = target.find(*name);
  Json::List* live = found == target.end() ? nullptr : found->second.list();
  if (live == nullptr) return Ok();
  const auto kind = KindOfElements(*live, *deleted.list());
  if (!kind) return kind.error();
  if (*kind == Json::Kind::kObject) return Malformed("not a list of scalars");
  const ElementOrder gone(*deleted.list(), "");
  std::erase_if(*live, [&](const Json& element) { return gone.Find(element).has_value(); });
  return Ok();
}

// Both are objects, or both are lists.
Status MergeValues(const std::string& name, Json& target, Json patch, PatchedType type) {
  const auto field = FindPatchedField(type, name);
  if (!field) return field.error();
  if (target.object() != nullptr) {
    return MergeObjects(*target.object(), std::move(*patch.object()), TypeOfObject(**field));
  }
  if (!IsMergedList(**field)) {
    target = std::move(patch);
    return Ok();
  }
  auto merged = MergeLists(std::move(*target.list()), std::move(*patch.list()), **field);
  if (!merged) return merged.error();
  target = Json(std::move(merged->elements));
  return Ok();
}

Status MergeMember(Json::Object& target, const std::string& name, Json value, PatchedType type) {
  if (name.starts_with(kDeleteDirective)) return DeleteFromList(target, name, value);
  if (type != nullptr && name.starts_with('$')) return Malformed("unknown directive");
  if (value.IsNull()) {
    target.erase(name);
    return Ok();
  }
  const auto found = target.find(name);
  const bool within = value.object() != nullptr || value.list() != nullptr;
  if (found == target.end() || found->second.kind() != value.kind() || !within) {
    Take(target, name, std::move(value));
    return Ok();
  }
  return MergeValues(name, found->second, std::move(value), type);
}

}  // namespace

Status MergeObjects(Json::Object& target, Json::Object patch, PatchedType type) {
  if (const auto directive = patch.find(kPatchDirective); directive != patch.end()) {
    return ApplyObjectDirective(Json(directive->second), target, patch);
  }
  if (Status status = ApplyRetainKeys(target, patch); !status) return status;
  if (Status status = ApplyElementOrders(target, patch, type); !status) return status;
  for (auto& [name, value] : patch) {
    const Status status = MergeMember(target, name, std::move(value), type);
    if (!status) return status.error().With(name);
  }
  return Ok();
}

Status MergeStrategic(Json::Object& target, Json::Object patch, const MessageSchema& type) {
  return MergeObjects(target, std::move(patch), &type);
}

}  // namespace denselet::kube
