// What a manifest says beyond the pod that was decoded from it. A message cannot tell an empty list
// from none, and holds quantities and times in their normal form; the hash of a static pod depends
// on how they were written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct yyjson_val;

namespace denselet::kube {

class JsonSource;

// What a manifest was before it was JSON. Go turns YAML into JSON that is sorted and without
// spaces, and takes JSON as it is.
enum class WrittenAs : uint8_t { kJson, kYaml };

// A place in a manifest, which may say nothing there: that is a place too. Lives as long as its
// Manifest.
class ManifestPlace {
 public:
  ManifestPlace() = default;
  // `key` where it is a member of an object.
  ManifestPlace(const JsonSource& source, yyjson_val* value, yyjson_val* key = nullptr)
      : source_(&source), value_(value), key_(key) {}

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
  // The same as it was written. Of a member of an object.
  std::string_view Source() const;

 private:
  bool AppendGoJson(int depth_max, std::string& out) const;

  const JsonSource* source_ = nullptr;
  yyjson_val* value_ = nullptr;
  yyjson_val* key_ = nullptr;
};

class Manifest {
 public:
  // `json` must outlive it.
  static Result<Manifest> Parse(std::string_view json);
  Manifest(Manifest&&) noexcept;
  ~Manifest();

  ManifestPlace root() const;

 private:
  explicit Manifest(std::unique_ptr<JsonSource> source);

  std::unique_ptr<JsonSource> source_;
};

}  // namespace denselet::kube
