#include "tests/kube/corpus/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/source_dir.h"

namespace denselet::kube::corpus {
namespace {

std::filesystem::path Folder() { return tests::SourcePath("tests/kube/corpus"); }

}  // namespace

std::vector<Manifest> Manifests() {
  std::vector<Manifest> manifests;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream file(entry.path());
    manifests.push_back({entry.path().stem(), {std::istreambuf_iterator<char>(file), {}}});
    EXPECT_FALSE(manifests.back().text.empty()) << entry.path();
  }
  std::ranges::sort(manifests, {}, &Manifest::name);
  EXPECT_FALSE(manifests.empty()) << Folder();
  return manifests;
}

std::set<std::string> Exceptions() {
  std::set<std::string> fields;
  std::ifstream file(Folder() / "exceptions.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t bar = line.find(" | ");
    EXPECT_NE(bar, std::string::npos) << "without a reason: " << line;
    EXPECT_TRUE(fields.insert(line.substr(0, line.find(' '))).second) << "twice: " << line;
  }
  return fields;
}

std::vector<std::string> Missing(const std::set<std::string>& wanted,
                                 const std::set<std::string>& found) {
  std::vector<std::string> missing;
  std::ranges::set_difference(wanted, found, std::back_inserter(missing));
  return missing;
}

}  // namespace denselet::kube::corpus
