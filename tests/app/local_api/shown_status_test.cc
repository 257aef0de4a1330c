#include "app/local_api/shown_status.h"

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

// "STATUS READY/CONTAINERS RESTARTS".
std::string Shown(const ShownSpec& spec, std::string_view json) {
  kube::core::PodStatus status;
  EXPECT_TRUE(kube::DecodeJson(json, status, {}).faults.empty()) << json;
  const ShownStatus shown = ShowStatus(spec, status);
  return shown.status + " " + std::to_string(shown.ready) + "/" + std::to_string(shown.containers) +
         " " + std::to_string(shown.restarts);
}

TEST(ShownStatus, IsPendingUntilSomethingIsTold) {
  EXPECT_EQ(Shown({.containers = 2}, "{}"), "Pending 0/2 0");
}

TEST(ShownStatus, ContainersSpeakForTheirPod) {
  EXPECT_EQ(Shown({.containers = 1}, R"({"phase":"Running","containerStatuses":[
    {"name":"a","ready":true,"restartCount":2,"state":{"running":{}}}]})"),
            "Running 1/1 2");
  EXPECT_EQ(Shown({.containers = 2}, R"({"phase":"Running","containerStatuses":[
    {"name":"a","restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
    {"name":"b","ready":true,"state":{"running":{}}}]})"),
            "CrashLoopBackOff 1/2 3");
  EXPECT_EQ(Shown({.containers = 1}, R"({"phase":"Succeeded","containerStatuses":[
    {"name":"a","state":{"terminated":{"reason":"Completed"}}}]})"),
            "Completed 0/1 0");
  EXPECT_EQ(Shown({.containers = 1}, R"({"phase":"Failed","containerStatuses":[
    {"name":"a","state":{"terminated":{"exitCode":7}}}]})"),
            "ExitCode:7 0/1 0");
  EXPECT_EQ(Shown({.containers = 1}, R"({"phase":"Failed","containerStatuses":[
    {"name":"a","state":{"terminated":{"exitCode":137,"signal":9}}}]})"),
            "Signal:9 0/1 0");
}

TEST(ShownStatus, OneThatHasEndedBesideOneThatRunsIsNotTheWhole) {
  const std::string two = R"("containerStatuses":[
    {"name":"a","state":{"terminated":{"reason":"Completed"}}},
    {"name":"b","ready":true,"state":{"running":{}}}]})";
  EXPECT_EQ(Shown({.containers = 2}, R"({"phase":"Running",)" + two), "NotReady 1/2 0");
  EXPECT_EQ(Shown({.containers = 2},
                  R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],)" + two),
            "Running 1/2 0");
}

TEST(ShownStatus, InitContainersComeFirst) {
  const ShownSpec spec{.init_containers = 2, .containers = 1};
  EXPECT_EQ(Shown(spec, R"({"phase":"Pending","initContainerStatuses":[
    {"name":"a","state":{"terminated":{"exitCode":0}}},
    {"name":"b","state":{"running":{}}}]})"),
            "Init:1/2 0/1 0");
  EXPECT_EQ(Shown(spec, R"({"phase":"Pending","initContainerStatuses":[
    {"name":"a","restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})"),
            "Init:CrashLoopBackOff 0/1 2");
  EXPECT_EQ(Shown(spec, R"({"phase":"Pending","initContainerStatuses":[
    {"name":"a","state":{"terminated":{"exitCode":3}}}]})"),
            "Init:ExitCode:3 0/1 0");
  EXPECT_EQ(Shown(spec, R"({"phase":"Pending","initContainerStatuses":[
    {"name":"a","state":{"waiting":{"reason":"PodInitializing"}}}]})"),
            "Init:0/2 0/1 0");
}

TEST(ShownStatus, SidecarsCountAmongTheContainers) {
  const ShownSpec spec{.init_containers = 1, .containers = 1, .sidecars = {"side"}};
  EXPECT_EQ(Shown(spec, R"({"phase":"Running","initContainerStatuses":[
    {"name":"side","started":true,"ready":true,"restartCount":1,"state":{"running":{}}}],
    "containerStatuses":[{"name":"a","ready":true,"restartCount":2,"state":{"running":{}}}]})"),
            "Running 2/2 3");
}

TEST(ShownStatus, DeletionAndTheReasonOfThePodWin) {
  EXPECT_EQ(Shown({.containers = 1, .deleted = true}, R"({"phase":"Running","containerStatuses":[
    {"name":"a","ready":true,"state":{"running":{}}}]})"),
            "Terminating 1/1 0");
  EXPECT_EQ(Shown({.containers = 1, .deleted = true}, R"({"phase":"Succeeded"})"),
            "Succeeded 0/1 0");
  EXPECT_EQ(Shown({.containers = 1}, R"({"phase":"Failed","reason":"Evicted"})"), "Evicted 0/1 0");
}

}  // namespace
}  // namespace denselet::app
