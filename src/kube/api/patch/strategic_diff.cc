#include "kube/api/patch/strategic_diff.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api/patch/element_order.h"
#include "kube/api/patch/patch_terms.h"

namespace denselet::kube {
namespace {

// Whether the patch of an object names the keys that stay.
enum class RetainKeys : uint8_t { kUnnamed, kNamed };

RetainKeys RetainKeysOf(const FieldSchema& field) {
  return field.retain_keys ? RetainKeys::kNamed : RetainKeys::kUnnamed;
}

std::string Parallel(std::string_view directive, std::string_view list) {
  return std::string(directive).append("/").append(list);
}

// By this, elements of merged lists are sorted and compared; Go's %v.
std::string Shown(const Json& key) { return key.text() != nullptr ? *key.text() : key.ToString(); }

Result<Json::Object> DiffObjects(const Json::Object& before, const Json::Object& after,
                                 PatchedType type, RetainKeys retain);

struct KeyedElement {
  std::string shown;
  const Json* key = nullptr;
  const Json::Object* object = nullptr;
};

// Sorted by their keys. Of elements that have the same key the last comes first, as it does
// upstream in lists of up to twelve.
std::vector<KeyedElement> SortByKey(const Json::List& list, std::string_view merge_key) {
  std::vector<KeyedElement> elements;
  for (size_t i = list.size(); i-- > 0;) {
    const Json* key = MergeKeyOf(list[i], merge_key);
    elements.push_back({.shown = Shown(*key), .key = key, .object = list[i].object()});
  }
  std::ranges::stable_sort(elements, {}, &KeyedElement::shown);
  return elements;
}

// The parts of a patch that one merged list gets.
struct ListDiff {
  Json::List changes;  // elements to add, to merge, to delete by their key
  Json::List deleted;  // scalars
  Json::List order;    // all that there are in the end
};

// Pairs up the elements of the same key. Both lists have been checked for the keys.
Status DiffElements(const Json::List& before_list, const Json::List& after_list,
                    const FieldSchema& field, Json::List& changes, Json::List& deletions) {
  const std::vector<KeyedElement> before = SortByKey(before_list, field.merge_key);
  const std::vector<KeyedElement> after = SortByKey(after_list, field.merge_key);
  auto old = before.begin();
  const auto drop_old = [&] {
    Json::Object deletion = ObjectOf(field.merge_key, *old->key);
    deletion.emplace(kPatchDirective, "delete");
    deletions.push_back(std::move(deletion));
    ++old;
  };
  for (const KeyedElement& element : after) {
    while (old != before.end() && old->shown < element.shown) drop_old();
    if (old == before.end() || old->shown != element.shown) {
      changes.push_back(*element.object);
      continue;
    }
    auto change = DiffObjects(*old->object, *element.object, field.message, RetainKeysOf(field));
    if (!change) return change.error().With(element.shown);
    if (!change->empty()) {
      change->insert_or_assign(field.merge_key, *element.key);
      changes.push_back(std::move(*change));
    }
    ++old;
  }
  while (old != before.end()) drop_old();
  return Ok();
}

bool SameOrder(const Json::List& a, const Json::List& b, std::string_view merge_key) {
  return std::ranges::equal(a, b, [merge_key](const Json& left, const Json& right) {
    return *MergeKeyOf(left, merge_key) == *MergeKeyOf(right, merge_key);
  });
}

Result<ListDiff> DiffListsOfObjects(const Json::List& before, const Json::List& after,
                                    const FieldSchema& field) {
  if (field.merge_key.empty()) {
    return Error(ErrorCode::kInvalid, "its objects have no key to merge them by");
  }
  for (const Json::List* list : {&before, &after}) {
    if (Status status = CheckMergeKeys(*list, field.merge_key); !status) return status.error();
  }
  ListDiff diff;
  Json::List deletions;
  if (Status status = DiffElements(before, after, field, diff.changes, deletions); !status) {
    return status.error();
  }
  ElementOrder(after, field.merge_key).Sort(diff.changes);
  for (Json& deletion : deletions) diff.changes.push_back(std::move(deletion));
  if (diff.changes.empty() && SameOrder(before, after, field.merge_key)) return diff;
  for (const Json& element : after) {
    diff.order.push_back(ObjectOf(field.merge_key, *MergeKeyOf(element, field.merge_key)));
  }
  return diff;
}

// Upstream sorts the old list before it compares the order: it tells of an order that did not
// change, and keeps quiet about some that did. Here the order is told when it is another.
ListDiff DiffListsOfScalars(const Json::List& before, const Json::List& after) {
  ListDiff diff;
  if (before == after) return diff;
  std::set<std::string> old_ones, new_ones, deleted;
  for (const Json& element : before) old_ones.insert(element.ToString());
  for (const Json& element : after) {
    if (new_ones.insert(element.ToString()).second && !old_ones.contains(element.ToString())) {
      diff.changes.push_back(element);
    }
  }
  for (const Json& element : before) {
    if (!new_ones.contains(element.ToString()) && deleted.insert(element.ToString()).second) {
      diff.deleted.push_back(element);
    }
  }
  std::ranges::sort(diff.deleted, {}, Shown);
  diff.order = after;
  return diff;
}

Status DiffMergedLists(std::string_view name, const Json::List& before, const Json::List& after,
                       const FieldSchema& field, Json::Object& patch) {
  if (before.empty()) {
    if (!after.empty()) patch.emplace(name, after);
    return Ok();
  }
  const auto kind = KindOfElements(before, after);
  if (!kind) return kind.error();
  Result<ListDiff> diff = *kind == Json::Kind::kObject ? DiffListsOfObjects(before, after, field)
                                                       : DiffListsOfScalars(before, after);
  if (!diff) return diff.error();
  if (!diff->changes.empty()) patch.emplace(name, std::move(diff->changes));
  if (!diff->deleted.empty()) {
    patch.emplace(Parallel(kDeleteDirective, name), std::move(diff->deleted));
  }
  if (!diff->order.empty()) {
    patch.emplace(Parallel(kElementOrderDirective, name), std::move(diff->order));
  }
  return Ok();
}

// A value that is there before and after, and is not the same.
Status DiffValues(std::string_view name, const Json& before, const Json& after, PatchedType type,
                  Json::Object& patch) {
  const bool objects = before.object() != nullptr && after.object() != nullptr;
  const bool lists = before.list() != nullptr && after.list() != nullptr;
  if (!objects && !lists) {
    patch.emplace(name, after);
    return Ok();
  }
  const auto field = FindPatchedField(type, name);
  if (!field) return field.error();
  if (objects) {
    auto change = DiffObjects(*before.object(), *after.object(), TypeOfObject(**field),
                              RetainKeysOf(**field));
    if (!change) return change.error();
    if (!change->empty()) patch.emplace(name, std::move(*change));
    return Ok();
  }
  if (IsMergedList(**field)) {
    return DiffMergedLists(name, *before.list(), *after.list(), **field, patch);
  }
  patch.emplace(name, after);
  return Ok();
}

void NameRetainedKeys(const Json::Object& after, Json::Object& patch) {
  Json::List keys;
  for (const auto& [name, value] : after) {
    if (!value.IsNull()) keys.push_back(name);
  }
  if (!keys.empty()) patch.emplace(kRetainKeysDirective, std::move(keys));
}

Result<Json::Object> DiffObjects(const Json::Object& before, const Json::Object& after,
                                 PatchedType type, RetainKeys retain) {
  Json::Object patch;
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old == before.end()) {
      patch.emplace(name, value);
    } else if (old->second != value) {
      const Status status = DiffValues(name, old->second, value, type, patch);
      if (!status) return status.error().With(name);
    }
  }
  for (const auto& [name, value] : before) {
    if (!after.contains(name)) patch.emplace(name, Json());
  }
  if (retain == RetainKeys::kNamed && !patch.empty()) NameRetainedKeys(after, patch);
  return patch;
}

}  // namespace

Result<Json::Object> MakeStrategicDiff(const Json::Object& before, const Json::Object& after,
                                       const MessageSchema& type) {
  return DiffObjects(before, after, &type, RetainKeys::kUnnamed);
}

}  // namespace denselet::kube
