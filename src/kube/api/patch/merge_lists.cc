#include "kube/api/patch/merge_lists.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "kube/api/patch/element_order.h"

namespace denselet::kube {
namespace {

// The elements of a patch, by what they do.
struct ListChanges {
  Json::List elements;  // to merge, or to add
  Json::List deleted;   // elements with the key of those to delete
  bool replace = false;
};

Result<ListChanges> ReadChanges(Json::List patch, std::string_view merge_key) {
  ListChanges changes;
  for (Json& element : patch) {
    const Json* directive = element.Find(kPatchDirective);
    if (directive == nullptr) {
      changes.elements.push_back(std::move(element));
      continue;
    }
    const std::string* word = directive->text();
    if (word != nullptr && *word == "replace") {
      changes.replace = true;
    } else if (word != nullptr && *word == "delete") {
      changes.deleted.push_back(std::move(element));
    } else {
      return UnknownPatchDirective(*directive);
    }
  }
  for (const Json::List* list : {&changes.elements, &changes.deleted}) {
    if (Status status = CheckMergeKeys(*list, merge_key); !status) return status.error();
  }
  return changes;
}

// What of the patch is new is appended.
Status MergeElements(Json::List& live, Json::List patch, const FieldSchema& field) {
  std::map<std::string, size_t> places;
  const auto key_of = [&](const Json& e) { return MergeKeyOf(e, field.merge_key)->ToString(); };
  for (size_t i = 0; i < live.size(); ++i) places.emplace(key_of(live[i]), i);
  for (Json& element : patch) {
    const auto [place, added] = places.emplace(key_of(element), live.size());
    if (added) {
      live.push_back(std::move(element));
      continue;
    }
    Json::Object& target = *live[place->second].object();
    Status status = MergeObjects(target, std::move(*element.object()), field.message);
    if (!status) return status.error().With(place->first);
  }
  return Ok();
}

Result<MergedList> MergeListsOfObjects(Json::List live, Json::List patch,
                                       const FieldSchema& field) {
  const std::string& merge_key = field.merge_key;
  if (merge_key.empty()) {
    return Error(ErrorCode::kInvalid, "its objects have no key to merge them by");
  }
  auto changes = ReadChanges(std::move(patch), merge_key);
  if (!changes) return changes.error();
  if (Status status = CheckMergeKeys(live, merge_key); !status) return status.error();
  const size_t live_count = live.size();
  const ElementOrder deleted(changes->deleted, merge_key);
  std::erase_if(live, [&](const Json& element) { return deleted.Find(element).has_value(); });
  if (changes->replace) {
    return MergedList{.elements = std::move(changes->elements), .live_order = std::move(live)};
  }
  const Json::List kept = live;
  const Json::List order = changes->elements;
  if (Status status = MergeElements(live, std::move(changes->elements), field); !status) {
    return status.error();
  }
  MergedList merged;
  // New elements take the places of deleted ones in the list that upstream still holds, and so have
  // a place among the live ones.
  merged.live_order.assign(
      live.begin(), live.begin() + static_cast<std::ptrdiff_t>(std::min(live_count, live.size())));
  merged.elements = OrderMerged(std::move(live), order, kept, merge_key);
  return merged;
}

Json::List WithoutDuplicates(Json::List list, Json::List more) {
  Json::List all;
  std::map<std::string, size_t> seen;
  for (Json::List* from : {&list, &more}) {
    for (Json& element : *from) {
      if (seen.emplace(element.ToString(), 0).second) all.push_back(std::move(element));
    }
  }
  return all;
}

}  // namespace

Result<MergedList> MergeLists(Json::List live, Json::List patch, const FieldSchema& field) {
  const auto kind = KindOfElements(live, patch);
  if (!kind) return kind.error();
  if (!kind->has_value()) return MergedList{};
  if (*kind == Json::Kind::kObject) {
    return MergeListsOfObjects(std::move(live), std::move(patch), field);
  }
  if (!field.merge_key.empty()) {
    return Error(ErrorCode::kInvalid, std::string("found ")
                                          .append(Name(**kind))
                                          .append(", wanted objects with \"")
                                          .append(field.merge_key)
                                          .append("\""));
  }
  MergedList merged{.elements = {}, .live_order = live};
  merged.elements =
      OrderMerged(WithoutDuplicates(std::move(live), patch), patch, merged.live_order, "");
  return merged;
}

Json::List OrderMerged(Json::List elements, const Json::List& order, const Json::List& live,
                       std::string_view merge_key) {
  const ElementOrder patch_order(order, merge_key), live_order(live, merge_key);
  SplitElements split = Split(std::move(elements), patch_order);
  patch_order.Sort(split.known);
  live_order.Sort(split.others);
  return Interleave(std::move(split.others), std::move(split.known), live_order);
}

bool DropDirectives(Json& value) {
  if (Json::Object* object = value.object()) {
    if (object->contains(kPatchDirective)) return false;
    for (auto member = object->begin(); member != object->end();) {
      member = DropDirectives(member->second) ? std::next(member) : object->erase(member);
    }
  } else if (Json::List* list = value.list()) {
    Json::List kept;
    for (Json& element : *list) {
      if (DropDirectives(element)) kept.push_back(std::move(element));
    }
    *list = std::move(kept);
  }
  return true;
}

Error UnknownPatchDirective(const Json& directive) {
  return Error(ErrorCode::kInvalid,
               "$patch is " + directive.ToString() + ", wanted \"replace\" or \"delete\"");
}

}  // namespace denselet::kube
