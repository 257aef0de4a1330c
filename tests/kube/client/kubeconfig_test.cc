#include "kube/client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"

namespace denselet::kube {
namespace {

using testing::HasSubstr;

constexpr char kKubeadm[] = R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://10.0.0.1:6443
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: system:node:n1
  name: system:node:n1@kubernetes
current-context: system:node:n1@kubernetes
kind: Config
preferences: {}
users:
- name: system:node:n1
  user:
    client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem
    client-key: /var/lib/kubelet/pki/kubelet-client-current.pem
)";

std::string With(std::string_view cluster, std::string_view user) {
  return "current-context: c\ncontexts:\n- {name: c, context: {cluster: k, user: u}}\n"
         "clusters:\n- name: k\n  cluster: " +
         std::string(cluster) + "\nusers:\n- name: u\n  user: " + std::string(user) + "\n";
}

std::string FaultOf(std::string_view text) {
  const auto access = ReadKubeconfig(text, "/etc/k/config");
  return access ? "" : access.error().message();
}

TEST(Kubeconfig, WhatKubeadmWritesIsRead) {
  const auto access = ReadKubeconfig(kKubeadm, "/etc/kubernetes/kubelet.conf");
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->authorities.data, "CA");
  EXPECT_EQ(access->certificate.path, "/var/lib/kubelet/pki/kubelet-client-current.pem");
  EXPECT_EQ(access->key.path, access->certificate.path);
  EXPECT_FALSE(access->exec);
}

TEST(Kubeconfig, AnotherVersionIsRefused) {
  EXPECT_EQ(FaultOf("apiVersion: v1\n" + With("{server: 'https://a'}", "{}")), "");
  EXPECT_THAT(FaultOf("apiVersion: v2\n" + With("{server: 'https://a'}", "{}")),
              HasSubstr("apiVersion: found \"v2\", wanted v1"));
}

TEST(Kubeconfig, AProxyThatCannotBeUsedIsRefused) {
  const auto good = ReadKubeconfig(With("{server: 'https://a', proxy-url: 'http://p:3128'}", "{}"),
                                   "/etc/k/config");
  ASSERT_TRUE(good) << good.error().message();
  EXPECT_EQ(good->proxy_url, "http://p:3128");
  EXPECT_EQ(good->kubeconfig_path, "/etc/k/config");
  const std::string fault =
      FaultOf(With("{server: 'https://a', proxy-url: 'socks5://u:secret@p:1080'}", "{}"));
  EXPECT_NE(fault.find("cluster.proxy-url"), std::string::npos) << fault;
  EXPECT_NE(fault.find("only proxies of http are supported"), std::string::npos) << fault;
  EXPECT_EQ(fault.find("secret"), std::string::npos) << fault;
}

TEST(Kubeconfig, FilesAreRelativeToIt) {
  const auto access = ReadKubeconfig(
      With("{server: 'https://a', certificate-authority: ca.crt}", "{tokenFile: ../token}"),
      "/etc/k/config");
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->authorities.path, "/etc/k/ca.crt");
  EXPECT_EQ(access->token.path, "/etc/k/../token");
}

TEST(Kubeconfig, ATokenFileGoesBeforeAToken) {
  const auto access =
      ReadKubeconfig(With("{server: 'https://a'}", "{token: old, tokenFile: /t}"), "/x");
  ASSERT_TRUE(access);
  EXPECT_EQ(access->token.data, "");
  EXPECT_EQ(access->token.path, "/t");
}

TEST(Kubeconfig, AnExecPluginIsReadWhole) {
  const auto access = ReadKubeconfig(
      With("{server: 'https://a'}",
           "{exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/get-token, "
           "args: [a, b], env: [{name: X, value: '1'}], provideClusterInfo: true, "
           "installHint: get it, interactiveMode: Never}}"),
      "/etc/k/config");
  ASSERT_TRUE(access) << access.error().message();
  ASSERT_TRUE(access->exec);
  EXPECT_EQ(access->exec->command, "/etc/k/bin/get-token");
  EXPECT_EQ(access->exec->args, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(access->exec->environment[0].first, "X");
  EXPECT_TRUE(access->exec->provide_cluster_info);
}

TEST(Kubeconfig, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(FaultOf("kind: Config\n"),
            "kubeconfig \"/etc/k/config\": current-context: there is none");
  EXPECT_EQ(FaultOf("current-context: c\n"),
            "kubeconfig \"/etc/k/config\": contexts has none called \"c\"");
  EXPECT_NE(FaultOf(With("{server: 'ftp://a'}", "{}"))
                .find("line 6: cluster.server: server "
                      "\"ftp://a\": neither https nor http"),
            std::string::npos)
      << FaultOf(With("{server: 'ftp://a'}", "{}"));
  EXPECT_NE(FaultOf(With("{server: 'https://a', certificate-authority-data: '*'}", "{}"))
                .find("cluster.certificate-authority-data: not base64"),
            std::string::npos);
  EXPECT_NE(FaultOf(With("{server: 'https://a'}", "{client-certificate: /c}"))
                .find("a client certificate and its key go together"),
            std::string::npos);
  EXPECT_NE(FaultOf(With("{server: 'https://a'}", "{auth-provider: {name: oidc}}"))
                .find("user.auth-provider: not supported by a node agent"),
            std::string::npos);
  EXPECT_NE(FaultOf(With("{server: 'https://a'}", "{as: root}")).find("user.as: not supported"),
            std::string::npos);
  EXPECT_NE(FaultOf("\"\tnot yaml: [").find("kubeconfig \"/etc/k/config\": line 1"),
            std::string::npos);
}

TEST(Kubeconfig, AServerWithoutTlsIsRefusedWithWhatIsAllowed) {
  EXPECT_EQ(FaultOf(With("{server: 'http://127.0.0.1:8001'}", "{}")),
            "kubeconfig \"/etc/k/config\": line 6: cluster.server: found "
            "\"http://127.0.0.1:8001\", wanted https://HOST[:PORT][/PATH]: the API server is "
            "spoken to in HTTP/2 over TLS only");
}

TEST(Kubeconfig, AnEmptyOneIsCalledEmpty) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "{}", "\"\""}) {
    EXPECT_EQ(FaultOf(text), "kubeconfig \"/etc/k/config\": the file is empty") << text;
  }
}

