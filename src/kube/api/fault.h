// What is wrong with a document. A document may have many faults, and its author wants to see them
// all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace denselet::kube {

struct Fault {
  std::string path;   // "spec.containers[0].image"; empty: the document as a whole
  uint32_t line = 0;  // of the text it was read from, from 1; 0: not known
  std::string message;

  friend bool operator==(const Fault&, const Fault&) = default;
};

// "line 7: spec.hostNetwork: found text "yes", wanted true or false"
std::string ToString(const Fault& fault);

// Ok, or an error of code kInvalid that names them all.
Status ToStatus(std::span<const Fault> faults);

}  // namespace denselet::kube
