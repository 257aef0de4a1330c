#include "tests/tidy/random_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

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

TEST(RandomOrder, AliasesOfTheTypesAreFound) {
  EXPECT_EQ(Lines("using Labels = google::protobuf::Map<A, B>;\n"
                  "void F(const Labels& all) {\nfor (auto& e : all) f(e); }"),
            Found{3});
  EXPECT_EQ(Lines("void F(kube::Labels& all) {\nfor (auto& e : all) f(e); }",
                  "using Labels = std::unordered_map<A, B>;"),
            Found{2});
  EXPECT_EQ(Lines("using Labels = std::map<A, B>;\n"
                  "void F(const Labels& all) {\nfor (auto& e : all) f(e); }"),
            Found{});
  const auto found = CheckRandomOrder(
      kFields, "src/a/b.cc", "Labels all;\nfor (auto& e : all) f(e);", "",
      FindMapAliases("using Other = std::unordered_set<A>;\nusing Labels = Other;"));
  EXPECT_EQ(found.size(), 1u);
}

TEST(RandomOrder, ViewsAndAlgorithmsAreFound) {
  EXPECT_EQ(Lines("for (auto& k : x.labels() | std::views::keys) f(k);"), Found{1});
  EXPECT_EQ(Lines("auto keys = std::views::keys(x.labels());"), Found{1});
  EXPECT_EQ(Lines("std::unordered_set<int> seen;\nstd::ranges::for_each(seen, f);"), Found{2});
  EXPECT_EQ(Lines("std::unordered_set<int> seen;\nauto v = seen | std::ranges::views::keys;"),
            Found{2});
  EXPECT_EQ(Lines("auto it = std::begin(x.labels());"), Found{1});
  EXPECT_EQ(Lines("std::ranges::copy(*x.mutable_data(), out);"), Found{1});
  EXPECT_EQ(Lines("bool b = std::ranges::any_of(x.labels(), f);"), Found{});
  EXPECT_EQ(Lines("int a = x.labels() | y;\nstd::ranges::sort(names, x.labels());"), Found{});
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

// Those of the headers that it includes.
MapAliases Included(const std::string& text, const std::map<std::string, MapAliases>& headers) {
  constexpr std::string_view kInclude = "#include \"";
  MapAliases all;
  for (size_t at = text.find(kInclude); at != text.npos; at = text.find(kInclude, at + 1)) {
    const size_t begin = at + kInclude.size();
    const std::string name = text.substr(begin, text.find('"', begin) - begin);
    for (const std::string& path : {"src/" + name, name}) {
      const auto found = headers.find(path);
      if (found != headers.end()) all.insert(found->second.begin(), found->second.end());
    }
  }
  return all;
}

TEST(RandomOrder, HoldsInThisRepository) {
  const auto table = ReadFile(SourceRoot(), "tests/tidy/map_fields.txt");
  ASSERT_TRUE(table);
  const MapFields fields = ParseMapFields(*table);
  EXPECT_TRUE(fields.contains("labels"));
  std::vector<Violation> violations;
  std::map<std::string, MapAliases> headers;
  for (const char* folder : {"src", "tests", "bench"}) {
    for (const SourceFile& file : ReadCppFiles(SourceRoot(), folder)) {
      if (file.path.ends_with(".h")) headers[file.path] = FindMapAliases(file.text);
    }
  }
  for (const char* folder : {"src", "tests", "bench"}) {
    for (const SourceFile& file : ReadCppFiles(SourceRoot(), folder)) {
      const size_t dot = file.path.rfind('.');
      const auto header = file.path.ends_with(".cc")
                              ? ReadFile(SourceRoot(), file.path.substr(0, dot) + ".h")
                              : std::nullopt;
      std::ranges::move(
          CheckRandomOrder(fields, file.path, file.text, header ? *header : std::string(),
                           Included(file.text, headers)),
          std::back_inserter(violations));
    }
  }
  EXPECT_TRUE(violations.empty()) << Report(violations);
}

}  // namespace
}  // namespace denselet::tidy
