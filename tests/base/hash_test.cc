#include "base/hash.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace denselet {
namespace {

std::string Hex(const Fnv128& sum) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : sum) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

struct Vector {
  std::string data;
  uint32_t sum32;
  uint64_t sum64;
  std::string sum128;
};

std::string EveryByte() {
  std::string out;
  for (int i = 0; i < 256; ++i) out += static_cast<char>(i);
  return out;
}

// What New32a, New64a and New128a of Go 1.26's hash/fnv say.
const std::vector<Vector>& Vectors() {
  static const std::vector<Vector> vectors = {
      {"", 0x811c9dc5, 0xcbf29ce484222325, "6c62272e07bb014262b821756295c58d"},
      {"a", 0xe40c292c, 0xaf63dc4c8601ec8c, "d228cb696f1a8caf78912b704e4a8964"},
      {"foobar", 0xbf9cf968, 0x85944171f73967e8, "343e1662793c64bf6f0d3597ba446f18"},
      {std::string(1, '\0'), 0x050c5d1f, 0xaf63bd4c8601b7df, "d228cb69101a8caf78912b704e4a147f"},
      {std::string("a\0b", 3), 0x10f3abd2, 0xe5d29919042666b2, "a68d6315038b5822836dbc79783ec15a"},
      {"\xff\xfe\x80", 0x306143b0, 0xf994151be4779090, "a68b3a08ef8b5822836dbc7895a26e78"},
      {"Grüße, 世界", 0xd0c221be, 0x1f1690679b50fc9e, "72cb8cf9bd2cbea7423cb82e513ee056"},
      {"kube-system/coredns-5d78c9869d-abcde", 0x12748b8d, 0x9d142a813bdca48d,
       "91a68784c1b27fd278b68c4c090d40ad"},
      {EveryByte(), 0x90a458c5, 0x4242dc5249c33625, "8097249afae7c21686b07bd6fa33708d"},
      {std::string(4096, 'x'), 0xe01bddc5, 0xb6f0ad4254676325, "ad783649a658a826d699fce12950858d"},
  };
  return vectors;
}

TEST(Fnv1a32, SaysWhatGoSays) {
  for (const Vector& v : Vectors()) EXPECT_EQ(Fnv1a32(v.data), v.sum32) << v.data;
}

TEST(Fnv1a64, SaysWhatGoSays) {
  for (const Vector& v : Vectors()) EXPECT_EQ(Fnv1a64(v.data), v.sum64) << v.data;
}

TEST(Fnv1a128, SaysWhatGoSays) {
  for (const Vector& v : Vectors()) EXPECT_EQ(Hex(Fnv1a128(v.data)), v.sum128) << v.data;
}

TEST(Fnv1a, CanBeComputedByTheCompiler) {
  static_assert(Fnv1a32("foobar") == 0xbf9cf968);
  static_assert(Fnv1a64("foobar") == 0x85944171f73967e8);
}

// As Go's Write, called more than once.
TEST(Fnv1a, GoesOnWhereAnotherPartStopped) {
  constexpr std::string_view kText = "foobar";
  for (size_t cut = 0; cut <= kText.size(); ++cut) {
    const std::string_view head = kText.substr(0, cut), tail = kText.substr(cut);
    EXPECT_EQ(Fnv1a32(tail, Fnv1a32(head)), Fnv1a32(kText));
    EXPECT_EQ(Fnv1a64(tail, Fnv1a64(head)), Fnv1a64(kText));
    Fnv1a128Stream stream;
    stream.Add(head);
    stream.Add(tail);
    EXPECT_EQ(stream.Sum(), Fnv1a128(kText));
  }
}

}  // namespace
}  // namespace denselet
