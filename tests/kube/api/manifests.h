// Files of several YAML documents, for tests that compare each with what a Go program printed for
// it.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/source_dir.h"

namespace denselet::tests {

// The document of this number, from 0; `folder` from the top of the sources. Documents are parted
// by a line "---".
inline std::string ReadManifest(std::string_view folder, std::string_view file, size_t document) {
  constexpr std::string_view kSeparator = "\n---\n";
  std::ifstream in(SourcePath(folder).append(file));
  std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_FALSE(text.empty()) << file;
  for (; document > 0; --document) {
    const size_t end = text.find(kSeparator);
    if (end == text.npos) {
      ADD_FAILURE() << file << " has too few documents";
      return "";
    }
    text.erase(0, end + kSeparator.size());
  }
  return text.substr(0, text.find(kSeparator));
}

}  // namespace denselet::tests
