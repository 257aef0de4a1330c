// Field selectors of the API: "metadata.name=web,spec.clusterIP!=None".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/objects/resource.h"

namespace denselet::fakes {

class AnyObject;

class FieldSelector {
 public:
  // kInvalid: not a selector, or the resource has no such field label.
  static Result<FieldSelector> Parse(const kube::Resource& resource, std::string_view text);

  bool Matches(const AnyObject& object) const;

 private:
  struct Term {
    std::string path;
    std::string value;
    bool equal = true;
  };

  std::vector<Term> terms_;
};

}  // namespace denselet::fakes
