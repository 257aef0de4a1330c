// Where the node's pods come from: API server, files, a URL. The leaves behind this port find and
// decode them; sync/sources merges what they tell into one desired state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "kube/api/pod/pod_at_rest.h"
#include "sync/ports/source_set.h"

namespace denselet::sync {

// Who is told. Calls come in turns of the loop on the shard of the source, never inside a call to
// the source, which must not be destroyed in one.
class PodSourceUser {
 public:
  // All that the source has: the first thing it tells, and again whenever it likes. What it told
  // before and is not among them is no more.
  virtual void OnPods(SourceKind source, std::vector<kube::PodRef> pods) = 0;

  // One that is new or has changed since. One of the same name but with another uid takes the place
  // of the old.
  virtual void OnPod(SourceKind source, kube::PodRef pod) = 0;
  virtual void OnPodGone(SourceKind source, std::string_view uid) = 0;

  // One that the source has and does not tell, because another of its own has the same name or uid.
  // Once, beside the trouble of its place.
  virtual void OnPodLeftOut(SourceKind, const kube::PodRef&, const Error&) {}

  // Something is wrong at a place: a file, the URL, an object of the API server. Stays so until it
  // is told to be over, or to be something else. Other places are not concerned.
  virtual void OnTrouble(SourceKind source, const std::string& where, const Error& reason) = 0;
  // Trouble of a kind that costs no pod: a part of what is at the place is not read.
  virtual void OnPartIgnored(SourceKind source, const std::string& where, const Error& reason) {
    OnTrouble(source, where, reason);
  }
  virtual void OnTroubleOver(SourceKind source, const std::string& where) = 0;

 protected:
  ~PodSourceUser() = default;
};

// Destroying it ends it, without a further call.
class PodSource {
 public:
  virtual ~PodSource() = default;
  virtual SourceKind kind() const = 0;
};

}  // namespace denselet::sync
