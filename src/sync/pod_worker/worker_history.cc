#include "sync/pod_worker/worker_history.h"

#include <utility>

namespace denselet::sync {
namespace {

constexpr size_t kGrowth = 8;  // a start without trouble has twice as many; doubling wastes more

}  // namespace

void WorkerHistory::Did(TimePoint now, Phase phase, std::string_view word) {
  Add({now, word.data(), nullptr, static_cast<uint32_t>(word.size()), phase, Kind::kDid});
}

void WorkerHistory::WaitsFor(TimePoint now, Phase phase, std::string_view word) {
  Add({now, word.data(), nullptr, static_cast<uint32_t>(word.size()), phase, Kind::kWaitsFor});
}

void WorkerHistory::Tell(TimePoint now, Phase phase, std::string text) {
  Add({now, nullptr, std::make_unique<std::string>(std::move(text)), 0, phase, Kind::kText});
}

void WorkerHistory::Add(Line line) {
  if (lines_.size() == kTransitionsMax) lines_.erase(lines_.begin());
  if (lines_.size() == lines_.capacity()) lines_.reserve(lines_.size() + kGrowth);
  lines_.push_back(std::move(line));
}

std::vector<WorkerTransition> WorkerHistory::All() const {
  std::vector<WorkerTransition> all;
  all.reserve(lines_.size());
  for (const Line& line : lines_) {
    std::string what = line.kind == Kind::kText       ? *line.text
                       : line.kind == Kind::kWaitsFor ? "waits for "
                                                      : "";
    if (line.kind != Kind::kText) what.append(line.word, line.word_size);
    all.push_back({line.at, line.phase, std::move(what)});
  }
  return all;
}

}  // namespace denselet::sync
