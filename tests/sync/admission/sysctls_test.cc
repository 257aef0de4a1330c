#include "sync/admission/sysctls.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/sync/admission/objects.h"

namespace denselet::sync {
namespace {

std::string Refused(const SysctlAllowList& list, const std::string& name,
                    const std::string& more = "") {
  const auto pod =
      PodOf("spec:\n  securityContext: {sysctls: [{name: " + name + ", value: '1'}]}\n" + more);
  return list.Refuse(pod).value_or("");
}

TEST(Sysctls, SafeOnesAndThoseOfTheConfigurationMayBeSet) {
  const auto list = SysctlAllowList::Make({"kernel.shmmax", "net.core.*"}, KernelVersion{6, 1});
  ASSERT_TRUE(list);
  EXPECT_EQ(Refused(*list, "net.ipv4.tcp_syncookies"), "");
  EXPECT_EQ(Refused(*list, "net/ipv4/tcp_syncookies"), "");
  EXPECT_EQ(Refused(*list, "kernel.shmmax"), "");
  EXPECT_EQ(Refused(*list, "net.core.somaxconn"), "");
  EXPECT_EQ(Refused(*list, "kernel.panic"), "forbidden sysctl: \"kernel.panic\" not allowlisted");
  EXPECT_EQ(Refused(*list, "net.ipv4.ip_forward"),
            "forbidden sysctl: \"net.ipv4.ip_forward\" not allowlisted");
}

TEST(Sysctls, OnTheHostsNamespacesTheyWouldBeTheHosts) {
  const auto list = SysctlAllowList::Make({"net.core.*"}, KernelVersion{6, 1});
  EXPECT_EQ(Refused(*list, "net.core.somaxconn", "  hostNetwork: true\n"),
            "forbidden sysctl: \"net.core.somaxconn\" not allowed with host Net enabled");
  EXPECT_EQ(Refused(*list, "kernel.shm_rmid_forced", "  hostIPC: true\n"),
            "forbidden sysctl: \"kernel.shm_rmid_forced\" not allowed with host IPC enabled");
  EXPECT_EQ(Refused(*list, "kernel.shm_rmid_forced", "  hostNetwork: true\n"), "");
}

TEST(Sysctls, WhatIsSafeDependsOnTheKernel) {
  const auto old = SysctlAllowList::Make({}, KernelVersion{4, 5});
  EXPECT_EQ(Refused(*old, "net.ipv4.tcp_keepalive_time"), "");
  EXPECT_NE(Refused(*old, "net.ipv4.tcp_fin_timeout"), "");
  const auto unknown = SysctlAllowList::Make({}, std::nullopt);
  EXPECT_EQ(Refused(*unknown, "net.ipv4.ping_group_range"), "");
  EXPECT_NE(Refused(*unknown, "net.ipv4.tcp_keepalive_time"), "");
  EXPECT_EQ(KernelVersion::Parse("6.1.0-30-amd64"), (KernelVersion{6, 1}));
  EXPECT_EQ(KernelVersion::Parse("5.10"), (KernelVersion{5, 10}));
  EXPECT_FALSE(KernelVersion::Parse("linux"));
  EXPECT_FALSE(KernelVersion::Parse("6"));
}

TEST(Sysctls, WhatHasNoNamespaceCannotBeAllowed) {
  const auto list = SysctlAllowList::Make({"kernel.panic*"}, KernelVersion{6, 1});
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().message(), "the sysctls \"kernel.panic\" are not known to be namespaced");
}

}  // namespace
}  // namespace denselet::sync
