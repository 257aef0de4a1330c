#include "reactor/net/address.h"

#include <gtest/gtest.h>

namespace denselet::net {
namespace {

TEST(Address, IsWrittenAsItIsRead) {
  for (const char* text : {"127.0.0.1:80", "0.0.0.0:0", "[::1]:65535", "[fe80::1%3]:1",
                           "unix:/run/a b.sock", "unix:relative"}) {
    const auto address = Address::Parse(text);
    ASSERT_TRUE(address) << text << ": " << address.error().message();
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(Address::Parse("127.0.0.1:80")->port(), 80);
  EXPECT_EQ(Address::Parse("unix:/x")->port(), 0);
}

TEST(Address, WhatIsNoneIsRefusedWithItsReason) {
  const struct {
    std::string text, reason;
  } rows[] = {
      {"", "no port behind the last colon"},
      {"127.0.0.1", "no port behind the last colon"},
      {"127.0.0.1:", "no port behind the last colon"},
      {"127.0.0.1:65536", "no port behind the last colon"},
      {"127.0.0.1:-1", "no port behind the last colon"},
      {"127.0.0.1:80x", "no port behind the last colon"},
      {"127.0.0.256:80", "not an IP address"},
      {"localhost:80", "not an IP address"},
      {"[127.0.0.1%1]:80", "not an IP address"},
      {"::1:80", "an IPv6 address stands in brackets before its port"},
      {"[::1%eth0]:80", "the scope behind % is not a number"},
      {"unix:", "the path is empty"},
      {"unix:" + std::string(108, 'x'), "the path is longer than 107 bytes"},
      {std::string("unix:/a\0b", 9), "has a NUL byte"},
      {std::string("127.0.0.1\0x:80", 14), "has a NUL byte"},
  };
  for (const auto& row : rows) {
    const auto address = Address::Parse(row.text);
    ASSERT_FALSE(address) << row.text;
    EXPECT_EQ(address.error().code(), ErrorCode::kInvalid);
    EXPECT_NE(address.error().message().find(row.reason), std::string::npos)
        << address.error().message();
  }
}

}  // namespace
}  // namespace denselet::net
