#include "kube/api/codec/watch_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/kube/api/codec/wire_samples.h"

namespace denselet::kube {
namespace {

using Events = std::vector<std::pair<WatchEventType, std::string>>;

// Feeds the stream in pieces of the size; the first error ends it.
Result<Events> ReadStream(WatchEncoding encoding, std::string_view stream, size_t piece_size,
                          size_t frame_bytes_max = kWatchFrameBytesMax) {
  WatchFrames frames(encoding, frame_bytes_max);
  Events events;
  for (; !stream.empty(); stream.remove_prefix(std::min(piece_size, stream.size()))) {
    // A copy that dies with the piece: an event must not point into an earlier one.
    const std::string piece(stream.substr(0, piece_size));
    frames.Feed(piece);
    for (;;) {
      const auto event = frames.Next();
      if (!event) return event.error();
      if (!*event) break;
      events.emplace_back((*event)->type, (*event)->object);
    }
  }
  const Status end = frames.Finish();
  if (!end) return end.error();
  return events;
}

TEST(WatchFrames, CutsAProtobufStreamOfUpstreamHoweverItArrives) {
  const std::string stream = ProtobufWatch() + ProtobufWatch();
  const Events wanted = {{WatchEventType::kAdded, PodEnvelope()},
                         {WatchEventType::kError, ExpiredEnvelope()},
                         {WatchEventType::kAdded, PodEnvelope()},
                         {WatchEventType::kError, ExpiredEnvelope()}};
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    const auto events = ReadStream(WatchEncoding::kProtobuf, stream, piece);
    ASSERT_TRUE(events) << piece << ": " << events.error().message();
    EXPECT_EQ(*events, wanted) << piece;
  }
}

TEST(WatchFrames, CutsAJsonStreamHoweverItArrives) {
  const std::string tricky = R"({"a":"}]\"\\","b":[{"c":"{[\\\""},[]],"d":{}})";
  const std::string stream = JsonWatchEvent() + JsonWatchEvent("MODIFIED", tricky) + " \r\n\t" +
                             R"( { "object" : {"x": [1, {"y": 2}]} , "other":[null,{}],"n":-1.5e3,)"
                             R"("t":true , "type":"DELETED" } )" +
                             R"({"type":"BOOKMARK","object":{}}{"type":"ERROR","object":{}})";
  const Events wanted = {{WatchEventType::kAdded, std::string(kJsonPod)},
                         {WatchEventType::kModified, tricky},
                         {WatchEventType::kDeleted, R"({"x": [1, {"y": 2}]})"},
                         {WatchEventType::kBookmark, "{}"},
                         {WatchEventType::kError, "{}"}};
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    const auto events = ReadStream(WatchEncoding::kJson, stream, piece);
    ASSERT_TRUE(events) << piece << ": " << events.error().message();
    EXPECT_EQ(*events, wanted) << piece;
  }
}

TEST(WatchFrames, AnEventThatComesWholeIsNotCopied) {
  for (const auto& [encoding, stream] : {std::pair(WatchEncoding::kJson, JsonWatchEvent()),
                                         std::pair(WatchEncoding::kProtobuf, ProtobufWatch())}) {
    WatchFrames frames(encoding);
    frames.Feed(stream);
    const auto event = frames.Next();
    ASSERT_TRUE(event && *event);
    const std::string_view object = (*event)->object;
    EXPECT_TRUE(object.data() > stream.data() && object.data() < stream.data() + stream.size());
    EXPECT_EQ(frames.pending_bytes(), 0u);
  }
}

