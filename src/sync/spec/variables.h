// Lists of names and values, sorted by name, and $(NAME) in texts.
#pragma once

#include <string>
#include <string_view>

#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

// A later value of a name takes the place of the one before.
void PutValue(KeyValues& list, std::string_view name, std::string value);
// Null: there is none.
const std::string* FindValue(const KeyValues& list, std::string_view name);

// $(NAME) by the lists, those of the first before those of the second; $$ is a dollar; what is not
// known stays as it is.
std::string ExpandVariables(std::string_view text, const KeyValues& variables,
                            const KeyValues& others = {});

}  // namespace denselet::sync
