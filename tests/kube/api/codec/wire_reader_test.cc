#include "kube/api/codec/wire_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kube/api/codec/wire_samples.h"

namespace denselet::kube {
namespace {

std::vector<WireField> ReadAll(WireReader& reader) {
  std::vector<WireField> fields;
  WireField field;
  while (reader.Next(field)) fields.push_back(field);
  return fields;
}

TEST(WireReader, GivesEveryFieldInOrder) {
  const std::string message =
      FromHex("08960112026869190100000000000080258000000010ffffffffffffffffff01");
  WireReader reader(message);
  const auto fields = ReadAll(reader);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(fields.size(), 5u);
  EXPECT_EQ(fields[0].number, 1u);
  EXPECT_EQ(fields[0].value, 150u);
  EXPECT_EQ(fields[1].number, 2u);
  EXPECT_EQ(fields[1].type, WireField::Type::kBytes);
  EXPECT_EQ(fields[1].bytes, "hi");
  EXPECT_EQ(fields[1].record, FromHex("12026869"));
  EXPECT_EQ(fields[2].type, WireField::Type::kFixed64);
  EXPECT_EQ(fields[2].value, 0x8000000000000001u);
  EXPECT_EQ(fields[3].type, WireField::Type::kFixed32);
  EXPECT_EQ(fields[3].value, 0x80u);
  EXPECT_EQ(fields[4].value, UINT64_MAX);
}

TEST(WireReader, RefusesWhatIsNoMessage) {
  const struct {
    const char* why;
    const char* hex;
  } rows[] = {
      {"field number 0", "0000"},
      {"a tag that does not end", "80"},
      {"field number beyond 29 bits", "8080808010"},
      {"a varint of eleven bytes", "08ffffffffffffffffffff01"},
      {"a varint beyond 64 bits", "08ffffffffffffffffff02"},
      {"no value behind the tag", "08"},
      {"a length beyond the end", "12036869"},
      {"a length of nearly 2^64", "12ffffffffffffffffff0168"},
      {"a short fixed64", "1901000000000000"},
      {"a short fixed32", "25800000"},
      {"a group", "0b0c"},
      {"a type that does not exist", "0e"},
  };
  for (const auto& row : rows) {
    const std::string message = FromHex(row.hex);
    WireReader reader(message);
    EXPECT_TRUE(ReadAll(reader).empty()) << row.why;
    EXPECT_FALSE(reader.ok()) << row.why;
    WireField field;
    EXPECT_FALSE(reader.Next(field)) << row.why;
    EXPECT_EQ(reader.ToStatus("x").error().code(), ErrorCode::kCorrupt) << row.why;
  }
}

TEST(WireReader, AnEmptyMessageHasNoFieldsAndNoFault) {
  WireReader reader("");
  EXPECT_TRUE(ReadAll(reader).empty());
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, ReadsWhatIsWritten) {
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 35, UINT64_MAX}) {
    std::string message = "\x08";
    AppendVarint(message, value);
    EXPECT_EQ(message.size(), 1 + VarintSize(value));
    AppendBytesField(message, 300, "text");
    WireReader reader(message);
    const auto fields = ReadAll(reader);
    ASSERT_EQ(fields.size(), 2u) << value;
    EXPECT_EQ(fields[0].value, value);
    EXPECT_EQ(fields[1].number, 300u);
    EXPECT_EQ(fields[1].bytes, "text");
  }
}

}  // namespace
}  // namespace denselet::kube
