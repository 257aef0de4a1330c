#include "managers/volume/object_keys.h"

#include "kube/api/codec/wire_reader.h"

namespace denselet::managers {
namespace {

using kube::WireField;
using kube::WireReader;

// Of core/v1 ConfigMap and Secret.
constexpr uint32_t kData = 2;
constexpr uint32_t kBinaryData = 3;  // of a configMap; a secret's type has that number
// Of a map's entry.
constexpr uint32_t kKey = 1;
constexpr uint32_t kValue = 2;

// One entry; the last of a key counts.
bool TakeEntry(std::string_view entry, KeyViews& keys) {
  WireReader reader(entry);
  WireField field;
  std::string_view key;
  std::string_view value;
  while (reader.Next(field)) {
    if (field.number != kKey && field.number != kValue) continue;
    if (!Expect(reader, field, WireField::Type::kBytes)) break;
    (field.number == kKey ? key : value) = field.bytes;
  }
  if (reader.ok()) keys.insert_or_assign(key, value);
  return reader.ok();
}

}  // namespace

Result<KeyViews> KeysOf(sync::ObjectKind kind, std::string_view wire) {
  const bool secret = kind == sync::ObjectKind::kSecret;
  KeyViews keys;
  KeyViews binary;
  WireReader reader(wire);
  WireField field;
  while (reader.Next(field)) {
    const bool is_binary = !secret && field.number == kBinaryData;
    if (field.number != kData && !is_binary) continue;
    if (!Expect(reader, field, WireField::Type::kBytes)) break;
    if (!TakeEntry(field.bytes, is_binary ? binary : keys)) {
      reader.Refuse("an entry cannot be read");
    }
  }
  if (!reader.ok()) return Error(ErrorCode::kCorrupt, secret ? "not a secret" : "not a configMap");
  keys.merge(binary);
  return keys;
}

}  // namespace denselet::managers
