#include "tests/source_dir.h"

namespace denselet::tests {

std::string_view SourceDir() { return DENSELET_SOURCE_DIR; }

std::string SourcePath(std::string_view path) {
  std::string whole(SourceDir());
  return whole.append("/").append(path);
}

}  // namespace denselet::tests
