// Where the sources meet: merges what they tell into the desired state and hands on what changed,
// knows which of them have spoken, and keeps what is wrong with their files, URLs and objects for
// whoever asks.
//
//   silent ---- first pods ----> ready
//      \--- late_after ---> late ----^        (told once; a late source is not taken for ready)
//
// Owned by the composition root; lives on the shard of the sources and outlives them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/repeated_trouble.h"
#include "base/time.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_source.h"
#include "sync/ports/source_set.h"
#include "sync/sources/desired_pods.h"

namespace denselet::sync {

struct PodSourcesOptions {
  SourceSet configured = {};
  // A source that has told nothing by then is reported as late.
  Duration late_after = Minutes(1);
  // Places with trouble that are kept with their reasons. Further ones are logged and counted.
  size_t troubles_max = 1000;
};

// Who is told what changed. Calls come in the turns in which the sources tell.
class DesiredPodsUser {
 public:
  virtual void OnPodChanges(SourceKind source, std::span<const PodChange> changes) = 0;
  // A pod that a source told twice or that cannot be read: upstream's event FailedValidation.
  virtual void OnPodRefused(SourceKind source, const RefusedPod& refused) = 0;
  // It has told, for the first time, all that it has; after the changes that this made.
  virtual void OnSourceReady(SourceKind source) = 0;
  virtual void OnSourceLate(SourceKind source) = 0;

 protected:
  ~DesiredPodsUser() = default;
};

class PodSources final : public PodSourceUser, public SourceReadiness {
 public:
  PodSources(reactor::Loop& loop, Logger log, const PodSourcesOptions& options,
             DesiredPodsUser& user);
  ~PodSources() override;
  PodSources(const PodSources&) = delete;
  PodSources& operator=(const PodSources&) = delete;

  const DesiredPods& pods() const { return pods_; }

  bool Ready(SourceSet needed) const override;
  SourceSet seen() const { return seen_; }
  // Silent for longer than they may be.
  SourceSet late() const { return late_ ? options_.configured.Without(seen_) : SourceSet(); }

  struct Trouble {
    SourceKind source;
    std::string where;
    Error reason;
  };
  // By source and place.
  std::vector<Trouble> Troubles() const;
  size_t troubles_not_kept() const { return not_kept_; }

  // PodSourceUser
  void OnPods(SourceKind source, std::vector<kube::PodRef> pods) override;
  void OnPod(SourceKind source, kube::PodRef pod) override;
  void OnPodGone(SourceKind source, std::string_view uid) override;
  void OnPodLeftOut(SourceKind source, const kube::PodRef& pod, const Error& reason) override;
  void OnTrouble(SourceKind source, const std::string& where, const Error& reason) override;
  void OnPartIgnored(SourceKind source, const std::string& where, const Error& reason) override;
  void OnTroubleOver(SourceKind source, const std::string& where) override;

 private:
  void Tell(SourceKind source, const PodMerge& merge);
  using Place = std::pair<SourceKind, std::string>;
  // What of it is lost with the trouble.
  enum class Loss : uint8_t { kAll, kPart };
  void Note(Place place, const Error& reason, Loss loss);
  void LogTrouble(const Place& place, const Error& reason, Loss loss) const;
  void TellAt(TimePoint when);
  void TellWhatIsDue();
  void OnLate();

  reactor::Loop& loop_;
  const Logger log_;
  const PodSourcesOptions options_;
  DesiredPodsUser& user_;
  DesiredPods pods_;
  SourceSet seen_;
  bool late_ = false;  // the time is up
  reactor::TimerId late_timer_;
  struct KeptTrouble {
    Error reason;
    Loss loss;
    RepeatedTrouble told;
  };
  std::map<Place, KeptTrouble> troubles_;
  // A source of files tells a fault once: what came too soon after another one is told then.
  TimePoint tell_at_ = kNever;
  reactor::TimerId tell_timer_;
  size_t not_kept_ = 0;
};

}  // namespace denselet::sync
