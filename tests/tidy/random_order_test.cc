#include "tests/tidy/random_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/tidy/source_tree.h"

namespace denselet::tidy {
namespace {

const MapFields kFields = {"labels", "data", "default"};

std::vector<int> Lines(std::string_view text, std::string_view header = {}) {
  std::vector<int> lines;
  for (const Violation& v : CheckRandomOrder(kFields, "src/a/b.cc", text, header)) {
    lines.push_back(v.line);
  }
  return lines;
}

using Found = std::vector<int>;

TEST(RandomOrder, MapFieldsOfMessagesAreFound) {
  EXPECT_EQ(Lines("for (const auto& [k, v] : pod.metadata().labels()) Use(k);"), Found{1});
  EXPECT_EQ(Lines("for (auto& e : *pod.mutable_metadata()->mutable_labels()) e.second = 1;"),
            Found{1});
  EXPECT_EQ(Lines("\nfor (auto& e\n : (*x->mutable_data())) Use(e);"), Found{2});
  EXPECT_EQ(Lines("for (auto& e : range.default_()) Use(e);"), Found{1});
  EXPECT_EQ(Lines("for (int i = 0; auto& e : pod.labels()) Use(e);"), Found{1});
}

TEST(RandomOrder, IteratorsAreFound) {
  EXPECT_EQ(Lines("auto it = pod.metadata().labels().begin();"), Found{1});
  EXPECT_EQ(Lines("for (auto it = p->mutable_labels()->begin(); it != end; ++it) Use(*it);"),
            Found{1});
  EXPECT_EQ(Lines("std::unordered_set<int> seen;\nSort(seen.begin(), seen.end());"), Found{2});
}

TEST(RandomOrder, UnorderedContainersAreFoundByTheirNames) {
  EXPECT_EQ(
      Lines("std::unordered_map<std::string, std::vector<int>> all_;\nfor (auto& e : all_) f(e);"),
      Found{2});
  EXPECT_EQ(Lines("void F(const google::protobuf::Map<K, V>& map) {\nfor (auto& e : map) f(e); }"),
            Found{2});
  EXPECT_EQ(Lines("for (auto& e : all_) f(e);", "class A {\nstd::unordered_set<int> all_;\n};"),
            Found{1});
}

TEST(RandomOrder, NamesThatAreSetToAMapFieldAreFound) {
  EXPECT_EQ(Lines("auto& labels = *pod.mutable_labels();\nfor (auto& e : labels) f(e);"), Found{2});
  EXPECT_EQ(Lines("const auto& d = secret.data();\nfor (auto& e : d) f(e);"), Found{2});
}

TEST(RandomOrder, OtherContainersAreNot) {
  EXPECT_EQ(Lines("for (auto& c : pod.spec().containers()) f(c);"), Found{});
  EXPECT_EQ(Lines("for (const auto* e : Sorted(pod.labels())) f(e);"), Found{});
  EXPECT_EQ(Lines("for (auto& e : labels) f(e);"), Found{});
  EXPECT_EQ(Lines("for (char c : data()) f(c);"), Found{});
  EXPECT_EQ(Lines("std::unordered_map<int, int>::iterator it;\nauto e = seen_.find(1);"), Found{});
  EXPECT_EQ(Lines("std::map<int, int> all;\nfor (auto& e : all) f(e);"), Found{});
  EXPECT_EQ(Lines("// for (auto& e : pod.labels()) f(e);"), Found{});
}

TEST(RandomOrder, TheHelperMayWalkThem) {
  const auto found = CheckRandomOrder(kFields, "src/kube/api/codec/sorted.h",
                                      "std::unordered_map<A, B> m;\nfor (auto& e : m) f(e);");
  EXPECT_TRUE(found.empty());
}

TEST(RandomOrder, AnAllowanceWithAReasonExcusesALine) {
  EXPECT_EQ(Lines("for (auto& e : x.labels()) f(e);  // tidy: allow random-order because it sums"),
            Found{});
  EXPECT_EQ(Lines("// tidy: allow random-order because it sums\nfor (auto& e : x.labels()) f(e);"),
            Found{});
  EXPECT_EQ(Lines("for (auto& e : x.labels()) f(e);  // tidy: allow random-order because "),
            (Found{1, 1}));
  EXPECT_EQ(Lines("int a;  // tidy: allow random-order because it sums"), Found{1});
}

TEST(RandomOrder, HoldsInThisRepository) {
  const auto table = ReadFile(SourceRoot(), "tests/tidy/map_fields.txt");
  ASSERT_TRUE(table);
  const MapFields fields = ParseMapFields(*table);
  EXPECT_TRUE(fields.contains("labels"));
  std::vector<Violation> violations;
  for (const char* folder : {"src", "tests", "bench"}) {
    for (const SourceFile& file : ReadCppFiles(SourceRoot(), folder)) {
      const size_t dot = file.path.rfind('.');
      const auto header = file.path.ends_with(".cc")
                              ? ReadFile(SourceRoot(), file.path.substr(0, dot) + ".h")
                              : std::nullopt;
      std::ranges::move(
          CheckRandomOrder(fields, file.path, file.text, header ? *header : std::string()),
          std::back_inserter(violations));
    }
  }
  EXPECT_TRUE(violations.empty()) << Report(violations);
}

}  // namespace
}  // namespace denselet::tidy
