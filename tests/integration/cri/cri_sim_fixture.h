// The simulated runtime (bench/cri_sim) in this process, with the client against it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/cri_sim/host.h"
#include "cri/event_stream.h"
#include "tests/integration/cri/cri_fixture.h"

namespace denselet::cri {

struct SimListener final : sync::RuntimeEventsUser {
  std::set<std::string> hints;
  int lost = 0;
  sync::EventStreamState state = sync::EventStreamState::kConnecting;
  void OnPodHint(const sync::PodHint& hint) override { hints.insert(hint.pod.value()); }
  void OnHintsLost() override { ++lost; }
  void OnStreamState(sync::EventStreamState now) override { state = now; }
};

inline size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class CriSimTest : public CriTest {
 protected:
  ~CriSimTest() override {
    stream_.reset();
    if (hints_ != nullptr) hints_->Close();
    hints_.reset();
    cri_.reset();
    host_.reset();  // before the connection: calls that hang end
  }

  void StartBoth(Duration request_timeout = Minutes(2)) {
    server_.reset();
    cri_sim::HostOptions options;
    options.socket = folder_ + "/s";
    options.control_socket = folder_ + "/c";
    options.identity.image_folder = folder_;
    options.print_violations = false;
    options.message_bytes_max = 64 << 20;  // more than a client takes
    options.settings.images_present = true;
    auto started = cri_sim::Host::Start(std::move(options));
    ASSERT_TRUE(started) << started.error().message();
    host_ = *std::move(started);
    Connect(request_timeout);
  }
  void Set(const std::string& settings) {
    EXPECT_THAT(host_->Run(R"({"do":"set","settings":)" + settings + "}"),
                testing::HasSubstr("\"ok\":true"));
  }
  void StartStream() {
    hints_ = PodHints::Make(shard_, listener_, cri_->metrics());
    stream_ = std::make_unique<EventStream>(shard_, cri_->runtime_client(), runtime(), random_,
                                            log(), cri_->metrics(),
                                            std::vector<std::shared_ptr<PodHints>>{hints_});
    stream_->Start();
  }
  sync::SandboxSpec Sandbox(const std::string& pod, uint32_t attempt) {
    sync::SandboxSpec spec = SandboxOf(pod, attempt);
    spec.log_directory = folder_ + "/" + pod;
    return spec;
  }
  sync::ContainerSpec Container(const std::string& pod, const std::string& name, uint32_t attempt) {
    sync::ContainerSpec spec = ContainerOf(pod, name, attempt);
    spec.image = "busybox";
    spec.log_path = name + "/" + std::to_string(attempt) + ".log";
    return spec;
  }
  // What we list, read and what is there are the same.
  void ExpectAgreement() {
    const auto list = List();
    ASSERT_TRUE(list) << list.error().message();
    const std::string pods = host_->Run(R"({"do":"pods"})");
    size_t containers = 0, sandboxes = 0;
    for (const sync::ListedPod& listed : list->pods) {
      const auto read = Read(listed.pod.uid.value());
      ASSERT_TRUE(read) << read.error().message();
      ASSERT_EQ(read->containers.size(), listed.containers.size());
      for (size_t i = 0; i < listed.containers.size(); ++i) {
        EXPECT_EQ(read->containers[i].id, listed.containers[i].id);
        EXPECT_EQ(read->containers[i].state, listed.containers[i].state);
        EXPECT_THAT(pods, testing::HasSubstr(listed.containers[i].id.value()));
      }
      sandboxes += listed.sandboxes.size();
      containers += listed.containers.size();
    }
    EXPECT_EQ(Count(pods, "\"exitCode\""), containers);
    EXPECT_EQ(Count(pods, "\"healthy\""), sandboxes);
  }

  std::unique_ptr<cri_sim::Host> host_;
  SimListener listener_;
  std::shared_ptr<PodHints> hints_;
  std::unique_ptr<EventStream> stream_;
};

}  // namespace denselet::cri
