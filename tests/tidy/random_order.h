// Walks through containers whose order in memory is random: protobuf maps and std::unordered_*.
// What leaves the process or decides must not depend on that order, so there is one way through
// them, kube::Sorted (src/kube/api/codec/sorted.h).
//
// Seen by name, without types: a range-for over, begin() of, a view of, or an algorithm of
// std::ranges that is given
//   - a map field of the generated types: x.labels(), *x.mutable_labels(),
//   - a name that the same file, or the header of the same name, declares as std::unordered_* or as
//     protobuf's Map, or sets to a map field: auto& labels = *x.mutable_labels(). Aliases of these
//     types count too, where the file, its header or a header that it includes has them.
// Not seen: members declared in other headers, functions that return such a container. A list that
// is called like a map field is taken for one: the allowance says so.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/violation.h"

namespace denselet::tidy {

using MapFields = std::set<std::string, std::less<>>;

// tests/tidy/map_fields.txt: a name a line, comments begin with #.
MapFields ParseMapFields(std::string_view table);

// The names that a text gives to such types.
using MapAliases = std::set<std::string, std::less<>>;
MapAliases FindMapAliases(std::string_view text);

// `header`: the text of the header that belongs to the file, if there is one; `included`: the
// aliases of headers that it includes. A line is excused by
// `tidy: allow random-order because REASON`, behind it or right above it.
std::vector<Violation> CheckRandomOrder(const MapFields& fields, std::string_view path,
                                        std::string_view text, std::string_view header = {},
                                        const MapAliases& included = {});

}  // namespace denselet::tidy
