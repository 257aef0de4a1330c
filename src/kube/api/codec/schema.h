// How a Kubernetes type is written: its descriptor, and what the Go type says beyond it, brought
// into tables that the codec walks. Built once for all types, then read only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Descriptor;
}

namespace denselet::kube {

// What an element of a field is. Those below kMessage are messages whose JSON form is something
// else.
enum class Shape : uint8_t {
  kBool,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kDouble,
  kString,
  kBytes,
  kMessage,
  kQuantity,        // "100m", or a number
  kIntOrString,     // 80 or "http"
  kTime,            // RFC 3339, whole seconds
  kMicroTime,       // RFC 3339, microseconds
  kDuration,        // "1m30s"
  kTextOrDuration,  // the same, or nanoseconds as a number; written as it came
  kRawJson,         // anything
  kStringList,      // a message with one list, which stands for it
};

enum class Repeats : uint8_t { kOnce, kList, kMap };

// What a strategic merge patch does with a field.
enum class PatchStrategy : uint8_t { kReplace, kMerge };

struct MessageSchema;

struct FieldSchema {
  std::string name;  // in JSON
  uint32_t number = 0;
  uint32_t index = 0;  // in MessageSchema::fields
  Shape shape = Shape::kString;
  Repeats repeats = Repeats::kOnce;
  bool inlined = false;    // its fields stand in the object around it
  bool pointer = false;    // in Go: zero and absent differ
  bool always = false;     // written also when it is empty
  bool omit_zero = false;  // left out when the message says nothing
  PatchStrategy patch = PatchStrategy::kReplace;
  bool retain_keys = false;  // keys that the new object lacks are named by the patch
  std::string merge_key;     // of a list whose elements are merged; empty: a set of scalars
  const MessageSchema* message = nullptr;  // of Shape::kMessage
};

struct MessageSchema {
  // A name of the object: a field of this message, or one inlined further down.
  struct Name {
    std::string_view name;
    const FieldSchema* field = nullptr;  // of this message; an inlined one: look there again
  };

  // Inline: a pod's JSON has hundreds of names.
  const Name* Find(std::string_view name) const {
    const Name* const table = slots.data();
    for (size_t slot = HashOf(name) & slot_mask; table[slot].field != nullptr;
         slot = (slot + 1) & slot_mask) {
      if (SameText(table[slot].name, name)) return &table[slot];
    }
    return nullptr;
  }
  // Most names have 4 to 16 letters: comparing them in place takes half the time of a call.
  static bool SameText(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() > 16 || a.size() < 4) return a == b;
    if (a.size() >= 8) return SameEnds<uint64_t>(a, b);
    return SameEnds<uint32_t>(a, b);
  }
  // Names of one message differ in length, or in one of these letters.
  static uint32_t HashOf(std::string_view name) {
    if (name.empty()) return 0;
    const auto at = [&](size_t i) { return uint32_t{static_cast<uint8_t>(name[i])}; };
    const uint32_t mix = at(0) | at(name.size() / 2) << 8 | at(name.size() - 1) << 16 |
                         static_cast<uint32_t>(name.size()) << 24;
    return mix * 0x9e3779b1u >> 8;
  }
  const FieldSchema* FindNumber(uint32_t number) const;

  // The first and the last letters as a number each; they may overlap.
  template <class Word>
  static bool SameEnds(std::string_view a, std::string_view b) {
    const auto load = [](const char* from) {
      Word word;
      std::memcpy(&word, from, sizeof word);
      return word;
    };
    const size_t last = a.size() - sizeof(Word);
    return load(a.data()) == load(b.data()) && load(a.data() + last) == load(b.data() + last);
  }

  std::string full_name;
  bool has_type_meta = false;       // kind and apiVersion belong to its JSON
  std::vector<FieldSchema> fields;  // by ascending number

  std::vector<Name> slots;  // open addressing, a power of two
  size_t slot_mask = 0;     // their number - 1
};

// At most this many fields has a message: the codec keeps a bit for each.
inline constexpr size_t kFieldsMax = 256;

// Every message that the generated files define has one.
const MessageSchema& SchemaOf(const google::protobuf::Descriptor& descriptor);

}  // namespace denselet::kube
