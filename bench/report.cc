#include "bench/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace denselet::bench {
namespace {

std::string Text(double value) {
  std::array<char, 32> text;
  const int digits = std::fabs(value) >= 100 ? 0 : std::fabs(value) >= 1 ? 2 : 4;
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace

void Report::Ratio(const std::string& key, const std::string& work, double ours, double theirs,
                   const std::string& unit, double goal) {
  const double ratio = ours / theirs;
  numbers_[key] = ratio;
  const bool met = ratio >= goal;
  missed_ |= !met;
  rows_.push_back({work, Text(ours) + " " + unit, Text(theirs) + " " + unit, Text(ratio),
                   goal > 0 ? ">= " + Text(goal) + (met ? "" : "  MISSED") : ""});
}

void Report::Cost(const std::string& key, const std::string& work, double ours, double theirs,
                  const std::string& unit, double limit) {
  const double ratio = ours / theirs;
  numbers_[key] = ratio;
  const bool met = limit <= 0 || ratio <= limit;
  missed_ |= !met;
  rows_.push_back({work, Text(ours) + " " + unit, Text(theirs) + " " + unit, Text(ratio),
                   limit > 0 ? "<= " + Text(limit) + (met ? "" : "  MISSED") : ""});
}

void Report::AtMost(const std::string& key, const std::string& work, double measured,
                    const std::string& unit, double limit) {
  numbers_[key] = measured;
  const bool met = measured <= limit;
  missed_ |= !met;
  rows_.push_back(
      {work, Text(measured) + " " + unit, "", "", "<= " + Text(limit) + (met ? "" : "  MISSED")});
}

void Report::AtLeast(const std::string& key, const std::string& work, double measured,
                     const std::string& unit, double goal) {
  numbers_[key] = measured;
  const bool met = measured >= goal;
  missed_ |= !met;
  rows_.push_back(
      {work, Text(measured) + " " + unit, "", "", ">= " + Text(goal) + (met ? "" : "  MISSED")});
}

void Report::Show(const std::string& key, const std::string& work, double measured,
                  const std::string& unit) {
  numbers_[key] = measured;
  rows_.push_back({work, Text(measured) + " " + unit, "", "", ""});
}

void Report::Print() const {
  std::vector<Row> rows = {{"work", "ours", "reference", "ours/ref", "goal"}};
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  const std::array<std::string Row::*, 5> columns = {&Row::work, &Row::ours, &Row::theirs,
                                                     &Row::result, &Row::goal};
  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < columns.size(); ++i)
      widths[i] = std::max(widths[i], (row.*columns[i]).size());
  }
  for (const Row& row : rows) {
    for (size_t i = 0; i < columns.size(); ++i) {
      std::printf("%s%-*s", i == 0 ? "| " : " | ", static_cast<int>(widths[i]),
                  (row.*columns[i]).c_str());
    }
    std::puts(" |");
    if (&row == &rows.front()) {
      for (const size_t width : widths) std::printf("|%s", std::string(width + 2, '-').c_str());
      std::puts("|");
    }
  }
}

Status Report::Write(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = folder + "/" + name_ + ".json";
  std::ofstream file(path);
  file << "{\n";
  const char* separator = "";
  for (const auto& [key, value] : numbers_) {
    file << separator << "  \"" << key << "\": " << value;
    separator = ",\n";
  }
  file << "\n}\n";
  file.close();
  if (!file) return Error(ErrorCode::kIo, "could not write").With("write", path);
  std::printf("written: %s\n", path.c_str());
  return Ok();
}

double Percentile(std::vector<double>& samples, double fraction) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const auto index = static_cast<size_t>(fraction * static_cast<double>(samples.size() - 1));
  return samples[index];
}

}  // namespace denselet::bench
