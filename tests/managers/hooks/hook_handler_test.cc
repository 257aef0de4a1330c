#include "managers/hooks/hook_handler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

kube::core::Pod PodWith(const std::string& lifecycle) {
  kube::core::Pod pod;
  const std::string json = R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{
    "initContainers":[{"name":"side","lifecycle":{"preStop":{"sleep":{"seconds":3}}}}],
    "containers":[{"name":"c","ports":[{"name":"web","containerPort":8080}],"lifecycle":)" +
                           lifecycle + "}]}}";
  EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
  return pod;
}

Result<HookHandler> PostStart(const std::string& handler,
                              const std::vector<std::string>& ips = {"10.0.0.7", "fd00::7"}) {
  return HandlerOf(PodWith(R"({"postStart":)" + handler + "}"), "c", sync::HookKind::kPostStart,
                   ips);
}

HttpHook Http(const std::string& action, const std::vector<std::string>& ips = {"10.0.0.7"}) {
  const Result<HookHandler> handler = PostStart(R"({"httpGet":)" + action + "}", ips);
  EXPECT_TRUE(handler) << (handler ? "" : handler.error().message());
  return handler ? std::get<HttpHook>(*handler) : HttpHook{};
}

std::string Refusal(const std::string& handler,
                    const std::vector<std::string>& ips = {"10.0.0.7"}) {
  const Result<HookHandler> made = PostStart(handler, ips);
  return made ? "none" : made.error().message();
}

TEST(HookHandler, IsOfItsContainerAndKind) {
  const auto pod = PodWith(R"({"postStart":{"exec":{"command":["a","b"]}}})");
  const Result<HookHandler> exec = HandlerOf(pod, "c", sync::HookKind::kPostStart, {});
  ASSERT_TRUE(exec);
  EXPECT_EQ(std::get<ExecHook>(*exec).command, (std::vector<std::string>{"a", "b"}));
  const Result<HookHandler> sleep = HandlerOf(pod, "side", sync::HookKind::kPreStop, {});
  ASSERT_TRUE(sleep);
  EXPECT_EQ(std::get<SleepHook>(*sleep).time, Seconds(3));
  EXPECT_EQ(HandlerOf(pod, "c", sync::HookKind::kPreStop, {}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(HandlerOf(pod, "x", sync::HookKind::kPreStop, {}).error().code(), ErrorCode::kNotFound);
}

TEST(HookHandler, AnHttpHookGoesToThePodsFirstAddress) {
  const HttpHook hook = Http(R"({"path":"/up?x=1","port":80})", {"10.0.0.7", "fd00::7"});
  EXPECT_FALSE(hook.secure);
  EXPECT_EQ(hook.host, "10.0.0.7");
  EXPECT_EQ(hook.port, 80);
  EXPECT_EQ(hook.request.method, "GET");
  EXPECT_EQ(hook.request.target, "/up?x=1");
  EXPECT_EQ(hook.request.authority, "10.0.0.7:80");
  EXPECT_EQ(*hook.request.headers.Find("User-Agent"), "kube-lifecycle/1.36");
}

TEST(HookHandler, AnHttpHookHasSchemeHostPortAndHeaders) {
  const HttpHook hook = Http(R"({"path":"up","port":"web","scheme":"HTTPS","host":"fd00::1",
      "httpHeaders":[{"name":"Host","value":"me"},{"name":"X","value":"1"},
                     {"name":"user-agent","value":"mine"}]})");
  EXPECT_TRUE(hook.secure);
  EXPECT_EQ(hook.host, "fd00::1");
  EXPECT_EQ(hook.port, 8080);
  EXPECT_EQ(hook.request.target, "/up");
  EXPECT_EQ(hook.request.authority, "me");
  EXPECT_EQ(*hook.request.headers.Find("X"), "1");
  EXPECT_EQ(*hook.request.headers.Find("User-Agent"), "mine");
  EXPECT_EQ(Http(R"({"port":"81","host":"fd00::1"})").request.authority, "[fd00::1]:81");
}

TEST(HookHandler, WhatNobodyCanRunIsRefusedInWords) {
  EXPECT_EQ(Refusal(R"({"httpGet":{"port":0}})"), "invalid port number: 0");
  EXPECT_EQ(Refusal(R"({"httpGet":{"port":70000}})"), "invalid port number: 70000");
  EXPECT_EQ(Refusal(R"({"httpGet":{"port":"none"}})"),
            "port \"none\": the container has no port of that name");
  EXPECT_EQ(Refusal(R"({"httpGet":{"port":80}})", {}), "failed to find networking container");
  EXPECT_NE(Refusal(R"({"httpGet":{"port":80,"path":"/a b"}})").find("cannot stand"),
            std::string::npos);
  EXPECT_NE(Refusal(R"({"httpGet":{"port":80,"httpHeaders":[{"name":"A","value":"x\r\ny"}]}})")
                .find("cannot stand"),
            std::string::npos);
  EXPECT_NE(Refusal(R"({"tcpSocket":{"port":80}})").find("invalid handler"), std::string::npos);
}

}  // namespace
}  // namespace denselet::managers
