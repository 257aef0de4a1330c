// Foreign text in a message for people: in quotes, so that it cannot pass for words of ours, with
// quotes, backslashes and all that is not printable ASCII escaped, and cut. (Log lines quote once
// more, in the form of their style: log_escape.h.)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace denselet {

// Of at most `bytes_max` bytes of the text, each of which takes up to four; "..." when there are
// more.
std::string Quoted(std::string_view text, size_t bytes_max);

// As Go's %q writes it, for messages that are upstream's to the letter; all of it, and what is not
// ASCII stays as it is.
std::string GoQuoted(std::string_view text);

}  // namespace denselet
