// The names of images that an operator may list as preloaded.
#pragma once

#include <string_view>

namespace denselet::app {

// An image's name without tag and digest ("registry.test:5000/team/app"), or the beginning of some
// ("registry.test/team/*").
bool IsImagePattern(std::string_view pattern);

}  // namespace denselet::app
