#include <gtest/gtest.h>

#include <string>

#include "reactor/net/http1/client.h"
#include "reactor/net/http1/connection.h"
#include "reactor/net/http1/head_text.h"
#include "reactor/net/http1/parser.h"

namespace denselet::net {
namespace {

// The goal for an idle connection is 4 kB with all layers: this one takes its share and no more.
static_assert(sizeof(Http1Connection) <= 768);
static_assert(sizeof(Http1Client) <= 1024);

TEST(DateLine, IsThatOfTheSecond) {
  DateLine date;
  EXPECT_EQ(date.At(WallTime(Seconds(0))), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
  EXPECT_EQ(date.At(WallTime(Seconds(784'111'777))), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(date.At(WallTime(Milliseconds(784'111'777'999))),
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(date.At(WallTime(Seconds(1'709'164'800))), "Date: Thu, 29 Feb 2024 00:00:00 GMT\r\n");
  EXPECT_EQ(date.At(WallTime(Seconds(-1))), "Date: Wed, 31 Dec 1969 23:59:59 GMT\r\n");
}

TEST(HeadText, WhatFramesTheBodyIsNotTakenFromTheHeaders) {
  const Headers headers = {{"host", "x"},
                           {"A", "1"},
                           {"content-length", "5"},
                           {"CONNECTION", "c"},
                           {"B", "two\r\nC: 3"},
                           {"transfer-encoding", "gzip"},
                           {"bad name", "x"},
                           {"", "x"},
                           {"D", ""}};
  std::string out;
  AppendHeaders(out, headers, AfterMessage::kKeepAlive);
  EXPECT_EQ(out, "A: 1\r\nD: \r\n");
  out.clear();
  AppendHeaders(out, headers, AfterMessage::kUpgrade);
  EXPECT_EQ(out, "A: 1\r\nCONNECTION: c\r\nD: \r\n");
}

TEST(HeadText, ALengthIsANumberOrNothing) {
  EXPECT_EQ(LengthIn({{"Content-Length", "18446744073709551615"}}), UINT64_MAX);
  EXPECT_EQ(LengthIn({{"content-length", "0"}}), 0u);
  for (const char* bad : {"", "-1", "1 ", "0x1", "18446744073709551616", "1,1"}) {
    EXPECT_EQ(LengthIn({{"Content-Length", bad}}), std::nullopt) << bad;
  }
}

TEST(HeadText, ChunksCarryTheirLengthInHex) {
  std::string out;
  AppendChunk(out, std::string(255, 'x'));
  EXPECT_EQ(out, "ff\r\n" + std::string(255, 'x') + "\r\n");
}

TEST(Http1Parser, EventsComeOneByOneAndTheRestStaysWithTheCaller) {
  const Http1Limits limits;
  Http1Parser parser(Http1Parser::Kind::kRequest, limits);
  std::string_view input =
      "PUT /x HTTP/1.1\r\nHost: a\r\nX-Long:  v \r\nContent-Length: 2\r\n\r\nhiGET /y HTTP/1.1\r\n";
  using Event = Http1Parser::Event;
  ASSERT_EQ(parser.Next(input), Event::kHead);
  EXPECT_TRUE(input.starts_with("hiGET"));
  const HttpRequest request = parser.TakeRequest();
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/x");
  EXPECT_EQ(request.authority, "a");
  EXPECT_EQ(request.headers, (Headers{{"X-Long", "v"}, {"Content-Length", "2"}}));
  EXPECT_TRUE(parser.has_body());
  ASSERT_EQ(parser.Next(input), Event::kBody);
  EXPECT_EQ(parser.body(), "hi");
  ASSERT_EQ(parser.Next(input), Event::kEnd);
  EXPECT_FALSE(parser.begun());
  EXPECT_TRUE(input.starts_with("GET"));
  ASSERT_EQ(parser.Next(input), Event::kMore);
  EXPECT_TRUE(parser.begun());
  EXPECT_TRUE(input.empty());
}

}  // namespace
}  // namespace denselet::net
