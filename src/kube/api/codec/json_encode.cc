#include "kube/api/codec/json_encode.h"

#include <bit>
#include <charconv>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "base/time.h"
#include "kube/api/codec/json_text.h"
#include "kube/api/codec/wire_reader.h"
#include "kube/api/values/float_text.h"

namespace denselet::kube {
namespace {

// The fields of a small message by number: those of values that are one message on the wire.
class Parts {
 public:
  explicit Parts(std::string_view message) {
    WireReader reader(message);
    for (WireField field; reader.Next(field);) {
      if (field.number < kCount) fields_[field.number] = field;
    }
  }

  bool empty() const { return fields_[1].number == 0 && fields_[2].number == 0; }
  int64_t Number(size_t i) const { return static_cast<int64_t>(fields_[i].value); }
  std::string_view Bytes(size_t i) const { return fields_[i].bytes; }

 private:
  static constexpr size_t kCount = 4;
  WireField fields_[kCount];
};

template <class Int>
void AppendInt(Int value, std::string& out) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  void Object(std::string_view wire, const MessageSchema& schema, const TypeMeta& type) {
    out_ += '{';
    const bool outer_first = std::exchange(first_, true);
    if (!type.kind.empty()) {
      Key("kind");
      AppendJsonText(type.kind, out_);
    }
    if (!type.api_version.empty()) {
      Key("apiVersion");
      AppendJsonText(type.api_version, out_);
    }
    Fields(wire, schema);
    first_ = outer_first;
    out_ += '}';
  }

  void Field(const FieldSchema& field, std::string_view records) {
    WireReader reader(records);
    WireField part;
    if (!reader.Next(part)) return Absent(field);
    if (field.repeats == Repeats::kOnce) return Single(field, part);
    Elements(field, reader, part);
  }

 private:
  void Key(std::string_view name) {
    if (!std::exchange(first_, false)) out_ += ',';
    AppendJsonText(name, out_);
    out_ += ':';
  }

  // By ascending number, as protobuf writes them, and between them those that Go writes though they
  // are not there.
  void Fields(std::string_view wire, const MessageSchema& schema) {
    size_t next = 0;  // of schema.fields: those before it are done
    WireReader reader(wire);
    WireField part;
    bool more = reader.Next(part);
    while (more) {
      const FieldSchema* field = schema.FindNumber(part.number);
      if (field == nullptr) {  // of a newer version
        more = reader.Next(part);
        continue;
      }
      while (next < field->index) Absent(schema.fields[next++]);
      next = field->index + 1;
      if (field->repeats != Repeats::kOnce) {
        more = Elements(*field, reader, part);
        continue;
      }
      Single(*field, part);
      more = reader.Next(part);
    }
    CHECK(reader.ok());  // protobuf wrote it
    while (next < schema.fields.size()) Absent(schema.fields[next++]);
  }

  void Single(const FieldSchema& field, const WireField& part) {
    if (field.inlined) return Fields(part.bytes, *field.message);
    if (!field.always && !field.pointer && IsZero(field, part)) return Absent(field);
    Key(field.name);
    Value(field, part);
  }

  // Whether Go would leave it out: a scalar that is zero, or a message whose type says so when it
  // is.
  static bool IsZero(const FieldSchema& field, const WireField& part) {
    if (field.shape < Shape::kMessage) return part.value == 0 && part.bytes.empty();
    return field.omit_zero && (field.shape == Shape::kTime || field.shape == Shape::kMicroTime
                                   ? Parts(part.bytes).empty()
                                   : part.bytes.empty());
  }

  void Absent(const FieldSchema& field) {
    if (field.inlined) return Fields({}, *field.message);
    if (!field.always) return;
    Key(field.name);
    if (field.pointer || field.repeats != Repeats::kOnce) {
      out_ += "null";
    } else {
      Value(field, {});
    }
  }

