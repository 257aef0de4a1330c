#include "tests/sim/core/comparison.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {
namespace {

using Lines = std::vector<std::string>;

// "start app 0" is about app; "sandbox 0" and "stop sandbox 0" are about the sandbox: no name.
std::string ContainerOf(const std::string& line) {
  const size_t begin = line.find(' ') + 1;
  const size_t end = line.find(' ', begin);
  if (end == std::string::npos) return "";
  const std::string name = line.substr(begin, end - begin);
  return name == "sandbox" ? "" : name;
}

std::set<std::string> ContainersOf(const Lines& history) {
  std::set<std::string> names;
  for (const std::string& line : history) names.insert(ContainerOf(line));
  return names;
}

const Lines& Of(const std::map<std::string, Lines>& all, const std::string& uid) {
  static const Lines kNothing;
  const auto found = all.find(uid);
  return found == all.end() ? kNothing : found->second;
}

std::string Text(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += " " + line + ",";
  return text;
}

std::string Against(const std::string& uid, const Lines& one, const Lines& other) {
  return uid + " was treated otherwise without events:" + Text(one) + " against" + Text(other);
}

Lines WithStopsSorted(Lines history) {
  const auto stops = [](const std::string& line) {
    return line.starts_with("stop ") && !ContainerOf(line).empty();
  };
  for (auto begin = history.begin(); begin != history.end();) {
    const auto end = std::find_if_not(begin, history.end(), stops);
    std::sort(begin, end);
    begin = end == history.end() ? end : std::next(end);
  }
  return history;
}

template <class Map>
std::set<std::string> Uids(const Map& one, const Map& other) {
  std::set<std::string> uids;
  for (const auto& [uid, value] : one) uids.insert(uid);
  for (const auto& [uid, value] : other) uids.insert(uid);
  return uids;
}

bool SameOrder(const Lines& one, const Lines& other) {
  std::set<std::string> names = ContainersOf(one);
  names.merge(ContainersOf(other));
  names.insert("");
  for (const std::string& name : names) {
    if (InOrderWith(name, one) != InOrderWith(name, other)) return false;
  }
  return true;
}

}  // namespace

Lines InOrderWith(const std::string& container, const Lines& history) {
  Lines lines;
  const bool alone = RoleOf(container) == ContainerRole::kEphemeral;
  for (const std::string& line : history) {
    const std::string name = ContainerOf(line);
    const bool is_before = !alone && RoleOf(name) == ContainerRole::kInit;
    if (name.empty() || name == container || is_before) lines.push_back(line);
  }
  return lines;
}

Lines DifferentEnds(const CoreResult& evented, const CoreResult& relisted) {
  std::map<std::string, std::pair<std::string, std::string>> ends;
  for (const auto& [uid, state] : evented.end_state) ends[uid].first = state;
  for (const auto& [uid, state] : relisted.end_state) ends[uid].second = state;
  Lines different;
  for (const auto& [uid, both] : ends) {
    if (both.first == both.second) continue;
    different.push_back(uid + " runs" + both.first + " in the end, and without events" +
                        both.second);
  }
  for (const auto& [uid, state] : evented.untouched) {
    const auto other = relisted.untouched.find(uid);
    if (other == relisted.untouched.end() || other->second == state) continue;
    different.push_back(uid + " is" + state + " in the end, and without events" + other->second);
  }
  return different;
}

Lines DifferentWays(const CoreResult& evented, const CoreResult& relisted) {
  Lines different;
  for (const std::string& uid : Uids(evented.history, relisted.history)) {
    const Lines& one = Of(evented.history, uid);
    const Lines& other = Of(relisted.history, uid);
    const bool same = evented.without_grace.count(uid) != 0
                          ? SameOrder(WithStopsSorted(one), WithStopsSorted(other))
                          : SameOrder(one, other);
    if (!same) different.push_back(Against(uid, one, other));
  }
  for (const std::string& uid : Uids(evented.endings, relisted.endings)) {
    const Lines& one = Of(evented.endings, uid);
    const Lines& other = Of(relisted.endings, uid);
    if (one != other) different.push_back(Against(uid, one, other));
  }
  return different;
}

}  // namespace denselet::sim
