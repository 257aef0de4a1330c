#include "kube/api/codec/yaml.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "kube/api/codec/json_string.h"
#include "kube/api/codec/yaml_scalar.h"
#include "kube/api/codec/yaml_tree.h"
#include "kube/api/values/float_text.h"

namespace denselet::kube {
namespace {

// Aliases of aliases can make a short document long beyond measure. The bound on how many nodes may
// come from them is the Go library's; the one on bytes is ours, where Go shares what we write out.
constexpr size_t kAliasBytesMax = size_t{32} << 20;

// Keeps the count of what has been looked at, and of how much of that was inside an alias.
class AliasGuard {
 public:
  void Enter() { ++depth_; }
  void Leave() { --depth_; }

  // False: there is too much of it.
  bool Count() {
    ++nodes_;
    if (depth_ > 0) ++nodes_in_alias_;
    if (nodes_in_alias_ <= 100 || nodes_ <= 1000) return true;
    return static_cast<double>(nodes_in_alias_) / static_cast<double>(nodes_) <= ShareMax();
  }
  bool CountBytes(size_t bytes) {
    if (depth_ > 0) bytes_ += bytes;
    return bytes_ <= kAliasBytesMax;
  }

 private:
  // Nearly everything in a small document, a tenth of a very large one.
  double ShareMax() const {
    constexpr double kSmall = 400'000, kLarge = 4'000'000;
    const auto nodes = static_cast<double>(nodes_);
    if (nodes <= kSmall) return 0.99;
    if (nodes >= kLarge) return 0.10;
    return 0.99 - 0.89 * ((nodes - kSmall) / (kLarge - kSmall));
  }

  size_t nodes_ = 1;  // the document
  size_t nodes_in_alias_ = 0;
  size_t bytes_ = 0;
  int depth_ = 0;
};

class JsonMaker {
 public:
  explicit JsonMaker(YamlResult& out) : out_(out) {}

  void Make(YamlTree& tree) {
    if (tree.root == nullptr) {
      Put("null", 1);
    } else {
      Value(*tree.root, 0);
    }
  }

 private:
  // All of them false when there is a fault.
  bool Value(YamlNode& node, int depth);
  bool Scalar(const YamlNode& node);
  bool Sequence(const YamlNode& node, int depth);
  bool Mapping(const YamlNode& node, int depth);
  bool Pairs(const YamlNode& node, int depth, bool& first);
  bool Merge(YamlNode& node, int depth, bool& first);
  bool MergeOne(YamlNode& node, int depth, bool& first);
  bool Key(YamlNode& node, int depth);

  // Calls `with` with the node that the alias means.
  template <class With>
  bool Follow(YamlNode& alias, int depth, With with);
  bool Visit(const YamlNode& node, int depth);

  bool Put(std::string_view json, uint32_t line);
  bool Fail(const YamlNode& node, std::string message);

  YamlResult& out_;
  AliasGuard guard_;
};

bool JsonMaker::Fail(const YamlNode& node, std::string message) {
  out_.faults.push_back(Fault{.path = "", .line = node.line, .message = std::move(message)});
  return false;
}

bool JsonMaker::Put(std::string_view json, uint32_t line) {
  JsonText& text = out_.text;
  if (text.marks.empty() || text.marks.back().line != line) {
    text.marks.push_back({.offset = text.json.size(), .line = line});
  }
  text.json += json;
  return guard_.CountBytes(json.size());
}

bool JsonMaker::Visit(const YamlNode& node, int depth) {
  if (depth > kYamlDepthMax) {
    return Fail(node, "nested too deeply: more than " + std::to_string(kYamlDepthMax) + " levels");
  }
  return guard_.Count() || Fail(node, "document contains excessive aliasing");
}

template <class With>
bool JsonMaker::Follow(YamlNode& alias, int depth, With with) {
  if (!Visit(alias, depth)) return false;
  if (alias.entered) return Fail(alias, "anchor '" + alias.value + "' value contains itself");
  alias.entered = true;
  guard_.Enter();
  const bool ok = with(*alias.target);
  guard_.Leave();
  alias.entered = false;
  return ok;
}

bool JsonMaker::Value(YamlNode& node, int depth) {
  switch (node.kind) {
    case YamlNode::Kind::kAlias:
      return Follow(node, depth, [&](YamlNode& target) { return Value(target, depth); });
    case YamlNode::Kind::kScalar:
      return Visit(node, depth) && Scalar(node);
    case YamlNode::Kind::kSequence:
      return Visit(node, depth) && Sequence(node, depth);
    case YamlNode::Kind::kMapping:
      return Visit(node, depth) && Mapping(node, depth);
  }
  return false;
}

// As JSON; nothing where JSON has no such number.
std::optional<std::string> ToJson(const YamlScalar& scalar) {
  return std::visit(
      [](const auto& value) -> std::optional<std::string> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) return "null";
        if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>) {
          return std::to_string(value);
        }
        if constexpr (std::is_same_v<T, double>) {
          if (!std::isfinite(value)) return std::nullopt;
          return JsonFloatText(value);
        }
        if constexpr (std::is_same_v<T, std::string>) return JsonString(value);
      },
      scalar);
}

