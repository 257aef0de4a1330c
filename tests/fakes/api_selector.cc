#include "tests/fakes/api_selector.h"

#include <algorithm>

#include "tests/fakes/api_object.h"

namespace denselet::fakes {
namespace {

// Beside metadata.name and metadata.namespace, as far as a node agent asks for them.
bool IsLabel(const kube::Resource& resource, std::string_view path) {
  if (path == "metadata.name") return true;
  if (path == "metadata.namespace") return resource.scope == kube::Scope::kNamespace;
  if (resource.plural == "pods") {
    return path == "spec.nodeName" || path == "status.phase" || path == "spec.restartPolicy";
  }
  if (resource.plural == "services") return path == "spec.clusterIP" || path == "spec.type";
  if (resource.plural == "resourceslices") return path == "spec.nodeName" || path == "spec.driver";
  return false;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(const kube::Resource& resource, std::string_view text) {
  FieldSelector selector;
  selector.schema_ = SchemaOf(resource);
  if (selector.schema_ == nullptr) return Error(ErrorCode::kInvalid, "no such type is linked in");
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t sign = part.find('=');
    if (sign == std::string_view::npos || sign == 0) {
      return Error(ErrorCode::kInvalid, "invalid selector: '" + std::string(part) + "'");
    }
    Term term;
    term.equal = part[sign - 1] != '!';
    term.path = part.substr(0, term.equal ? sign : sign - 1);
    term.value = part.substr(sign + 1);
    if (term.value.starts_with('=')) term.value.erase(0, 1);
    if (!IsLabel(resource, term.path)) {
      return Error(ErrorCode::kInvalid, "field label not supported: " + term.path);
    }
    selector.terms_.push_back(std::move(term));
  }
  return selector;
}

bool FieldSelector::Matches(std::string_view wire) const {
  return std::ranges::all_of(terms_, [&](const Term& term) {
    return (TextAt(*schema_, wire, term.path) == term.value) == term.equal;
  });
}

}  // namespace denselet::fakes
