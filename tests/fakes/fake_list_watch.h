// A list-watch of the FakeApiServer. For fake_api_server.cc.
#pragma once

#include <memory>
#include <string>

#include "tests/fakes/fake_api_server.h"

namespace denselet::fakes {

// Owned by its user; the server knows it until it is destroyed.
class FakeApiServer::FakeListWatch final : public sync::ListWatch {
 public:
  FakeListWatch(FakeApiServer& server, sync::ListWatchSpec spec, sync::ListWatchUser& user);
  ~FakeListWatch() override;

  const std::string& resource_version() const override { return version_; }

  // The model has changed.
  void OnChange();
  // The server is gone.
  void OnCrash();
  // It can be reached again.
  void OnServerBack();

 private:
  enum class Stage : uint8_t { kPaused, kWatching, kPumping };

  void Wait(Duration pause, Stage stage);
  void OnTimer();
  void List();
  void StartWatch();
  // Each of these: false when nobody follows any more, and `this` is gone.
  bool TellList(const ModelList& list);
  bool Tell(const std::string& wire);
  bool TellEvent(const ModelEvent& event);
  void Pump();
  // The watch is over, whatever ended it.
  void NoteWatchTime();
  Duration NextPause();
  void Trouble(const Error& reason);
  void Expired(const Error& reason);
  bool TellGoingOn();

  FakeApiServer& server_;
  const ListQuery query_;
  sync::ListWatchUser& user_;
  const std::shared_ptr<FakeListWatch*> self_;
  kube::WatchedObjects objects_;
  Stage stage_ = Stage::kPaused;
  ModelWatch watch_;
  bool list_due_ = true;
  std::string list_from_ = "0";
  std::string version_;
  Duration pause_{};
  TimePoint resume_at_;
  TimePoint watching_since_;
  uint32_t expirations_ = 0;  // of versions, in a row
  bool troubled_ = false;
  reactor::TimerId timer_;
};

}  // namespace denselet::fakes
