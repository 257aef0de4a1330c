// Field selectors of the API: "metadata.name=web,spec.clusterIP!=None".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/codec/schema.h"
#include "kube/api/objects/resource.h"

namespace denselet::fakes {

class FieldSelector {
 public:
  // kInvalid: not a selector, or the resource has no such field label.
  static Result<FieldSelector> Parse(const kube::Resource& resource, std::string_view text);

  // `wire` is what an object of the resource is written as.
  bool Matches(std::string_view wire) const;

 private:
  struct Term {
    std::string path;
    std::string value;
    bool equal = true;
  };

  const kube::MessageSchema* schema_ = nullptr;  // of the resource's objects
  std::vector<Term> terms_;
};

}  // namespace denselet::fakes
