// The images of a container runtime behind their port, as a test says, on a simulated loop, in a
// later turn. Nobody looks for one, pulls or removes here.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reactor/api/loop.h"
#include "sync/ports/image_service.h"

namespace denselet::tests {

class ScriptedImages final : public sync::ImageService {
 public:
  explicit ScriptedImages(reactor::Loop& loop) : loop_(loop) {}

  std::optional<Error> error;  // of Filesystems
  // What is asked next is answered with this, until it is changed. Nothing: it hangs.
  std::optional<Result<std::vector<sync::ObservedImage>>> list = std::vector<sync::ObservedImage>();
  int listed = 0;

  void Filesystems(const Context&, reactor::Done<sync::ImageFilesystems> done) override {
    loop_.Post([this, done = std::move(done)]() mutable {
      if (error) return done(*error);
      done(sync::ImageFilesystems{});
    });
  }
  void List(const Context& context, reactor::Done<std::vector<sync::ObservedImage>> done) override {
    ++listed;
    if (list) {
      return loop_.Post(
          [answer = *list, done = std::move(done)]() mutable { done(std::move(answer)); });
    }
    loop_.Arm(context.deadline, [done = std::move(done)]() mutable {
      done(Error(ErrorCode::kDeadlineExceeded, "the runtime hangs"));
    });
  }
  void Find(const Context&, const sync::ImageRequest&,
            reactor::Done<std::optional<sync::ObservedImage>>) override {
    ADD_FAILURE();
  }
  void Pull(const Context&, const sync::ImageRequest&, const sync::ImageCredentials&,
            const sync::SandboxSpec&, reactor::Done<std::string>) override {
    ADD_FAILURE();
  }
  void Remove(const Context&, const ImageId&, reactor::Done<Unit>) override { ADD_FAILURE(); }

 private:
  reactor::Loop& loop_;
};

}  // namespace denselet::tests
