#include "app/metrics_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace denselet::app {
namespace {

// The length of the UTF-8 sequence at the front, 0 if there is none (RFC 3629: no overlong forms,
// no surrogates).
size_t Utf8Length(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  const uint8_t second_min = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t second_max = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < second_min || byte(1) > second_max) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

enum class Quotes : uint8_t { kKeep, kEscape };

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '\\' && c != '"'; }

void AppendEscaped(std::string& out, std::string_view text, Quotes quotes) {
  const auto plain = static_cast<size_t>(std::ranges::find_if_not(text, IsPlain) - text.begin());
  out += text.substr(0, plain);
  text.remove_prefix(plain);
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      out += "\uFFFD";
    } else if (text[0] == '\n') {
      out += "\\n";
    } else if (text[0] == '\\' || (text[0] == '"' && quotes == Quotes::kEscape)) {
      out += '\\';
      out += text[0];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

void Append(std::string& out, uint64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, std::end(buffer), value).ptr);
}

// As Go's strconv.FormatFloat(value, 'g', -1, 64): the shortest digits that read back the same,
// with an exponent below 1e-4 and from 1e6 on.
void Append(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Inf" : "+Inf";
  } else {
    const double size = std::fabs(value);
    const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e6);
    char buffer[32];
    const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
    out.append(buffer, std::to_chars(buffer, std::end(buffer), value, format).ptr);
  }
}

// name_suffix{labels,le="bound"} and a blank. `labels` is without braces.
void AppendHead(std::string& out, std::string_view name, std::string_view suffix,
                std::string_view labels, std::string_view le) {
  out += name;
  out += suffix;
  if (!labels.empty() || !le.empty()) {
    out += '{';
    out += labels;
    if (!labels.empty() && !le.empty()) out += ',';
    out += le;
    out += '}';
  }
  out += ' ';
}

void AppendTail(std::string& out, const SeriesSnapshot& series) {
  if (series.timestamp_ms != 0) out += ' ' + std::to_string(series.timestamp_ms);
  out += '\n';
}

std::string LabelsOf(const FamilySnapshot& family, const SeriesSnapshot& series) {
  std::string out;
  for (size_t i = 0; i < family.label_names.size(); ++i) {
    if (i > 0) out += ',';
    out += family.label_names[i];
    out += "=\"";
    AppendEscaped(out, series.label_values[i], Quotes::kEscape);
    out += '"';
  }
  return out;
}

void AppendHistogram(std::string& out, const FamilySnapshot& family, const SeriesSnapshot& series) {
  const std::string labels = LabelsOf(family, series);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < series.bucket_counts.size(); ++i) {
    std::string le = "le=\"";
    Append(le, i < family.bounds.size() ? family.bounds[i] : HUGE_VAL);
    le += '"';
    cumulative += series.bucket_counts[i];
    AppendHead(out, family.name, "_bucket", labels, le);
    Append(out, cumulative);
    AppendTail(out, series);
  }
  AppendHead(out, family.name, "_sum", labels, "");
  Append(out, series.value);
  AppendTail(out, series);
  AppendHead(out, family.name, "_count", labels, "");
  Append(out, cumulative);
  AppendTail(out, series);
}

void AppendFamily(std::string& out, const FamilySnapshot& family) {
  out += "# HELP " + family.name + ' ';
  AppendEscaped(out, family.help, Quotes::kKeep);
  out += "\n# TYPE " + family.name + ' ';
  out += MetricTypeName(family.kind);
  out += '\n';
  for (const SeriesSnapshot& series : family.series) {
    if (family.kind == MetricKind::kHistogram) {
      AppendHistogram(out, family, series);
      continue;
    }
    AppendHead(out, family.name, "", LabelsOf(family, series), "");
    Append(out, series.value);
    AppendTail(out, series);
  }
}

}  // namespace

std::string_view MetricTypeName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  __builtin_unreachable();
}

std::string RenderMetricsText(const MetricsSnapshot& snapshot) {
  std::string out;
  for (const auto& [name, family] : snapshot.families()) {
    if (!family.series.empty()) AppendFamily(out, family);
  }
  return out;
}

}  // namespace denselet::app
