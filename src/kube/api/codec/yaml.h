// YAML as the Kubernetes ecosystem reads it: the scalars of YAML 1.1 (yes, no, on, off are
// booleans, 0777 is octal), turned into JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/fault.h"

namespace denselet::kube {

// JSON that was made from another text. A key that comes twice in a YAML mapping comes twice in the
// JSON too: who decodes it decides.
struct JsonText {
  struct Mark {
    size_t offset;  // into the JSON: what stands from here on
    uint32_t line;  // ... came from this line, counted from 1
  };

  std::string json;
  std::vector<Mark> marks;  // ascending

  uint32_t LineAt(size_t offset) const;
};

// The first document of the text; an empty one is `null`. On a syntax error, an alias that expands
// without bound or nesting that is too deep: a fault with its line.
struct YamlResult {
  JsonText text;
  std::vector<Fault> faults;  // empty: `text` holds it
  uint32_t second_line = 0;   // where a second document begins, which was not read; 0: none does
};
YamlResult YamlToJson(std::string_view yaml);

// As sigs.k8s.io/yaml writes it: keys sorted as people would (a2 before a10), of those that come
// twice the last one, lists not indented, lines folded at 80 columns, text quoted only where it
// would be read as something else. An error: the text is not JSON, or nested too deeply.
Result<std::string> JsonToYaml(std::string_view json);

}  // namespace denselet::kube
