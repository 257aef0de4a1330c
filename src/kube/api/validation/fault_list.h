// Faults of a document's fields, in the words in which Kubernetes reports them: users search for
// those, and scripts match them.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/fault.h"
#include "kube/api/validation/field_path.h"

namespace denselet::kube {

// Text in JSON's quotes as Go writes it for browsers: '<', '>' and '&' are escaped.
std::string GoJsonString(std::string_view text);

// The value that is wrong, as it is shown.
class FaultValue {
 public:
  // Implicit on purpose: list.Invalid(path, port.name(), ...). Texts are quoted as Go's %q does.
  FaultValue(std::string_view text);
  FaultValue(const std::string& text) : FaultValue(std::string_view(text)) {}
  FaultValue(const char* text) : FaultValue(std::string_view(text)) {}
  FaultValue(bool value) : text_(value ? "true" : "false") {}
  template <std::integral Int>
  FaultValue(Int value) : text_(std::to_string(value)) {}

  // A text whose Go type has a name of its own is shown as JSON.
  static FaultValue Named(std::string_view text);
  // Shown as it is.
  static FaultValue Raw(std::string text);

  const std::string& text() const { return text_; }

 private:
  FaultValue() = default;
  std::string text_;
};

using Words = std::initializer_list<std::string_view>;

class FaultList {
 public:
  void Required(const FieldPath& path, std::string_view detail = "");
  void Invalid(const FieldPath& path, const FaultValue& value, std::string_view detail);
  // One fault for each message: what names.h says about a name.
  void Invalid(const FieldPath& path, const FaultValue& value,
               std::span<const std::string> messages);
  // `supported` in the order in which they are named.
  void NotSupported(const FieldPath& path, const FaultValue& value, Words supported);
  void Forbidden(const FieldPath& path, std::string_view detail);
  void Duplicate(const FieldPath& path, const FaultValue& value);
  void NotFound(const FieldPath& path, const FaultValue& value, std::string_view detail = "");
  void TooLong(const FieldPath& path, int bytes_max);
  void TooMany(const FieldPath& path, int count, int count_max);
  void Internal(const FieldPath& path, std::string_view detail);

  size_t size() const { return faults_.size(); }
  bool empty() const { return faults_.empty(); }
  // Those from `begin` on are forgotten.
  void Truncate(size_t begin) { faults_.resize(begin); }
  std::vector<Fault> Take() { return std::move(faults_); }

 private:
  void Add(const FieldPath& path, std::string message, std::string_view detail);

  std::vector<Fault> faults_;
};

// Whether `value` is one of the words; if not, that is a fault.
bool CheckSupported(const FieldPath& path, std::string_view value, Words supported, FaultList& out);
bool IsOneOf(std::string_view value, Words words);

}  // namespace denselet::kube
