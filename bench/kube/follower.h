// A process that does nothing but follow the pods of a node, as the agent does: list-watch, pod
// source, merge into the desired state. What it takes is what that takes.
#pragma once

#include <cstddef>
#include <string>

namespace denselet::bench {

// Prints "listed CPU PEAK" when `pods` are desired, "updated CPU PEAK" when `updates` changes of
// them have come in, and "ok" when all then are as they should be: the label ManyPods::kLabel is
// `label` on each. CPU in seconds, PEAK in bytes, both of the whole process so far. 0: all went
// well.
int Follow(const std::string& node, size_t pods, size_t updates, const std::string& label);

}  // namespace denselet::bench