TEST(WatchFrames, RefusesWhatIsNoEvent) {
  const struct {
    const char* why;
    WatchEncoding encoding;
    std::string stream;
  } rows[] = {
      {"not an object", WatchEncoding::kJson, "[]"},
      {"a closing brace first", WatchEncoding::kJson, "}"},
      {"an answer in HTML", WatchEncoding::kJson, "<html>"},
      {"empty", WatchEncoding::kJson, "{}"},
      {"unknown type", WatchEncoding::kJson, R"({"type":"CHANGED","object":{}})"},
      {"no type", WatchEncoding::kJson, R"({"object":{}})"},
      {"no object", WatchEncoding::kJson, R"({"type":"ADDED"})"},
      {"null object", WatchEncoding::kJson, R"({"type":"ADDED","object":null})"},
      {"text as object", WatchEncoding::kJson, R"({"type":"ADDED","object":"x"})"},
      {"list as object", WatchEncoding::kJson, R"({"type":"ADDED","object":[]})"},
      {"no colon", WatchEncoding::kJson, R"({"type" "ADDED","object":{}})"},
      {"no comma", WatchEncoding::kJson, R"({"type":"ADDED" "object":{}})"},
      {"no value", WatchEncoding::kJson, R"({"type":,"object":{}})"},
      {"a comma too many", WatchEncoding::kJson, R"({"type":"ADDED","object":{},})"},
      {"a value without a key", WatchEncoding::kJson, R"({{},"type":"ADDED","object":{}})"},
      {"closed by the other bracket", WatchEncoding::kJson, R"({"type":"ADDED","object":{}])"},
      {"many lists", WatchEncoding::kJson,
       R"({"a":[],"b":[],"c":[],"d":[],"e":[],"f":[],"g":[],"h":[],"type":"ADDED","object":{}})"},
      {"empty frame", WatchEncoding::kProtobuf, FromHex("00000000")},
      {"JSON where protobuf was asked for", WatchEncoding::kProtobuf, JsonWatchEvent()},
      {"type is a number", WatchEncoding::kProtobuf, FromHex("000000020801")},
      {"object is a number", WatchEncoding::kProtobuf, FromHex("000000021001")},
      {"object goes beyond the frame", WatchEncoding::kProtobuf, FromHex("00000003120501")},
      {"raw is a number", WatchEncoding::kProtobuf, FromHex("0000000412020801")},
      {"no object", WatchEncoding::kProtobuf, FromHex("000000070a054144444544")},
      {"no type", WatchEncoding::kProtobuf, FromHex("0000000512030a016b")},
  };
  for (const auto& row : rows) {
    for (const size_t piece : {size_t{1}, row.stream.size()}) {
      const auto events = ReadStream(row.encoding, row.stream, piece);
      ASSERT_FALSE(events) << row.why;
      EXPECT_TRUE(events.error().code() == ErrorCode::kCorrupt ||
                  events.error().code() == ErrorCode::kOverloaded)
          << row.why;
    }
  }
}

TEST(WatchFrames, AFrameMayBeAsLargeAsTheLimitAndNoLarger) {
  const std::string json = JsonWatchEvent();
  const size_t json_size = json.size() - 1;  // the line end belongs to nobody
  const std::string protobuf = ProtobufWatch().substr(0, 0x6c + 4);
  for (const size_t piece : {size_t{7}, size_t{4096}}) {
    EXPECT_TRUE(ReadStream(WatchEncoding::kJson, json, piece, json_size));
    EXPECT_TRUE(ReadStream(WatchEncoding::kProtobuf, protobuf, piece, 0x6c));
    const auto large_json = ReadStream(WatchEncoding::kJson, json, piece, json_size - 1);
    ASSERT_FALSE(large_json);
    EXPECT_EQ(large_json.error().code(), ErrorCode::kOverloaded);
    const auto large_protobuf = ReadStream(WatchEncoding::kProtobuf, protobuf, piece, 0x6b);
    ASSERT_FALSE(large_protobuf);
    EXPECT_EQ(large_protobuf.error().code(), ErrorCode::kOverloaded);
  }
}

TEST(WatchFrames, ATooLargeLengthIsRefusedBeforeAnythingIsKept) {
  WatchFrames frames(WatchEncoding::kProtobuf);
  frames.Feed(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_FALSE(frames.Next());
  EXPECT_EQ(frames.pending_bytes(), 0u);
}

TEST(WatchFrames, AnErrorStays) {
  WatchFrames frames(WatchEncoding::kJson);
  frames.Feed("no");
  const auto first = frames.Next();
  ASSERT_FALSE(first);
  for (int i = 0; i < 2; ++i) {
    frames.Feed(R"({"type":"ADDED","object":{}})");
    const auto again = frames.Next();
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error(), first.error());
  }
  EXPECT_FALSE(frames.Finish());
}

TEST(WatchFrames, AStreamThatEndsInsideAnEventSaysSo) {
  for (const auto& [encoding, stream] :
       {std::pair(WatchEncoding::kJson, std::string(R"({"type":"ADD)")),
        std::pair(WatchEncoding::kProtobuf, ProtobufWatch().substr(0, 3))}) {
    const auto events = ReadStream(encoding, stream, 64);
    ASSERT_FALSE(events);
    EXPECT_EQ(events.error().code(), ErrorCode::kUnavailable);
  }
  EXPECT_TRUE(ReadStream(WatchEncoding::kJson, "\n \n", 1));
  EXPECT_TRUE(ReadStream(WatchEncoding::kProtobuf, "", 1));
}

TEST(WatchFrames, TypesHaveTheNamesOfTheApi) {
  EXPECT_EQ(WatchEventTypeName(WatchEventType::kAdded), "ADDED");
  EXPECT_EQ(WatchEventTypeName(WatchEventType::kModified), "MODIFIED");
  EXPECT_EQ(WatchEventTypeName(WatchEventType::kDeleted), "DELETED");
  EXPECT_EQ(WatchEventTypeName(WatchEventType::kBookmark), "BOOKMARK");
  EXPECT_EQ(WatchEventTypeName(WatchEventType::kError), "ERROR");
}

}  // namespace
}  // namespace denselet::kube
