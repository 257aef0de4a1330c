// What the runtime answers, as structs of ours. An answer is outside input: fields may be missing
// or absurd. What no decision could rest on (no id, no name, no time of creation) is refused with
// kCorrupt in a kubelet's words; the rest is read as well as it can be.
//
// Pure functions, on any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "cri/fwd.h"
#include "sync/ports/image_service.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/runtime.h"

namespace denselet::cri {

// The version of the API that a runtime must name, whatever its own is.
inline constexpr std::string_view kApiVersion = "0.1.0";

Result<sync::RuntimeVersion> ReadVersion(const pb::VersionResponse& response);
Result<sync::RuntimeStatus> ReadStatus(const pb::StatusResponse& response);

Result<sync::ObservedSandbox> ReadSandbox(const pb::PodSandboxStatus& status);
// Without its sandbox, which only a list tells.
Result<sync::ObservedContainer> ReadContainer(const pb::ContainerStatus& status);

// The pod by the labels; an empty uid: it is not a pod's of ours. The name and namespace are those
// of the metadata, where that has them.
sync::PodIdentity OwnerOf(const pb::PodSandbox& sandbox);
sync::PodIdentity OwnerOf(const pb::Container& container);
// Of an event: nothing when it does not say whose it is.
std::optional<PodUid> OwnerOf(const pb::ContainerEventResponse& event);
std::optional<sync::PodHint> ReadHint(const pb::ContainerEventResponse& event);

sync::ObservedImage ReadImage(const pb::Image& image);
// As the answer to a question for one image: with an id and a size.
Result<sync::ObservedImage> ReadFoundImage(const pb::Image& image, const std::string& asked);
sync::ImageFilesystems ReadFilesystems(const pb::ImageFsInfoResponse& response);

// The order that sync/ports promises.
void Sort(sync::ObservedPod& pod);
void Sort(sync::ListedPod& pod);

}  // namespace denselet::cri
