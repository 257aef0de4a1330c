#include "kube/api/codec/yaml_timestamp.h"

#include <chrono>

namespace denselet::kube {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool TakeChar(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

// One or two digits, at most `max`.
bool TakeNumber(std::string_view& rest, unsigned max, unsigned& into) {
  if (rest.empty() || !IsDigit(rest[0])) return false;
  const bool two = rest.size() > 1 && IsDigit(rest[1]);
  into = static_cast<unsigned>(rest[0] - '0');
  if (two) into = into * 10 + static_cast<unsigned>(rest[1] - '0');
  rest.remove_prefix(two ? 2 : 1);
  return into <= max;
}

bool TakeDate(std::string_view& rest) {
  int year = 0;
  unsigned month = 0, day = 0;
  for (int i = 0; i < 4; ++i, rest.remove_prefix(1)) {
    if (rest.empty() || !IsDigit(rest[0])) return false;
    year = year * 10 + (rest[0] - '0');
  }
  if (!TakeChar(rest, '-') || !TakeNumber(rest, 12, month)) return false;
  if (!TakeChar(rest, '-') || !TakeNumber(rest, 31, day)) return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                     std::chrono::day(day))
      .ok();
}

bool TakeTimeOfDay(std::string_view& rest) {
  unsigned number = 0;
  if (!TakeNumber(rest, 23, number) || !TakeChar(rest, ':')) return false;
  if (!TakeNumber(rest, 59, number) || !TakeChar(rest, ':')) return false;
  if (!TakeNumber(rest, 59, number)) return false;
  if (rest.size() < 2 || (rest[0] != '.' && rest[0] != ',') || !IsDigit(rest[1])) return true;
  rest.remove_prefix(1);
  while (!rest.empty() && IsDigit(rest[0])) rest.remove_prefix(1);
  return true;
}

// Z, +hh:mm or -hh:mm.
bool TakeZone(std::string_view& rest) {
  if (TakeChar(rest, 'Z')) return true;
  if (rest.size() < 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') return false;
  unsigned hours = 0, minutes = 0;
  rest.remove_prefix(1);
  return IsDigit(rest[1]) && TakeNumber(rest, 24, hours) && TakeChar(rest, ':') &&
         IsDigit(rest[1]) && TakeNumber(rest, 60, minutes);
}

}  // namespace

bool IsYamlTimestamp(std::string_view text) {
  std::string_view rest = text;
  if (!TakeDate(rest)) return false;
  if (rest.empty()) return true;
  if (TakeChar(rest, 'T') || TakeChar(rest, 't')) {
    return TakeTimeOfDay(rest) && TakeZone(rest) && rest.empty();
  }
  if (!TakeChar(rest, ' ')) return false;
  while (TakeChar(rest, ' ')) {
  }
  return TakeTimeOfDay(rest) && rest.empty();
}

}  // namespace denselet::kube
