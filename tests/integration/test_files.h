// Files as a test sees them, past the FileSystem under test. Blocks; for the test's own thread.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace denselet::reactor {

inline std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void Put(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace denselet::reactor
