// What ClusterTrustBundles are to those who mount them: which of them are meant, and their
// certificates, each once, as one text.
//
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace denselet::managers {

struct TrustBundle {
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  std::string signer = {};                // empty: it has none
  std::vector<std::string> anchors = {};  // their bytes, each once, sorted
};

// Of v1alpha1 and v1beta1, which have the same fields.
Result<TrustBundle> ReadTrustBundle(std::string_view wire);

// The bytes of all blocks of a text in PEM; what is none is passed over.
std::vector<std::string> DecodePem(std::string_view text);

// The certificates of all of them, each once. The order means nothing, so that nobody relies on it:
// it is another one with another seed, as upstream's with another start.
std::string PemOf(const std::vector<const TrustBundle*>& bundles, uint64_t seed);

// By the bytes of a LabelSelector. kInvalid: an operator that there is not.
Result<bool> Selects(const std::string& selector, const std::map<std::string, std::string>& labels);

}  // namespace denselet::managers