std::string FaultOfExec(const std::string& more, const std::string& version = "v1") {
  return FaultOf(With("{server: 'https://a'}", "{exec: {apiVersion: client.authentication.k8s.io/" +
                                                   version + ", command: x, " + more + "}}"));
}

TEST(Kubeconfig, AnExecPluginIsHeldToWhatClientGoTakes) {
  EXPECT_EQ(FaultOfExec("interactiveMode: IfAvailable, args: null"), "");
  EXPECT_EQ(FaultOfExec("args: []", "v1beta1"), "") << "before v1 it need not be said";
  EXPECT_THAT(FaultOfExec("interactiveMode: Never, args: --login"),
              HasSubstr("user.exec.args: found text \"--login\", wanted a list"));
  EXPECT_THAT(FaultOfExec("interactiveMode: Sometimes"),
              HasSubstr("user.exec.interactiveMode: found \"Sometimes\", wanted Never"));
  EXPECT_THAT(FaultOfExec("args: []"), HasSubstr("user.exec.interactiveMode: there is none"));
}

TEST(Kubeconfig, ANameThatIsThereTwiceIsRefused) {
  const std::string good = With("{server: 'https://a'}", "{token: t}");
  EXPECT_EQ(FaultOf(good), "");
  EXPECT_THAT(FaultOf(good + "- name: u\n  user: {token: other}\n"),
              HasSubstr("users[1].name: \"u\" is there already"));
  // Also of those that nobody asks for.
  EXPECT_THAT(FaultOf(good + "- {name: x, user: {}}\n- {name: x, user: {}}\n"),
              HasSubstr("users[2].name: \"x\" is there already"));
}

TEST(Kubeconfig, WhatIsEmptyIsNotThere) {
  EXPECT_EQ(FaultOf(With("{server: 'https://a'}",
                         "{token: t, as: '', as-uid: null, as-groups: [], as-user-extra: {}, "
                         "auth-provider: null}")),
            "");
}

TEST(Kubeconfig, WhatThePluginIsToKnowOfTheClusterIsKept) {
  const auto access = ReadKubeconfig(
      With("{server: 'https://a', extensions: [{name: other, extension: 1}, "
           "{name: client.authentication.k8s.io/exec, extension: {audience: x, list: [1, true]}}]}",
           "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: "
           "Never, provideClusterInfo: true}}"),
      "/etc/k/config");
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->exec_config_json, R"({"audience":"x","list":[1,true]})");
}

TEST(Kubeconfig, EveryFaultIsNamedAtOnce) {
  const std::string faults =
      FaultOf(With("{server: 5, insecure-skip-tls-verify: maybe}", "{token: [], username: {}}"));
  for (const char* part :
       {"cluster.server", "cluster.insecure-skip-tls-verify", "user.token", "user.username"}) {
    EXPECT_NE(faults.find(part), std::string::npos) << part << " in " << faults;
  }
}

TEST(Kubeconfig, WhatBootstrapLeavesBehindIsReadAgain) {
  ClusterAccess cluster;
  cluster.server = "https://[::1]:6443";
  cluster.authorities.data = "CA";
  cluster.server_name = "kubernetes";
  const std::string text = WriteKubeconfig(cluster, "/pki/kubelet-client-current.pem");
  const auto access = ReadKubeconfig(text, "/x");
  ASSERT_TRUE(access) << access.error().message() << text;
  EXPECT_EQ(access->server, cluster.server);
  EXPECT_EQ(access->authorities.data, "CA");
  EXPECT_EQ(access->server_name, "kubernetes");
  EXPECT_EQ(access->certificate.path, "/pki/kubelet-client-current.pem");
  EXPECT_EQ(access->key.path, "/pki/kubelet-client-current.pem");
}

TEST(ServerUrl, IsTakenApart) {
  struct Case {
    const char* url;
    const char* authority;
    const char* path;
  };
  for (const Case& row : {Case{"https://a", "a:443", ""}, Case{"http://a/", "a:80", ""},
                          Case{"a.b:6443", "a.b:6443", ""},
                          Case{"https://[::1]:6443/k8s/c1/", "[::1]:6443", "/k8s/c1"}}) {
    const auto url = ParseServerUrl(row.url);
    ASSERT_TRUE(url) << row.url;
    EXPECT_EQ(url->Authority(), row.authority);
    EXPECT_EQ(url->path, row.path);
  }
  for (const char* url : {"", "https://", "https://a:0", "https://a:70000", "https://a:b",
                          "https://u:p@a", "https://[::1", "unix:///x", "https://a b"}) {
    EXPECT_FALSE(ParseServerUrl(url)) << url;
  }
}

}  // namespace
}  // namespace denselet::kube
