// What is known of each manifest in the folder, and which pods follow from that. The folder's
// content decides: whatever happened on the way, once it stands still the pods are those of its
// good files.
//
// New content counts when it was read twice, a moment apart, and was the same: half of a file that
// somebody writes in pieces may well be a pod, and would be another one. Who pauses for longer, and
// keeps the file open, is seen before the second reading (FileSource).
//
// A file that turns bad keeps its last good pod for a while (as upstream's pod stays until the next
// look at the whole folder), so that one which is being written or edited in place does not kill
// it; after that it has none. One that cannot be read at all keeps its pod: nobody knows what is in
// it.
//
// Of two files with a pod of one name the last by name counts, whichever came first: upstream lists
// the folder in the order of names into a store by namespace and name, where the last stays. As the
// path is part of a pod's uid (unless the manifest sets one), a copy under a later name is another
// pod, and takes the place of the one that runs, there as here. Between two looks at the folder
// upstream takes whatever it hears of last: a copy under an earlier name restarts the pod there
// twice, and here not at all. To let the one that runs stay would only put the restart off until
// the agent's next start, when nobody knows which it was. Upstream says nothing; here each file
// that does not count is told, with the one that does.
//
// A pure class, of FileSource.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "kube/api/pod/pod_at_rest.h"
#include "reactor/api/file_system.h"

namespace denselet::managers {

struct ManifestFilesOptions {
  // Between the two readings.
  Duration quiet_time = Milliseconds(100);
  // How long a bad file keeps the pod that it had.
  Duration bad_time_max = Seconds(20);
  // A file that is bad for less is probably being written; not reported.
  Duration settle_time = Seconds(1);
  // Content that is younger than this when it is read may change again within one tick of the
  // file system's clock.
  Duration young = Seconds(2);
};

class ManifestFiles {
 public:
  struct Decoded {
    kube::PodRef pod;
    std::optional<Error> ignored = {};  // what is in the file besides, and is not read
  };
  using Decode = UniqueFunction<Result<Decoded>(const std::string& path, std::string_view content)>;

  ManifestFiles(const ManifestFilesOptions& options, Decode decode)
      : options_(options), decode_(std::move(decode)) {}

  // A look at the whole folder: each file that is there is Noted and then, where that is needed,
  // read; those that were not Noted are gone at its end.
  void BeginScan() { ++scan_; }
  void Note(const std::string& path) { files_[path].scan = scan_; }
  // Nothing is known of it yet, so that times and size would not help.
  bool IsNew(const std::string& path) const;
  // Of its content they are known already.
  bool HasTimes(const std::string& path) const;
  // By its times and size it may have changed since it was read.
  bool MustRead(const std::string& path, const reactor::FileInfo& info) const;
  // It will count if it is read now and is still the same.
  bool IsAboutToCount(const std::string& path, TimePoint now) const;
  // `info` is from before the content was read; none: nobody asked, or they say nothing (a link).
  void OnContent(const std::string& path, std::string_view content,
                 const std::optional<reactor::FileInfo>& info, WallTime wall, TimePoint now);
  // No manifest, whatever is in it.
  void OnBad(const std::string& path, const Error& reason, TimePoint now);
  void OnUnreadable(const std::string& path, const Error& reason, TimePoint now);
  void OnGone(const std::string& path) { files_[path].scan = 0; }

  struct Trouble {
    std::string path;
    std::optional<Error> reason;  // none: it is over
    bool pod_counts = false;      // only a part of the file is ignored
  };
  // A pod that does not count, because of another file's.
  struct LeftOut {
    kube::PodRef pod;
    Error reason;
  };
  // Since the last scan.
  struct Outcome {
    std::vector<std::string> gone;      // uids
    std::vector<kube::PodRef> changed;  // or new
    std::vector<Trouble> troubles;
    std::vector<LeftOut> left_out;
    bool unreadable = false;           // some are, so look again soon
    bool undecided = false;            // of some it is not known yet what is in them
    TimePoint look_again_at = kNever;  // to see what became of them
  };
  Outcome EndScan(TimePoint now);

  // As of the last EndScan, by uid.
  std::vector<kube::PodRef> Pods() const;
  size_t size() const { return files_.size(); }

 private:
  struct Fault {
    Error reason;
    TimePoint since;
  };
  struct Pending {
    uint64_t hash;
    TimePoint since;
    TimePoint first;  // from when on it kept changing
  };
  struct File {
    uint64_t scan = 0;                      // the last in which it was there
    std::optional<reactor::FileInfo> info;  // none: it must be read to know
    std::optional<uint64_t> hash;           // of the content that the following came from
    std::optional<Pending> pending;         // content that was read once
    kube::PodRef pod;
    std::optional<Error> ignored;     // a part of the content
    std::optional<Fault> bad;         // the content is
    std::optional<Fault> unreadable;  // so the above is of older content
    std::optional<Error> told;
  };
  using ByUid = std::map<std::string, kube::PodRef, std::less<>>;  // by uid

  // Whether the content counts now.
  bool Settle(File& file, uint64_t hash, TimePoint now) const;
  void SetBad(File& file, const Error& reason, TimePoint now);
  void DropGone(Outcome& outcome);
  std::optional<Error> TroubleOf(const File& file, TimePoint now, Outcome& outcome) const;
  // The pods that count; the files of the others get their reason into `duplicates`.
  ByUid Winners(std::map<std::string, Error>& duplicates) const;

  const ManifestFilesOptions options_;
  Decode decode_;
  std::map<std::string, File> files_;  // by path
  uint64_t scan_ = 0;
  ByUid pods_;
};

}  // namespace denselet::managers
