// --version=vX.Y.Z-suffix lets a distributor's build report a version of its own.
#pragma once

#include <string_view>

#include "base/result.h"

namespace denselet::app {

// A semantic version whose numbers are those of `actual`; in upstream's words where it is not.
Status CheckReportedVersion(std::string_view wanted, std::string_view actual);

}  // namespace denselet::app
