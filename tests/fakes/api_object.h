// Any object of the API by its resource: the generated message, and the metadata that all have.
// For .cc files: brings the generated headers.
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/codec/schema.h"
#include "kube/api/objects/resource.h"
#include "kube/api/types.h"

namespace denselet::fakes {

// "spec.nodeName" as text, read from the object's bytes; empty: it has none. Once per type the
// schema is asked for.
std::string_view TextAt(const kube::MessageSchema& schema, std::string_view wire,
                        std::string_view path);
// Of the resource's objects. Null: no such type is linked in.
const kube::MessageSchema* SchemaOf(const kube::Resource& resource);

// Owned by who works on it; any thread.
class AnyObject {
 public:
  // kNotFound: no such type is linked in. kInvalid: the bytes are none of it.
  static Result<AnyObject> Parse(const kube::Resource& resource, std::string_view wire);

  AnyObject(const AnyObject& other);
  AnyObject(AnyObject&&) = default;
  AnyObject& operator=(AnyObject&&) = default;

  google::protobuf::Message& message() { return *message_; }
  const google::protobuf::Message& message() const { return *message_; }
  kube::meta::ObjectMeta& meta();
  const kube::meta::ObjectMeta& meta() const;
  std::string Wire() const;

  // "spec", "status": whether the type has it, takes it from another object of the type, and
  // whether both say the same there.
  bool Has(const std::string& part) const;
  void TakePart(const std::string& part, const AnyObject& from);
  bool SamePart(const std::string& part, const AnyObject& other) const;
  // "spec.nodeName" as text; nothing: the type has no such field of text.
  std::optional<std::string> Text(std::string_view path) const;

 private:
  explicit AnyObject(std::unique_ptr<google::protobuf::Message> message)
      : message_(std::move(message)) {}

  std::unique_ptr<google::protobuf::Message> message_;
};

// One version of an object, parsed and as bytes.
struct StoredObject {
  AnyObject object;
  std::shared_ptr<const std::string> wire;  // shared with the history, which has nothing else of it
};

}  // namespace denselet::fakes
