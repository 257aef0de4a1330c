// Where the checkout is that this test was built from: golden files, tables and corpora are read
// from there.
#pragma once

#include <string>
#include <string_view>

namespace denselet::tests {

// Without a slash at its end. In one object file of its own: the path of a clone stands in no other
// compilation, so a second clone takes over what the first one compiled.
std::string_view SourceDir();

// `path` from the top of the sources.
std::string SourcePath(std::string_view path);

}  // namespace denselet::tests
