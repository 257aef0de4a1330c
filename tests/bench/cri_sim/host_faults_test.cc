// What goes wrong on demand: errors, hangs, crashes, events.
#include <gmock/gmock.h>

#include <thread>

#include "tests/bench/cri_sim/host_fixture.h"

namespace denselet::cri_sim {
namespace {

using Stub = cri::RuntimeService::Stub;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class HostFaultsTest : public HostTest {
 protected:
  void StartWithMessagesOf(int bytes_max) {
    HostOptions options;
    options.message_bytes_max = bytes_max;
    Start(std::move(options));
  }
  grpc::Status Version(int seconds = 30) {
    cri::VersionRequest request;
    cri::VersionResponse response;
    return Call(&Stub::Version, request, response, seconds);
  }
  std::string Set(const std::string& settings) {
    return host_->Run(R"({"do":"set","settings":)" + settings + "}");
  }
};

TEST_F(HostFaultsTest, AnErrorIsInjectedAsOftenAsAsked) {
  Start();
  Set(R"({"methods":{"Version":{"error":{"code":"INTERNAL","count":2,"message":"no"}}}})");
  EXPECT_EQ(Version().error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(Version().error_message(), "no");
  EXPECT_TRUE(Version().ok());
  EXPECT_THAT(host_->Run(R"({"do":"counters"})"),
              HasSubstr(R"("Version":{"calls":3,"errors":2,"cancelled":0,"inFlight":0)"));
}

// As containerd has it, and the counters know that the client has no list.
TEST_F(HostFaultsTest, AListThatIsTooLongForAMessageIsAnError) {
  StartWithMessagesOf(100'000);
  host_->Run(R"({"do":"populate","pods":500,"containers":2})");
  cri::ListContainersRequest request;
  cri::ListContainersResponse response;
  const grpc::Status status = Call(&Stub::ListContainers, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(),
              MatchesRegex("grpc: trying to send message larger than max \\([0-9]+ vs. 100000\\)"));
  EXPECT_THAT(host_->Run(R"({"do":"counters"})"),
              HasSubstr(R"("ListContainers":{"calls":1,"errors":1,"cancelled":0,"inFlight":0)"));

  // A part of a stream of lists is a message too.
  grpc::ClientContext context;
  auto stream = runtime_->StreamContainers(&context, cri::StreamContainersRequest());
  cri::StreamContainersResponse part;
  EXPECT_FALSE(stream->Read(&part));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(host_->Run(R"({"do":"counters"})"),
              HasSubstr(R"("StreamContainers":{"calls":1,"errors":1,"cancelled":0,"inFlight":0)"));
}

TEST_F(HostFaultsTest, ARequestThatNobodyCanReadIsAViolation) {
  Start();
  cri::VersionRequest request;
  request.set_version("\xff");  // not a text
  cri::VersionResponse response;
  EXPECT_EQ(Call(&Stub::Version, request, response).error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(
      host_->Run(R"({"do":"violations"})"),
      HasSubstr(
          R"("rule":"unreadable-request","what":"Version: 3 bytes that protobuf cannot read)"));
}

TEST_F(HostFaultsTest, CountersBeginAnewAlsoThoseOfEvents) {
  Start();
  host_->Run(R"({"do":"populate","pods":3})");
  host_->Run(R"({"do":"exit","pod":"*"})");
  EXPECT_THAT(host_->Run(R"({"do":"counters"})"), Not(HasSubstr(R"("published":0)")));
  host_->Run(R"({"do":"resetCounters"})");
  EXPECT_THAT(host_->Run(R"({"do":"counters"})"), HasSubstr(R"("published":0)"));
}

TEST_F(HostFaultsTest, ARequestThatIsTooLongIsRefused) {
  StartWithMessagesOf(100'000);
  cri::VersionRequest request;
  request.set_version(std::string(200'000, 'v'));
  cri::VersionResponse response;
  EXPECT_EQ(Call(&Stub::Version, request, response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(HostFaultsTest, AnErrorAfterTheEffectLeavesThePodBehind) {
  Start();
  Set(R"({"methods":{"RunPodSandbox":{"error":{"count":1,"side":"after"}}}})");
  cri::RunPodSandboxRequest request;
  *request.mutable_config() = Pod("web");
  cri::RunPodSandboxResponse response;
  EXPECT_EQ(Call(&Stub::RunPodSandbox, request, response).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(host_->Run(R"({"do":"state"})"), HasSubstr("\"sandboxes\":1,"));
}

TEST_F(HostFaultsTest, AHungCallIsAnsweredWhenReleased) {
  Start();
  Set(R"({"methods":{"Version":{"hang":{"count":1}}}})");
  grpc::Status status(grpc::StatusCode::UNKNOWN, "");
  std::thread caller([&] { status = Version(); });
  while (host_->Run(R"({"do":"release","method":"Version"})") != R"({"ok":true,"released":1})") {
    std::this_thread::yield();
  }
  caller.join();
  EXPECT_TRUE(status.ok());
}

TEST_F(HostFaultsTest, AHungCallEndsWithItsDeadline) {
  Start();
  Set(R"({"methods":{"Version":{"hang":{"count":1}}}})");
  EXPECT_EQ(Version(1).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(Version().ok());
}

TEST_F(HostFaultsTest, ACrashKeepsOrLosesTheState) {
  Start();
  RunPod(Pod("web"));
  EXPECT_EQ(host_->Run(R"({"do":"crash","downtime":"10ms"})"), R"({"ok":true})");
  EXPECT_TRUE(Version().ok());
  EXPECT_THAT(host_->Run(R"({"do":"state"})"), HasSubstr("\"sandboxes\":1,"));
  host_->Run(R"({"do":"crash","keepState":false})");
  EXPECT_TRUE(Version().ok());
  EXPECT_THAT(host_->Run(R"({"do":"state"})"), HasSubstr("\"sandboxes\":0,"));
}

TEST_F(HostFaultsTest, ACrashBreaksTheCallsUnderWay) {
  Start();
  Set(R"({"methods":{"Version":{"hang":{"count":1}}}})");
  grpc::Status status;
  std::thread caller([&] { status = Version(); });
  while (host_->Run(R"({"do":"counters"})").find("\"hung\":1") == std::string::npos) {
    std::this_thread::yield();
  }
  host_->Run(R"({"do":"crash"})");
  caller.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_TRUE(Version().ok());
}

class EventsTest : public HostFaultsTest {
 protected:
  struct Subscription {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<cri::ContainerEventResponse>> reader;
  };
  std::unique_ptr<Subscription> Subscribe(size_t count) {
    auto made = std::make_unique<Subscription>();
    made->reader = runtime_->GetContainerEvents(&made->context, {});
    const std::string wanted = "\"subscribers\":" + std::to_string(count);
    while (host_->Run(R"({"do":"counters"})").find(wanted) == std::string::npos) {
      std::this_thread::yield();
    }
    return made;
  }
  static cri::ContainerEventType Next(Subscription& subscription) {
    cri::ContainerEventResponse event;
    EXPECT_TRUE(subscription.reader->Read(&event));
    EXPECT_TRUE(event.pod_sandbox_status().has_metadata());
    return event.container_event_type();
  }
};

TEST_F(EventsTest, EverySubscriberHearsOfEveryPod) {
  Start();
  const auto one = Subscribe(1), two = Subscribe(2);
  RunPod(Pod("web"));
  for (const auto& subscription : {one.get(), two.get()}) {
    EXPECT_EQ(Next(*subscription), cri::CONTAINER_CREATED_EVENT);
    EXPECT_EQ(Next(*subscription), cri::CONTAINER_STARTED_EVENT);
  }
}

TEST_F(EventsTest, WhatHappenedBeforeAnybodyListenedIsToldToTheFirst) {
  Start();
  RunPod(Pod("web"));
  const auto first = Subscribe(1);
  EXPECT_EQ(Next(*first), cri::CONTAINER_CREATED_EVENT);
  EXPECT_EQ(Next(*first), cri::CONTAINER_STARTED_EVENT);
}

TEST_F(EventsTest, TheyComeTwiceReorderedOrNotAtAll) {
  Start();
  const auto subscription = Subscribe(1);
  Set(R"({"events":{"duplicate":1}})");
  RunPod(Pod("twice"));
  EXPECT_EQ(Next(*subscription), cri::CONTAINER_CREATED_EVENT);
  EXPECT_EQ(Next(*subscription), cri::CONTAINER_CREATED_EVENT);
  EXPECT_EQ(Next(*subscription), cri::CONTAINER_STARTED_EVENT);
  EXPECT_EQ(Next(*subscription), cri::CONTAINER_STARTED_EVENT);
  Set(R"({"events":{"duplicate":0,"reorder":1}})");
  RunPod(Pod("reordered"));
  EXPECT_EQ(Next(*subscription), cri::CONTAINER_STARTED_EVENT);
  EXPECT_EQ(Next(*subscription), cri::CONTAINER_CREATED_EVENT);
  Set(R"({"events":{"reorder":0,"lose":1}})");
  RunPod(Pod("lost"));
  Set(R"({"events":{"lose":0,"late":1,"lateness":"50ms"}})");
  RunPod(Pod("late"));
  EXPECT_EQ(Next(*subscription), cri::CONTAINER_CREATED_EVENT);
  const std::string counters = host_->Run(R"({"do":"counters"})");
  EXPECT_THAT(counters, HasSubstr("\"lost\":2,\"late\":2,\"duplicated\":2,\"reordered\":1,"));
}

TEST_F(EventsTest, ARuntimeWithoutEventsSaysSo) {
  HostOptions options;
  options.settings.events.enabled = false;
  Start(std::move(options));
  grpc::ClientContext context;
  const auto reader = runtime_->GetContainerEvents(&context, {});
  cri::ContainerEventResponse event;
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(EventsTest, ACrashEndsTheStream) {
  Start();
  const auto subscription = Subscribe(1);
  host_->Run(R"({"do":"crash"})");
  cri::ContainerEventResponse event;
  EXPECT_FALSE(subscription->reader->Read(&event));
  EXPECT_EQ(subscription->reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  const auto again = Subscribe(1);
  RunPod(Pod("web"));
  EXPECT_EQ(Next(*again), cri::CONTAINER_CREATED_EVENT);
}

}  // namespace
}  // namespace denselet::cri_sim
