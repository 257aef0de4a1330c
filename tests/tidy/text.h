#pragma once

#include <string_view>
#include <vector>

namespace denselet::tidy {

// Views into the argument: it must outlive the result.

std::string_view Trim(std::string_view text);

// Pieces between any of `separators`, trimmed; empty pieces are dropped.
std::vector<std::string_view> SplitWords(std::string_view text, std::string_view separators);

// Lines without their '\n'. Index i is line i + 1 of the file.
std::vector<std::string_view> SplitLines(std::string_view text);

// Cells of a table row, trimmed, empty ones included. The bars that frame a markdown row are no
// separators.
std::vector<std::string_view> SplitCells(std::string_view row);

bool IsWordCharacter(char c);

}  // namespace denselet::tidy