  // All parts of a repeated field follow each other. False: the message ended with them.
  bool Elements(const FieldSchema& field, WireReader& reader, WireField& part) {
    const bool is_map = field.repeats == Repeats::kMap;
    Key(field.name);
    out_ += is_map ? '{' : '[';
    bool more = true;
    for (bool first = true; more && part.number == field.number; more = reader.Next(part)) {
      if (!std::exchange(first, false)) out_ += ',';
      if (is_map) {
        Entry(field, part.bytes);
      } else {
        Value(field, part);
      }
    }
    out_ += is_map ? '}' : ']';
    return more;
  }

  void Entry(const FieldSchema& field, std::string_view entry) {
    WireField key, value;
    WireReader reader(entry);
    for (WireField part; reader.Next(part);) (part.number == 1 ? key : value) = part;
    AppendJsonText(key.bytes, out_);
    out_ += ':';
    Value(field, value);
  }

  void Value(const FieldSchema& field, const WireField& part) {
    switch (field.shape) {
      case Shape::kBool:
        out_ += part.value != 0 ? "true" : "false";
        return;
      case Shape::kInt32:
      case Shape::kInt64:
        return AppendInt(static_cast<int64_t>(part.value), out_);
      case Shape::kUint32:
      case Shape::kUint64:
        return AppendInt(part.value, out_);
      case Shape::kDouble:
        out_ += JsonFloatText(std::bit_cast<double>(part.value));
        return;
      case Shape::kString:
        return AppendJsonText(part.bytes, out_);
      case Shape::kBytes:
        return AppendJsonText(Base64Encode(part.bytes), out_);
      case Shape::kMessage:
        return Object(part.bytes, *field.message, {});
      case Shape::kQuantity:
        return Quantity(part.bytes);
      case Shape::kIntOrString:
        return IntOrString(part.bytes);
      case Shape::kTime:
        return Time(part.bytes, 0);
      case Shape::kMicroTime:
        return Time(part.bytes, 6);
      case Shape::kDuration:
        return AppendJsonText(FormatDuration(Duration(Parts(part.bytes).Number(1))), out_);
      case Shape::kTextOrDuration:
        return TextOrDuration(part.bytes);
      case Shape::kRawJson:
        return Raw(part.bytes);
      case Shape::kStringList:
        return List(part.bytes);
    }
  }

  void Quantity(std::string_view message) {
    const std::string_view text = Parts(message).Bytes(1);
    AppendJsonText(text.empty() ? "0" : text, out_);
  }

  void IntOrString(std::string_view message) {
    const Parts parts(message);
    if (parts.Number(1) == 0) return AppendInt(parts.Number(2), out_);
    AppendJsonText(parts.Bytes(3), out_);
  }

  void Time(std::string_view message, int fraction_digits) {
    const Parts parts(message);
    if (parts.empty()) {
      out_ += "null";
      return;
    }
    const Timestamp time{.seconds = parts.Number(1),
                         .nanos = static_cast<int32_t>(parts.Number(2))};
    AppendJsonText(FormatRfc3339(time, fraction_digits), out_);
  }

  void TextOrDuration(std::string_view message) {
    const Parts parts(message);
    if (parts.Number(2) != 0) return AppendInt(parts.Number(1), out_);
    AppendJsonText(FormatDuration(Duration(parts.Number(1))), out_);
  }

  // Came as JSON, through this codec or from the API server.
  void Raw(std::string_view message) {
    const std::string_view json = Parts(message).Bytes(1);
    out_ += json.empty() ? "null" : json;
  }

  void List(std::string_view message) {
    out_ += '[';
    WireReader reader(message);
    bool first = true;
    for (WireField part; reader.Next(part);) {
      if (!std::exchange(first, false)) out_ += ',';
      AppendJsonText(part.bytes, out_);
    }
    out_ += ']';
  }

  std::string& out_;
  bool first_ = true;  // of the object that is being written
};

}  // namespace

void WireToJson(std::string_view wire, const MessageSchema& schema, const TypeMeta& type,
                std::string& json) {
  Encoder(json).Object(wire, schema, type);
}

void FieldToJson(const FieldSchema& field, std::string_view records, std::string& json) {
  Encoder(json).Field(field, records);
}

}  // namespace denselet::kube
