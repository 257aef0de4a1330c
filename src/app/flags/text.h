// Small things done to the texts of a command line, the way Go does them: its words are what
// operators know from the kubelet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/split.h"

namespace denselet::app {

// One part, empty, for an empty text.
std::vector<std::string_view> Split(std::string_view text, char separator);
// Without white space at either end.
std::string_view Trimmed(std::string_view text);
std::string Joined(const std::vector<std::string>& parts, std::string_view separator);

// As Go's %q writes it.
std::string Quoted(std::string_view text);
std::string QuotedChar(char c);

// strconv's: ParseBool, ParseInt with base 0 (0x1f, 0b1, 0o17, 1_000), ParseUint with base 10.
Result<bool> ParseBool(std::string_view text);
Result<int64_t> ParseInt(std::string_view text, int bits);
Result<uint64_t> ParseUint(std::string_view text, int bits);
// strconv's Atoi: base 10, with a sign.
Result<int64_t> ParseDecimal(std::string_view text);

// encoding/csv's: the first record, with quotes around fields that hold commas.
Result<std::vector<std::string>> ReadCsvRecord(std::string_view text);

bool IsIpAddress(std::string_view text);

}  // namespace denselet::app
