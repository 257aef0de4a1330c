// What a manifest says beyond the pod that was decoded from it. A message cannot tell an empty list
// from none, and holds quantities and times in their normal form; the hash of a static pod depends
// on how they were written.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct yyjson_doc;
struct yyjson_val;

namespace denselet::kube {

// A place in a manifest, which may say nothing there: that is a place too. Lives as long as its
// Manifest.
class ManifestPlace {
 public:
  ManifestPlace() = default;
  explicit ManifestPlace(yyjson_val* value) : value_(value) {}

  bool IsList() const;
  bool IsObject() const;
  // Something stands here, if only `null`.
  bool IsWritten() const { return value_ != nullptr; }
  // A text, or a number as it was written.
  std::optional<std::string_view> Text() const;

  // Of an object; of fields that come twice the last one.
  ManifestPlace Field(std::string_view name) const;
  // Of a list; empty for all else.
  std::vector<ManifestPlace> Elements() const;

  // All that stands here as encoding/json writes it, keys sorted. Nothing: it is nested too deeply.
  std::optional<std::string> GoJson() const;

 private:
  bool AppendGoJson(int depth_max, std::string& out) const;

  yyjson_val* value_ = nullptr;
};

class Manifest {
 public:
  static Result<Manifest> Parse(std::string_view json);

  ManifestPlace root() const;

 private:
  struct Free {
    void operator()(yyjson_doc* doc) const;
  };
  explicit Manifest(yyjson_doc* doc) : doc_(doc) {}

  std::unique_ptr<yyjson_doc, Free> doc_;
};

}  // namespace denselet::kube
