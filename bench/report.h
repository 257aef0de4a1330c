// What a benchmark says: rows of a table for people, and a flat file of numbers for programs. A row
// compares ours with a reference measured in the same run; absolute times mean nothing from one
// machine to the next.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace denselet::bench {

class Report {
 public:
  explicit Report(std::string name) : name_(std::move(name)) {}

  // A comparison by rate: how many times the reference's rate is ours? Below `goal` the row says
  // MISSED.
  void Ratio(const std::string& key, const std::string& work, double ours, double theirs,
             const std::string& unit, double goal);
  // A comparison by cost: how many times the reference's cost is ours? Above `limit` the row says
  // MISSED; 0 is no limit.
  void Cost(const std::string& key, const std::string& work, double ours, double theirs,
            const std::string& unit, double limit);
  // A bound from above on something measured.
  void AtMost(const std::string& key, const std::string& work, double measured,
              const std::string& unit, double limit);
  // A bound from below.
  void AtLeast(const std::string& key, const std::string& work, double measured,
               const std::string& unit, double goal);
  // A number without a goal.
  void Show(const std::string& key, const std::string& work, double measured,
            const std::string& unit);

  void Print() const;
  // build/bench/NAME.json below `folder`.
  Status Write(const std::string& folder) const;
  bool missed() const { return missed_; }

 private:
  struct Row {
    std::string work, ours, theirs, result, goal;
  };

  const std::string name_;
  std::vector<Row> rows_;
  std::map<std::string, double> numbers_;
  bool missed_ = false;
};

// The value below which `fraction` of the samples lie. Sorts them.
double Percentile(std::vector<double>& samples, double fraction);

}  // namespace denselet::bench
