#include "kube/client/exec_credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace denselet::kube {
namespace {

using testing::ElementsAre;

ExecPlugin Plugin() {
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  plugin.command = "get-token";
  plugin.install_hint = "install it";
  return plugin;
}

TEST(ExecCredential, ThePluginGetsOurEnvironmentItsOwnAndTheCluster) {
  ExecPlugin plugin = Plugin();
  plugin.args = {"--x"};
  plugin.environment = {{"B", "mine"}};
  plugin.provide_cluster_info = true;
  ClusterAccess cluster;
  cluster.server = "https://a";
  cluster.authorities.data = "CA";
  const auto spec = ExecProcess(plugin, cluster, {"A=1", "B=2", "KUBERNETES_EXEC_INFO=old"});
  EXPECT_THAT(spec.argv, ElementsAre("/usr/bin/env", "get-token", "--x"));
  EXPECT_THAT(
      spec.environment,
      ElementsAre(
          "A=1", "B=mine",
          R"(KUBERNETES_EXEC_INFO={"kind":"ExecCredential",)"
          R"("apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":)"
          R"({"server":"https://a","certificate-authority-data":"Q0E="},"interactive":false}})"));
  plugin.command = "/opt/get-token";
  EXPECT_THAT(ExecProcess(plugin, cluster, {}).argv, ElementsAre("/opt/get-token", "--x"));
}

TEST(ExecCredential, WhatTheKubeconfigSaysForThePluginReachesIt) {
  ExecPlugin plugin = Plugin();
  plugin.provide_cluster_info = true;
  ClusterAccess cluster;
  cluster.server = "https://a";
  cluster.exec_config_json = R"({"audience":"x"})";
  EXPECT_THAT(
      ExecProcess(plugin, cluster, {}).environment,
      ElementsAre(R"(KUBERNETES_EXEC_INFO={"kind":"ExecCredential",)"
                  R"("apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":)"
                  R"({"server":"https://a","config":{"audience":"x"}},"interactive":false}})"));
}

TEST(ExecCredential, AnAnswerIsRead) {
  const auto credential = ReadExecCredential(
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
      R"("status":{"token":"t","expirationTimestamp":"2026-01-02T03:04:05Z"}})",
      Plugin());
  ASSERT_TRUE(credential) << credential.error().message();
  EXPECT_EQ(credential->token, "t");
  EXPECT_EQ(FormatRfc3339(*credential->expires, 0), "2026-01-02T03:04:05Z");
}

TEST(ExecCredential, AnAnswerThatWillNotDoSaysWhy) {
  const auto why = [](std::string_view status) {
    return ReadExecCredential(
               R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)" +
                   std::string(status) + "}",
               Plugin())
        .error()
        .message();
  };
  EXPECT_EQ(why(R"("status":{})"),
            "credential plugin \"get-token\": its answer has neither a token nor a certificate; "
            "install it");
  EXPECT_NE(why(R"("status":{"clientKeyData":"k"})").find("only one of certificate and key"),
            std::string::npos);
  EXPECT_NE(
      why(R"("status":{"token":"t","expirationTimestamp":"soon"})").find("expirationTimestamp"),
      std::string::npos);
  EXPECT_NE(ReadExecCredential("oops", Plugin()).error().message().find("not JSON"),
            std::string::npos);
  EXPECT_NE(
      ReadExecCredential(R"({"kind":"Pod"})", Plugin()).error().message().find("no ExecCredential"),
      std::string::npos);
}

TEST(ExecCredential, AFailedPluginIsQuotedButItsOutputIsNot) {
  reactor::ProcessResult result;
  result.exit_code = 3;
  result.output = "secret";
  result.error_output = "no\nlogin \n";
  const auto credential = ReadExecResult(result, Plugin());
  ASSERT_FALSE(credential);
  EXPECT_EQ(credential.error().message(),
            "credential plugin \"get-token\": exit code 3: no login; install it");
}

}  // namespace
}  // namespace denselet::kube
