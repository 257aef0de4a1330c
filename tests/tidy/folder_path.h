#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace denselet::tidy {

// "sync/ports" of "sync/ports/runtime.h"; empty without a slash.
std::string_view FolderOf(std::string_view path);

size_t CountComponents(std::string_view folder);

std::string_view FirstComponents(std::string_view folder, size_t count);

// Whether `folder` is `pattern` or lies below it; a "*" in the pattern is any one component.
// So "managers/*" covers "managers/cpu/policy" and does not cover "managers".
bool Covers(std::string_view pattern, std::string_view folder);

}  // namespace denselet::tidy
