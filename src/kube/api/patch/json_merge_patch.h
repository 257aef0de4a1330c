// JSON merge patch (RFC 7386): objects are merged member by member, `null` removes a member,
// anything else replaces what was there, lists too.
//
// A pure function, on any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::kube {

// The patched document, keys sorted; of keys that come twice in either text the last one counts.
// Numbers stay as they were written. kInvalid, with the line: one of them is not JSON, or is nested
// too deeply.
Result<std::string> ApplyJsonMergePatch(std::string_view json, std::string_view patch);

}  // namespace denselet::kube
