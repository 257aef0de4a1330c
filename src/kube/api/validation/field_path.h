// Where in a document: "spec.containers[0].ports[1].name", built on the way down.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace denselet::kube {

class FieldPath {
 public:
  explicit FieldPath(std::string_view root) : text_(root) {}

  FieldPath operator/(std::string_view child) const { return FieldPath(text_ + ".", child); }
  FieldPath operator[](int index) const { return Key(std::to_string(index)); }
  // An entry of a map: "limits[cpu]".
  FieldPath Key(std::string_view key) const { return FieldPath(text_ + "[", key, "]"); }

  const std::string& text() const { return text_; }

 private:
  FieldPath(std::string text, std::string_view part, std::string_view end = "")
      : text_(std::move(text.append(part).append(end))) {}

  std::string text_;
};

}  // namespace denselet::kube
