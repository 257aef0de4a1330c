// The text of a pod that the kubelet hashes: Kubernetes' internal Pod, printed by go-spew with
// types and without addresses.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "kube/api/hash/manifest.h"

namespace denselet::kube {

class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void Add(std::string_view text) = 0;
};

// `pod` has all defaults; `manifest` is the object it was decoded from, and what that was. An
// error: a quantity or a time of the manifest is none.
Status DumpPod(const core::Pod& pod, ManifestPlace manifest, WrittenAs written_as, TextSink& out);

}  // namespace denselet::kube
