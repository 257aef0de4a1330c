#include "kube/client/proxy.h"

#include <gtest/gtest.h>

namespace denselet::kube {
namespace {

TEST(Proxy, AUrlIsReadWithWhoWeAre) {
  const auto plain = ParseProxy("http://proxy.test:3128");
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_EQ(plain->url.Authority(), "proxy.test:3128");
  EXPECT_EQ(plain->headers.Find("proxy-authorization"), nullptr);
  EXPECT_EQ(ParseProxy("proxy.test")->url.Authority(), "proxy.test:80");
  EXPECT_EQ(ParseProxy("HTTP://[fd00::1]:8080/")->url.Authority(), "[fd00::1]:8080");
  const auto known = ParseProxy("http://us%40er:pa:ss%2F@proxy.test");
  ASSERT_TRUE(known) << known.error().message();
  EXPECT_EQ(known->url.Authority(), "proxy.test:80");
  EXPECT_EQ(*known->headers.Find("proxy-authorization"), "Basic dXNAZXI6cGE6c3Mv");
}

TEST(Proxy, WhatCannotBeUsedIsRefusedWithoutShowingAPassword) {
  for (const char* url : {"https://me:secret@p", "socks5://me:secret@p:1080", "ftp://p"}) {
    const auto proxy = ParseProxy(url);
    ASSERT_FALSE(proxy) << url;
    EXPECT_EQ(proxy.error().code(), ErrorCode::kUnsupported);
    EXPECT_EQ(proxy.error().message().find("secret"), std::string::npos);
  }
  for (const char* url : {"http://", "http://p:0", "http://p:x", "http://a%zz@p", "http://[::1"}) {
    const auto proxy = ParseProxy(url);
    ASSERT_FALSE(proxy) << url;
    EXPECT_EQ(proxy.error().code(), ErrorCode::kInvalid) << url;
  }
}

struct Row {
  const char* no_proxy;
  const char* host;
  bool proxied;
};

// By hand from the rules of golang.org/x/net/http/httpproxy.
constexpr Row kRows[] = {
    {"", "api.test", true},
    {"", "10.0.0.1", true},
    {"", "localhost", false},
    {"", "127.0.0.1", false},
    {"", "127.8.8.8", false},
    {"", "::1", false},
    {"", "::ffff:127.0.0.1", false},
    {"*", "api.test", false},
    {"other.test, * ,x", "10.0.0.1", false},
    {"api.test", "api.test", false},
    {"API.test", "api.TEST", false},
    {"api.test", "a.api.test", false},
    {"api.test", "myapi.test", true},
    {".api.test", "api.test", true},
    {".api.test", "a.api.test", false},
    {"*.api.test", "api.test", true},
    {"*.api.test", "a.b.api.test", false},
    {" a.test ,, api.test", "api.test", false},
    {"api.test:6443", "api.test", false},
    {"api.test:443", "api.test", true},
    {"api.test:", "api.test", false},
    {":6443", "api.test", true},
    {"10.0.0.1", "10.0.0.1", false},
    {"10.0.0.1", "10.0.0.10", true},
    {"10.0.0.1:6443", "10.0.0.1", false},
    {"10.0.0.1:1", "10.0.0.1", true},
    {"0.0.1", "10.0.0.1", false},  // a suffix is a suffix
    {"::ffff:10.0.0.1", "10.0.0.1", false},
    {"[fd00::1]:6443", "fd00::1", false},
    {"[fd00::1]:1", "fd00::1", true},
    {"fd00::1", "fd00:0::1", false},
    {"[fd00::1]", "fd00::1", true},  // brackets go with a port
    {"10.0.0.0/8", "10.200.0.1", false},
    {"10.0.0.0/8", "11.0.0.1", true},
    {"10.128.0.0/9", "10.127.0.1", true},
    {"10.128.0.0/9", "10.129.0.1", false},
    {"0.0.0.0/0", "8.8.8.8", false},
    {"0.0.0.0/0", "fd00::1", true},
    {"0.0.0.0/0", "api.test", true},
    {"fd00::/8", "fd12::1", false},
    {"fd00::/8", "fe80::1", true},
    {"10.0.0.0/33", "10.0.0.1", true},
    {"10.0.0.0/", "10.0.0.1", true},
};

TEST(Proxy, NoProxyIsReadAsGoDoes) {
  for (const Row& row : kRows) {
    EXPECT_EQ(IsProxied(row.no_proxy, row.host, 6443), row.proxied)
        << '"' << row.no_proxy << "\" " << row.host;
  }
}

class ProxyFromEnvironmentTest : public testing::Test {
 protected:
  std::string Of(const std::vector<std::string>& environment, const std::string& url) {
    const auto proxy = ProxyFromEnvironment(environment, *ParseServerUrl(url));
    if (!proxy) return proxy.error().message();
    return *proxy ? (*proxy)->url.Authority() : "none";
  }
};

TEST_F(ProxyFromEnvironmentTest, TheVariableOfTheSchemeCounts) {
  const std::string https = "https://api.test:6443", http = "http://api.test";
  EXPECT_EQ(Of({}, https), "none");
  EXPECT_EQ(Of({"HTTPS_PROXY=", "HTTPS_PROXYX=x"}, https), "none");
  EXPECT_EQ(Of({"HTTP_PROXY=http://a:1", "HTTPS_PROXY=http://b:2"}, https), "b:2");
  EXPECT_EQ(Of({"HTTP_PROXY=http://a:1", "HTTPS_PROXY=http://b:2"}, http), "a:1");
  EXPECT_EQ(Of({"https_proxy=http://c:3", "HTTPS_PROXY=http://b:2"}, https), "b:2");
  EXPECT_EQ(Of({"https_proxy=c:3"}, https), "c:3");
  EXPECT_EQ(Of({"HTTPS_PROXY=b:2", "NO_PROXY=x,api.test"}, https), "none");
  EXPECT_EQ(Of({"HTTPS_PROXY=b:2", "no_proxy=api.test:6443"}, https), "none");
  EXPECT_EQ(Of({"HTTPS_PROXY=b:2", "no_proxy=api.test", "NO_PROXY=x"}, https), "b:2");
  EXPECT_EQ(Of({"HTTPS_PROXY=b:2"}, "https://127.0.0.1:6443"), "none");
}

TEST_F(ProxyFromEnvironmentTest, AProxyThatCannotBeUsedIsRefusedWhereItWouldBeUsed) {
  const std::string message = Of({"https_proxy=socks5://p:1080"}, "https://api.test");
  EXPECT_NE(message.find("https_proxy"), std::string::npos) << message;
  EXPECT_NE(message.find("only proxies of http"), std::string::npos) << message;
  EXPECT_EQ(Of({"https_proxy=socks5://p:1080", "NO_PROXY=.test"}, "https://api.test"), "none");
}

}  // namespace
}  // namespace denselet::kube
