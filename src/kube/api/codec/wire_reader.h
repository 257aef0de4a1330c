// A walk over the fields of one protobuf message, without its type and without a copy: for what is
// read often and must not cost a parse (envelopes, watch frames, the hot fields of a pod).
//
// Lengths are never trusted: a field that does not lie whole inside the message is a fault, as are
// groups, which Kubernetes does not use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::kube {

struct WireField {
  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;       // of the number types
  std::string_view bytes;   // of kBytes
  std::string_view record;  // the field as it stands in the message, with its tag
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // False at the end, and at a fault: then ok() is false.
  bool Next(WireField& field) {
    if (rest_.empty() || fault_ != nullptr) return false;
    return Read(field);
  }

  bool ok() const { return fault_ == nullptr; }
  // For a caller that found the field not to be of the type it must have.
  void Refuse(const char* fault) { fault_ = fault; }
  // The fault as kCorrupt, with `what` in front.
  Status ToStatus(std::string_view what) const;

 private:
  bool Read(WireField& field);

  std::string_view rest_;
  const char* fault_ = nullptr;  // a literal
};

// True when the field has the type; otherwise the reader has a fault from then on.
inline bool Expect(WireReader& reader, const WireField& field, WireField::Type type) {
  if (field.type == type) return true;
  reader.Refuse("a field has the wrong type");
  return false;
}

// Writing, for messages put together by hand.
size_t VarintSize(uint64_t value);
void AppendVarint(std::string& to, uint64_t value);
void AppendBytesField(std::string& to, uint32_t number, std::string_view bytes);

}  // namespace denselet::kube
