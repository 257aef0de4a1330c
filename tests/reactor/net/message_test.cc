#include "reactor/net/http/message.h"

#include <gtest/gtest.h>

namespace denselet::net {
namespace {

TEST(Headers, NamesHaveNoCase) {
  Headers headers = {{"Content-Type", "text/plain"}, {"x", "1"}};
  headers.Add("X", "2");
  ASSERT_NE(headers.Find("content-TYPE"), nullptr);
  EXPECT_EQ(*headers.Find("content-type"), "text/plain");
  EXPECT_EQ(*headers.Find("X"), "1");
  headers.Set("x", "3");
  EXPECT_EQ(headers, (Headers{{"Content-Type", "text/plain"}, {"x", "3"}}));
  headers.Remove("X");
  EXPECT_EQ(headers.Find("x"), nullptr);
}

TEST(Headers, TokensAreFoundInLists) {
  const Headers headers = {{"Connection", "keep-alive , Upgrade"}, {"connection", ",,close"}};
  EXPECT_TRUE(headers.HasToken("Connection", "upgrade"));
  EXPECT_TRUE(headers.HasToken("Connection", "KEEP-ALIVE"));
  EXPECT_TRUE(headers.HasToken("Connection", "close"));
  EXPECT_FALSE(headers.HasToken("Connection", "keep"));
  EXPECT_FALSE(headers.HasToken("Upgrade", "upgrade"));
}

TEST(HttpText, WhatWouldChangeTheMessagesShapeIsRefused) {
  EXPECT_TRUE(IsHeaderName("X-Custom_1.2"));
  for (const char* name : {"", "a b", "a:", "a\r\n", "\xc3\xa4"}) EXPECT_FALSE(IsHeaderName(name));
  EXPECT_TRUE(IsHeaderValue("a\tb \xc3\xa4"));
  EXPECT_TRUE(IsHeaderValue(""));
  EXPECT_FALSE(IsHeaderValue("a\r\nInjected: 1"));
  EXPECT_FALSE(IsHeaderValue(std::string_view("a\0b", 3)));
  EXPECT_TRUE(IsRequestTarget("/a?b=c%20d"));
  for (const char* target : {"", "/a b", "/a\r\nX: 1"}) EXPECT_FALSE(IsRequestTarget(target));
}

TEST(HttpText, NumbersHaveTheirPhrases) {
  EXPECT_EQ(ReasonPhrase(200), "OK");
  EXPECT_EQ(ReasonPhrase(503), "Service Unavailable");
  EXPECT_EQ(ReasonPhrase(299), "");
}

}  // namespace
}  // namespace denselet::net
