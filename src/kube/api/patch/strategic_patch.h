// Strategic merge patches ("application/strategic-merge-patch+json"): what a node agent sends to
// change an object that others write too. It says what changed and no more, so that what others
// wrote meanwhile stays. Lists are replaced, or merged by a key of their elements, as the types
// say.
//
// The patches are those that upstream makes (CreateTwoWayMergePatch), and applying them does what
// the API server does. Pure functions, on any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/codec/schema.h"
#include "kube/api/fwd.h"

namespace denselet::kube {

inline constexpr std::string_view kStrategicPatchContentType =
    "application/strategic-merge-patch+json";
// Changes nothing.
inline constexpr std::string_view kEmptyPatch = "{}";

// JSON with sorted keys; kEmptyPatch when they are the same. kInvalid: an element of a list that is
// merged by key has none, or they differ where nothing can be merged (an object within a map).
//
// Where a list has several elements of the same merge key, such a patch cannot say all: then what
// comes of it may not be `after`, upstream as here.
Result<std::string> MakeStrategicPatch(const google::protobuf::Message& before,
                                       const google::protobuf::Message& after);
// The same between two documents of the type.
Result<std::string> MakeStrategicPatch(std::string_view before, std::string_view after,
                                       const MessageSchema& type);

// kInvalid: the patch is no JSON object, has a directive that is unknown, or does not fit the type.
// Then the object is as it was. What the type does not have is left out.
Status ApplyStrategicPatch(google::protobuf::Message& object, std::string_view patch);
// The same on the bytes of an object, as protobuf writes it; what comes of it are bytes of what it
// becomes, which protobuf has to read before they are equal to those of an equal object.
Result<std::string> ApplyStrategicPatchToWire(std::string_view wire, std::string_view patch,
                                              const MessageSchema& type);
// The same on a document of the type; the answer has sorted keys.
Result<std::string> ApplyStrategicPatch(std::string_view json, std::string_view patch,
                                        const MessageSchema& type);

}  // namespace denselet::kube
