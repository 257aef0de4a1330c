#include "kube/api/codec/yaml_tree.h"

#include <yaml.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/check.h"

namespace denselet::kube {
namespace {

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }

  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }
  uint32_t line() const { return static_cast<uint32_t>(event_.start_mark.line) + 1; }

 private:
  yaml_event_t event_{};
};

std::string ToText(const yaml_char_t* text) {
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

// Owns libyaml's parser for the length of one call.
class TreeReader {
 public:
  TreeReader(std::string_view yaml, YamlTree& tree) : yaml_(yaml), tree_(tree) {
    CHECK(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const yaml_char_t*>(yaml.data()),
                                 yaml.size());
  }
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;
  ~TreeReader() { yaml_parser_delete(&parser_); }

  std::optional<Fault> Read();

 private:
  // All of them false when there is a fault.
  bool Next(Event& event);
  bool ReadDocument();
  void LookForSecond();
  bool ReadChildren(YamlNode& parent, yaml_event_type_t end, int depth);
  bool ReadNode(const Event& event, int depth, YamlNode*& into);
  bool ReadAlias(const Event& event, YamlNode& node);
  void Anchor(const yaml_char_t* name, YamlNode& node);

  bool Fail(uint32_t line, std::string message);
  bool FailAsParser();
  uint32_t LineOfOffset(size_t offset) const;

  const std::string_view yaml_;
  YamlTree& tree_;
  yaml_parser_t parser_{};
  std::map<std::string, YamlNode*, std::less<>> anchors_;
  std::optional<Fault> fault_;
};

bool TreeReader::Fail(uint32_t line, std::string message) {
  fault_ = Fault{.path = "", .line = line, .message = std::move(message)};
  return false;
}

uint32_t TreeReader::LineOfOffset(size_t offset) const {
  const std::string_view before = yaml_.substr(0, std::min(offset, yaml_.size()));
  return static_cast<uint32_t>(std::ranges::count(before, '\n')) + 1;
}

bool TreeReader::FailAsParser() {
  const std::string problem = parser_.problem == nullptr ? "not readable" : parser_.problem;
  // Of bytes that are no text libyaml tells where they stand, not in which line.
  const uint32_t line = parser_.error == YAML_READER_ERROR
                            ? LineOfOffset(parser_.problem_offset)
                            : static_cast<uint32_t>(parser_.problem_mark.line) + 1;
  return Fail(line, "not valid YAML: " + problem);
}

bool TreeReader::Next(Event& event) {
  return yaml_parser_parse(&parser_, event.get()) == 1 || FailAsParser();
}

void TreeReader::Anchor(const yaml_char_t* name, YamlNode& node) {
  // A name that is given again means the new node from here on.
  if (name != nullptr) anchors_[ToText(name)] = &node;
}

bool TreeReader::ReadAlias(const Event& event, YamlNode& node) {
  node.value = ToText(event->data.alias.anchor);
  const auto target = anchors_.find(node.value);
  if (target == anchors_.end()) {
    return Fail(node.line, "unknown anchor '" + node.value + "' referenced");
  }
  node.target = target->second;
  return true;
}

bool TreeReader::ReadChildren(YamlNode& parent, yaml_event_type_t end, int depth) {
  if (depth == kYamlDepthMax) {
    return Fail(parent.line,
                "nested too deeply: more than " + std::to_string(kYamlDepthMax) + " levels");
  }
  while (true) {
    Event event;
    if (!Next(event)) return false;
    if (event->type == end) return true;
    YamlNode* child = nullptr;
    if (!ReadNode(event, depth + 1, child)) return false;
    parent.children.push_back(child);
  }
}

bool TreeReader::ReadNode(const Event& event, int depth, YamlNode*& into) {
  YamlNode& node = tree_.nodes.emplace_back();
  into = &node;
  node.line = event.line();
  if (event->type == YAML_ALIAS_EVENT) {
    node.kind = YamlNode::Kind::kAlias;
    return ReadAlias(event, node);
  }
  if (event->type == YAML_SEQUENCE_START_EVENT) {
    node.kind = YamlNode::Kind::kSequence;
    Anchor(event->data.sequence_start.anchor, node);
    return ReadChildren(node, YAML_SEQUENCE_END_EVENT, depth);
  }
  if (event->type == YAML_MAPPING_START_EVENT) {
    node.kind = YamlNode::Kind::kMapping;
    Anchor(event->data.mapping_start.anchor, node);
    return ReadChildren(node, YAML_MAPPING_END_EVENT, depth);
  }
  CHECK(event->type == YAML_SCALAR_EVENT);
  const auto& scalar = event->data.scalar;
  node.implicit = scalar.plain_implicit != 0;
  node.tag = ToText(scalar.tag);
  node.value.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
  Anchor(scalar.anchor, node);
  return true;
}

bool TreeReader::ReadDocument() {
  Event stream, document, root, end;
  if (!Next(stream) || !Next(document)) return false;
  if (document->type == YAML_STREAM_END_EVENT) return true;
  // The end is waited for: it stands behind what could still be a fault of the document.
  if (!Next(root) || !ReadNode(root, 0, tree_.root) || !Next(end)) return false;
  LookForSecond();
  return true;
}

// What is wrong behind the first document is no fault of it.
void TreeReader::LookForSecond() {
  Event document, root;
  if (Next(document)) {
    if (document->type == YAML_STREAM_END_EVENT) return;
    const bool readable = Next(root);
    const bool empty = readable && root->type == YAML_SCALAR_EVENT &&
                       root->data.scalar.length == 0 && root->data.scalar.plain_implicit != 0;
    if (!empty) tree_.second_line = document.line();
  } else {
    tree_.second_line = fault_->line;
  }
  fault_.reset();
}

std::optional<Fault> TreeReader::Read() {
  ReadDocument();
  return std::move(fault_);
}

}  // namespace

std::optional<Fault> ReadYamlTree(std::string_view yaml, YamlTree& into) {
  return TreeReader(yaml, into).Read();
}

}  // namespace denselet::kube
