// Lists of texts on the command line are records of CSV (RFC 4180, as Go's encoding/csv reads it).
#include "app/flags/text.h"

#include <algorithm>

namespace denselet::app {
namespace {

Error BadCsv(size_t column, std::string_view why) {
  return Error(ErrorCode::kInvalid,
               "parse error on line 1, column " + std::to_string(column) + ": " + std::string(why));
}

// Takes one field, and the quotes around it. `at` then stands behind it, at a comma or at the end.
Result<std::string> TakeQuotedField(std::string_view line, size_t& at) {
  std::string field;
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') {
      field += line[at];
      continue;
    }
    const bool doubled = at + 1 < line.size() && line[at + 1] == '"';
    if (!doubled) {
      ++at;
      if (at == line.size() || line[at] == ',') return field;
      return BadCsv(at, "extraneous or missing \" in quoted-field");
    }
    field += '"';
    ++at;
  }
  return BadCsv(line.size() + 1, "extraneous or missing \" in quoted-field");
}

Result<std::string> TakePlainField(std::string_view line, size_t& at) {
  const size_t end = std::min(line.find(',', at), line.size());
  const std::string_view field = line.substr(at, end - at);
  if (const size_t quote = field.find('"'); quote != std::string_view::npos) {
    return BadCsv(at + quote + 1, "bare \" in non-quoted-field");
  }
  at = end;
  return std::string(field);
}

}  // namespace

Result<std::vector<std::string>> ReadCsvRecord(std::string_view text) {
  std::vector<std::string> fields;
  if (text.empty()) return fields;
  // A list on a command line is one line; what stands behind it is not looked at.
  while (text.starts_with('\n')) text.remove_prefix(1);
  std::string_view line = TakeUntil(text, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return Error(ErrorCode::kInvalid, "EOF");
  for (size_t at = 0;; ++at) {
    const bool quoted = at < line.size() && line[at] == '"';
    Result<std::string> field = quoted ? TakeQuotedField(line, at) : TakePlainField(line, at);
    if (!field) return field.error();
    fields.push_back(*std::move(field));
    if (at >= line.size()) return fields;
  }
}

}  // namespace denselet::app
