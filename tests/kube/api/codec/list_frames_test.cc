#include "kube/api/codec/list_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/api/codec/envelope.h"
#include "kube/api/codec/meta_view.h"
#include "kube/api/codec/wire_reader.h"

namespace denselet::kube {
namespace {

std::string ListMeta(std::string_view version, std::string_view token) {
  std::string meta;
  AppendBytesField(meta, 2, version);
  if (!token.empty()) AppendBytesField(meta, 3, token);
  return meta;
}

std::string List(const std::vector<std::string>& items, std::string_view token = {}) {
  std::string list;
  AppendBytesField(list, 1, ListMeta("77", token));
  for (const std::string& item : items) AppendBytesField(list, 2, item);
  return EncodeEnvelope({"v1", "PodList"}, list);
}

struct Read {
  std::vector<std::string> items;
  std::string fault;
};

// Fed in pieces of `size` bytes.
Read ReadAll(ListFrames& frames, std::string_view answer, size_t size) {
  Read read;
  for (size_t at = 0; at < answer.size(); at += size) {
    frames.Feed(answer.substr(at, size));
    while (true) {
      const auto item = frames.Next();
      if (!item) {
        read.fault = item.error().message();
        return read;
      }
      if (!*item) break;
      read.items.emplace_back(**item);
    }
  }
  if (const Status whole = frames.Finish(); !whole) read.fault = whole.error().message();
  return read;
}

TEST(ListFrames, ItemsComeWholeHoweverTheAnswerIsCut) {
  const std::vector<std::string> items = {"a", std::string(200, 'b'), std::string(),
                                          std::string(40'000, 'c'), "d"};
  const std::string answer = List(items, "more");
  for (const size_t size : {1, 2, 3, 5, 7, 64, 199, 201, 4096, 1'000'000}) {
    ListFrames frames;
    const Read read = ReadAll(frames, answer, size);
    EXPECT_EQ(read.fault, "") << size;
    EXPECT_EQ(read.items, items) << size;
    EXPECT_EQ(frames.resource_version(), "77");
    EXPECT_EQ(frames.continue_token(), "more");
    EXPECT_EQ(frames.pending_bytes(), 0u);
  }
}

TEST(ListFrames, AnAnswerThatIsCutOffIsNotTakenForWhole) {
  const std::string answer = List({"item", "another"});
  for (size_t size = 0; size < answer.size() - 4; ++size) {
    ListFrames frames;
    const Read read = ReadAll(frames, std::string_view(answer).substr(0, size), 3);
    // Behind the list itself only empty fields of the envelope follow.
    if (read.items.size() < 2) {
      EXPECT_NE(read.fault, "") << size;
    }
  }
}

TEST(ListFrames, AnEmptyListIsWhole) {
  ListFrames frames;
  const Read read = ReadAll(frames, List({}), 1);
  EXPECT_EQ(read.fault, "");
  EXPECT_TRUE(read.items.empty());
  EXPECT_EQ(frames.continue_token(), "");
}

TEST(ListFrames, OnlyAnUnfinishedItemIsKept) {
  const std::string answer = List(std::vector<std::string>(100, std::string(1000, 'x')));
  ListFrames frames;
  for (size_t at = 0; at < answer.size(); at += 700) {
    frames.Feed(std::string_view(answer).substr(at, 700));
    while (true) {
      const auto item = frames.Next();
      ASSERT_TRUE(item);
      if (!*item) break;
    }
    EXPECT_LE(frames.pending_bytes(), 1003u);
  }
}

TEST(ListFrames, WhatIsNoListIsRefusedWithAReason) {
  ListFrames json;
  EXPECT_EQ(ReadAll(json, R"({"kind":"PodList"})", 5).fault, "list: not in protobuf");
  ListFrames small(50);
  EXPECT_EQ(ReadAll(small, List({std::string(51, 'x')}), 100).fault,
            "list: an item has 51 bytes, more than 50");
  // An item that claims more than the list has.
  std::string list("\x12\x7f", 2);
  ListFrames beyond;
  EXPECT_EQ(ReadAll(beyond, EncodeEnvelope({"v1", "PodList"}, list), 100).fault,
            "list: an item goes beyond the list's end");
  ListFrames endless;
  EXPECT_EQ(ReadAll(endless, std::string("k8s\0", 4) + "\x12" + std::string(20, '\xff'), 100).fault,
            "list: a field has no valid length");
}

TEST(MetaView, NamesTheObjectAndSeesTheEndOfInitialEvents) {
  std::string annotation;
  AppendBytesField(annotation, 1, "k8s.io/initial-events-end");
  AppendBytesField(annotation, 2, "true");
  std::string meta;
  AppendBytesField(meta, 1, "web");
  AppendBytesField(meta, 3, "default");
  AppendBytesField(meta, 5, "u1");
  AppendBytesField(meta, 6, "12");
  std::string object;
  AppendBytesField(object, 1, meta);
  const auto plain = ReadMeta(object);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->Ref().ToString(), "default/web");
  EXPECT_EQ(plain->uid, "u1");
  EXPECT_EQ(plain->resource_version, "12");
  EXPECT_FALSE(plain->initial_events_end);
  AppendBytesField(meta, 12, annotation);
  object.clear();
  AppendBytesField(object, 1, meta);
  EXPECT_TRUE(ReadMeta(object)->initial_events_end);
  object.back() = '\xff';
  object.resize(object.size() - 3);
  EXPECT_FALSE(ReadMeta(object));
}

}  // namespace
}  // namespace denselet::kube
