#include "kube/api/patch/patch_terms.h"

#include <utility>

namespace denselet::kube {

Result<const FieldSchema*> FindPatchedField(PatchedType type, std::string_view name) {
  if (type == nullptr) {
    return Error(ErrorCode::kInvalid, "an object or a list within a map cannot be merged");
  }
  const MessageSchema::Name* found = type->Find(name);
  while (found != nullptr && found->field->inlined) {
    found = found->field->message->Find(name);
  }
  if (found == nullptr) return Error(ErrorCode::kInvalid, type->full_name + " has no such field");
  return found->field;
}

Result<std::optional<Json::Kind>> KindOfElements(const Json::List& a, const Json::List& b) {
  std::optional<Json::Kind> kind;
  for (const Json::List* list : {&a, &b}) {
    for (const Json& element : *list) {
      if (element.kind() == Json::Kind::kList) {
        return Error(ErrorCode::kInvalid, "lists within a merged list");
      }
      if (kind.value_or(element.kind()) != element.kind()) {
        return Error(ErrorCode::kInvalid, std::string("both ")
                                              .append(Name(*kind))
                                              .append(" and ")
                                              .append(Name(element.kind()))
                                              .append(" within a merged list"));
      }
      kind = element.kind();
    }
  }
  return kind;
}

const Json* MergeKeyOf(const Json& element, std::string_view merge_key) {
  return merge_key.empty() ? &element : element.Find(merge_key);
}

Json::Object ObjectOf(std::string_view name, Json value) {
  Json::Object object;
  object.emplace(name, std::move(value));
  return object;
}

Status CheckMergeKeys(const Json::List& list, std::string_view merge_key) {
  for (const Json& element : list) {
    if (MergeKeyOf(element, merge_key) == nullptr) {
      return Error(ErrorCode::kInvalid, "an element has no \"" + std::string(merge_key) + "\"");
    }
  }
  return Ok();
}

}  // namespace denselet::kube
