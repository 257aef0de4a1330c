// A document of YAML as a tree: what libyaml's events say, before anybody asks what the scalars
// mean. For the YAML part of the codec alone.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/fault.h"

namespace denselet::kube {

// Collections in collections, aliases followed. The Go library allows ten thousand; nothing that
// people write comes near either.
inline constexpr int kYamlDepthMax = 1000;

struct YamlNode {
  enum class Kind : uint8_t { kScalar, kSequence, kMapping, kAlias };

  Kind kind = Kind::kScalar;
  bool implicit = false;            // a scalar without quotes and without a tag
  bool entered = false;             // an alias that is being followed right now
  uint32_t line = 0;                // from 1
  std::string tag;                  // of a scalar; empty where there is none
  std::string value;                // of a scalar; of an alias its name
  YamlNode* target = nullptr;       // of an alias
  std::vector<YamlNode*> children;  // of a mapping: key, value, key, value ...
};

struct YamlTree {
  std::deque<YamlNode> nodes;  // a deque: nodes point to each other
  YamlNode* root = nullptr;    // null: there is no document
  uint32_t second_line = 0;  // where a second document with anything in it begins; 0: there is none
};

// The first document; of what stands behind it only whether it is there.
std::optional<Fault> ReadYamlTree(std::string_view yaml, YamlTree& into);

}  // namespace denselet::kube
