// What denseletctl prints for people. Pure: text in, text out; whatever came from elsewhere has
// lost all that could move a terminal's cursor.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/ctl/rows.h"
#include "base/result.h"

namespace denselet::app {

// "3.2s", "45s", "3m12s", "5h2m", "4d3h"; "-" of what is not known.
std::string ShortTime(double seconds);
// "21.3 MiB".
std::string ShortBytes(int64_t bytes);

// Columns as wide as their longest cell, two blanks between; no blanks at the end of a line. A
// first line of titles.
std::string Columns(const std::vector<std::vector<std::string>>& lines);

std::string PodsTable(const std::vector<PodRow>& pods);

// How much of a processor the agent had between two looks; nothing: there was one look only, and
// its whole life counts.
double CpuShare(const AgentRow& now, const std::optional<AgentRow>& before);

struct TopSize {
  size_t lines = 24;
  size_t columns = 0;  // 0: as wide as need be
};
// Two lines on the agent, then pods: those first with which something is the matter, as many as
// there is room for.
std::string TopScreen(const AgentRow& agent, const std::optional<AgentRow>& before,
                      const std::vector<PodRow>& pods, const TopSize& size);
// Equal for two looks between which nothing happened but time.
std::string TopKey(const AgentRow& agent, const std::vector<PodRow>& pods);

// The answers of /pods/NS/NAME, /pleg and /agent. kCorrupt: that is no answer of an agent.
Result<std::string> PodText(std::string_view json);
Result<std::string> PlegText(std::string_view json);
Result<std::string> AgentText(std::string_view json);

}  // namespace denselet::app
