#include "kube/api/codec/envelope.h"

#include <gtest/gtest.h>

#include "kube/api/codec/wire_reader.h"
#include "tests/kube/api/codec/wire_samples.h"

namespace denselet::kube {
namespace {

TEST(Envelope, OfUpstreamIsDecodedWithoutACopy) {
  const std::string bytes = PodEnvelope();
  const auto envelope = DecodeEnvelope(bytes);
  ASSERT_TRUE(envelope) << envelope.error().message();
  EXPECT_EQ(envelope->Type(), (TypeMeta{"v1", "Pod"}));
  EXPECT_EQ(envelope->raw, PodRaw());
  EXPECT_EQ(envelope->content_type, "");
  EXPECT_EQ(envelope->content_encoding, "");
  EXPECT_GE(envelope->raw.data(), bytes.data());
  EXPECT_LE(envelope->raw.data() + envelope->raw.size(), bytes.data() + bytes.size());
}

TEST(Envelope, IsEncodedToTheBytesOfUpstream) {
  EXPECT_EQ(EncodeEnvelope({"v1", "Pod"}, PodRaw()), PodEnvelope());
}

TEST(Envelope, KeepsAllFourFields) {
  std::string bytes("k8s\0", 4);
  AppendBytesField(bytes, 4, "application/json");
  AppendBytesField(bytes, 3, "gzip");
  AppendBytesField(bytes, 2, "first");
  AppendBytesField(bytes, 9, "of a later version");
  AppendBytesField(bytes, 2, "the last one counts");
  const auto envelope = DecodeEnvelope(bytes);
  ASSERT_TRUE(envelope) << envelope.error().message();
  EXPECT_EQ(*envelope, (Envelope{.api_version = {},
                                 .kind = {},
                                 .raw = "the last one counts",
                                 .content_encoding = "gzip",
                                 .content_type = "application/json"}));
}

TEST(Envelope, MergesATypeThatComesInTwoParts) {
  const std::string bytes = std::string("k8s\0", 4) + FromHex("0a040a0276310a051203506f64");
  const auto envelope = DecodeEnvelope(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->Type(), (TypeMeta{"v1", "Pod"}));
}

TEST(Envelope, JsonIsNone) {
  for (const char* text : {"", "{}", "k8s", "k8sx...."}) {
    EXPECT_FALSE(IsEnvelope(text)) << text;
    EXPECT_EQ(DecodeEnvelope(text).error().code(), ErrorCode::kInvalid) << text;
  }
}

TEST(Envelope, RefusesDamagedOnes) {
  const std::string prefix("k8s\0", 4);
  const std::string whole = PodEnvelope();
  const struct {
    const char* why;
    std::string bytes;
  } rows[] = {
      {"nothing behind the prefix", prefix},
      {"raw is a number", prefix + FromHex("1005")},
      {"the type is a number", prefix + FromHex("0805")},
      {"the kind is a number", prefix + FromHex("0a021005")},
      {"the type has a field that goes beyond it", prefix + FromHex("0a020a0276")},
      {"the raw bytes are cut", whole.substr(0, 40)},
  };
  for (const auto& row : rows) {
    const auto envelope = DecodeEnvelope(row.bytes);
    ASSERT_FALSE(envelope) << row.why;
    EXPECT_EQ(envelope.error().code(), ErrorCode::kCorrupt) << row.why;
  }
}

TEST(Envelope, EveryCutIsRefusedOrGivesLess) {
  const std::string whole = PodEnvelope();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto envelope = DecodeEnvelope(std::string_view(whole).substr(0, size));
    EXPECT_TRUE(!envelope || envelope->raw == "" || envelope->raw == PodRaw()) << size;
  }
}

}  // namespace
}  // namespace denselet::kube
