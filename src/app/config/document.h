// A configuration file as text: what it says, and on which line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/schema.h"
#include "kube/api/fault.h"

namespace denselet::app {

struct Document {
  struct Value {
    // How it stands there.
    enum class Kind : uint8_t { kNull, kScalar, kList, kObject };
    std::string path;  // as the codec writes paths: "a.b", "a[key]" in a map, "a[0]" in a list
    uint32_t line = 0;
    Kind kind = Kind::kNull;
    bool empty = false;  // a list or an object without anything in it
    std::string json;    // of a scalar
  };

  // The last value at that path; null where there is none.
  const Value* Find(std::string_view path) const;

  kube::TypeMeta type;
  bool is_yaml = false;
  uint32_t second_line = 0;         // where a second document begins, which was not read; 0: none
  std::string json;                 // the same document as JSON
  std::vector<Value> values;        // a list or an object before what is in it
  std::vector<kube::Fault> twice;   // fields that come more than once
  std::vector<kube::Fault> faults;  // why it could not be read at all
};

// JSON, or the first document of YAML. `schema` tells maps from objects; without one all are
// objects.
Document ReadDocument(std::string_view text, const kube::MessageSchema* schema);

// The kubelet reads no more than the first either, but says nothing.
void WarnOfSecondDocument(const Document& document, const std::string& file,
                          std::vector<std::string>& warnings);

}  // namespace denselet::app
