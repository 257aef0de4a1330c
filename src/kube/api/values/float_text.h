// Floating point numbers as Go writes them: the fewest digits that are read back as the same
// number.
#pragma once

#include <string>

namespace denselet::kube {

// As encoding/json does: with an exponent only below 1e-6 and from 1e21 on. For finite numbers.
std::string JsonFloatText(double number);

// As Go's format 'g' does: with an exponent below 1e-4 and from 1e6 on. Not finite: "+Inf", "NaN".
std::string GoFloatText(double number);
std::string GoFloatText(float number);

}  // namespace denselet::kube
