// Of pods without volumes: those with some are refused where volumes are mounted.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reactor/api/loop.h"
#include "sync/ports/pod_volumes.h"

namespace denselet::app {

class NoVolumes final : public sync::PodVolumes {
 public:
  explicit NoVolumes(reactor::Loop& loop) : loop_(loop) {}

  void MountsOf(const Context&, const kube::PodRef&, const sync::ContainerWish&,
                const sync::KeyValues&, reactor::Done<std::vector<sync::MountSpec>> done) override {
    loop_.Post([done = std::move(done)]() mutable { done(std::vector<sync::MountSpec>()); });
  }
  void ReadFile(const Context&, const kube::PodRef&, const std::string& volume, const std::string&,
                size_t, reactor::Done<std::string> done) override {
    loop_.Post([volume, done = std::move(done)]() mutable {
      done(Error(ErrorCode::kNotFound, "there is no volume " + volume));
    });
  }

 private:
  reactor::Loop& loop_;
};

}  // namespace denselet::app