// The text that a key becomes; nothing where no text is like it.
std::optional<std::string> ToKey(const YamlScalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar)) return *text;
  if (const auto* truth = std::get_if<bool>(&scalar)) return *truth ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&scalar)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&scalar)) {
    const auto rounded = static_cast<float>(*number);
    if (std::isnan(rounded)) return ".nan";
    if (std::isinf(rounded)) return rounded < 0 ? "-.inf" : ".inf";
    return GoFloatText(rounded);
  }
  return std::nullopt;
}

YamlStyle StyleOf(const YamlNode& node) {
  return node.implicit ? YamlStyle::kPlain : YamlStyle::kQuoted;
}

bool JsonMaker::Scalar(const YamlNode& node) {
  const auto scalar = ResolveYamlScalar(node.tag, StyleOf(node), node.value);
  if (!scalar) return Fail(node, scalar.error().message());
  const auto json = ToJson(*scalar);
  if (!json) return Fail(node, "unsupported value: " + node.value + " is no number of JSON");
  return Put(*json, node.line) || Fail(node, "document contains excessive aliasing");
}

bool JsonMaker::Sequence(const YamlNode& node, int depth) {
  Put("[", node.line);
  bool first = true;
  for (YamlNode* child : node.children) {
    if (!first) out_.text.json += ',';
    first = false;
    if (!Value(*child, depth + 1)) return false;
  }
  out_.text.json += ']';
  return true;
}

bool JsonMaker::Mapping(const YamlNode& node, int depth) {
  Put("{", node.line);
  bool first = true;
  if (!Pairs(node, depth, first)) return false;
  out_.text.json += '}';
  return true;
}

bool IsMergeKey(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && node.value == "<<" &&
         (node.implicit || node.tag == "tag:yaml.org,2002:merge");
}

bool JsonMaker::Pairs(const YamlNode& node, int depth, bool& first) {
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    YamlNode& key = *node.children[i];
    YamlNode& value = *node.children[i + 1];
    if (IsMergeKey(key)) {
      if (!Merge(value, depth, first)) return false;
      continue;
    }
    if (!first) out_.text.json += ',';
    first = false;
    if (!Key(key, depth + 1)) return false;
    out_.text.json += ':';
    if (!Value(value, depth + 1)) return false;
  }
  return true;
}

bool JsonMaker::MergeOne(YamlNode& node, int depth, bool& first) {
  if (node.kind == YamlNode::Kind::kAlias && node.target->kind == YamlNode::Kind::kMapping) {
    return Follow(node, depth, [&](YamlNode& target) { return MergeOne(target, depth, first); });
  }
  if (node.kind != YamlNode::Kind::kMapping) {
    return Fail(node, "map merge requires map or sequence of maps as the value");
  }
  return Visit(node, depth) && Pairs(node, depth + 1, first);
}

// The pairs stand where the merge key stood: who reads them takes the last one of a name, which is
// how the Go library does it.
bool JsonMaker::Merge(YamlNode& node, int depth, bool& first) {
  if (node.kind != YamlNode::Kind::kSequence) return MergeOne(node, depth, first);
  // Earlier ones have precedence, so they come last.
  for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
    if (!MergeOne(**child, depth, first)) return false;
  }
  return true;
}

bool JsonMaker::Key(YamlNode& node, int depth) {
  if (node.kind == YamlNode::Kind::kAlias) {
    return Follow(node, depth, [&](YamlNode& target) { return Key(target, depth); });
  }
  if (!Visit(node, depth)) return false;
  if (node.kind != YamlNode::Kind::kScalar) {
    return Fail(node, "invalid map key: a list or a map");
  }
  const auto scalar = ResolveYamlScalar(node.tag, StyleOf(node), node.value);
  if (!scalar) return Fail(node, scalar.error().message());
  const auto key = ToKey(*scalar);
  if (!key) return Fail(node, "unsupported map key: " + ToJson(*scalar).value_or(node.value));
  return Put(JsonString(*key), node.line) || Fail(node, "document contains excessive aliasing");
}

}  // namespace

uint32_t JsonText::LineAt(size_t offset) const {
  const auto after = std::ranges::upper_bound(marks, offset, {}, &Mark::offset);
  return after == marks.begin() ? 0 : std::prev(after)->line;
}

YamlResult YamlToJson(std::string_view yaml) {
  YamlResult result;
  YamlTree tree;
  if (auto fault = ReadYamlTree(yaml, tree)) {
    result.faults.push_back(std::move(*fault));
    return result;
  }
  result.second_line = tree.second_line;
  JsonMaker(result).Make(tree);
  if (!result.faults.empty()) result.text = {};
  return result;
}

}  // namespace denselet::kube
