#include "app/config/origins.h"

namespace denselet::app {
namespace {

// The path of what it lies in; empty at the top. Keys of maps may hold dots.
std::string_view Outer(std::string_view path) {
  const size_t cut = path.rfind(path.ends_with(']') ? '[' : '.');
  return cut == path.npos ? std::string_view() : path.substr(0, cut);
}

}  // namespace

std::string ToString(const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::kDefault:
      return "default";
    case Origin::Kind::kFlag:
      return "--" + origin.name;
    case Origin::Kind::kFile:
    case Origin::Kind::kDropIn:
      break;
  }
  return origin.line == 0 ? origin.name : origin.name + ":" + std::to_string(origin.line);
}

bool LiesIn(std::string_view path, std::string_view outer) {
  if (!path.starts_with(outer) || path.size() <= outer.size()) return false;
  return outer.empty() || path[outer.size()] == '.' || path[outer.size()] == '[';
}

void Origins::Forget(const std::string& path) {
  for (auto it = by_path_.lower_bound(path); it != by_path_.end() && it->first.starts_with(path);) {
    it = it->first == path || LiesIn(it->first, path) ? by_path_.erase(it) : std::next(it);
  }
}

void Origins::Set(const std::string& path, Origin origin) {
  Forget(path);
  by_path_[path] = std::move(origin);
}

void Origins::Mention(const std::string& path, Origin origin) {
  mentioned_[path] = std::move(origin);
}

const Origin& Origins::Of(std::string_view path) const {
  static const Origin kNone;
  for (; !path.empty(); path = Outer(path)) {
    if (const auto it = by_path_.find(path); it != by_path_.end()) return it->second;
  }
  return kNone;
}

const Origin& Origins::Nearest(std::string_view path) const {
  static const Origin kNone;
  // A field that nobody wrote is a default, whatever stands beside it.
  const bool entry = path.find('[') != path.npos;
  for (bool itself = true; !path.empty(); path = Outer(path), itself = false) {
    if (const auto it = by_path_.find(path); it != by_path_.end()) return it->second;
    const auto around = mentioned_.find(path);
    if ((itself || entry) && around != mentioned_.end()) return around->second;
  }
  return kNone;
}

bool Origins::Touched(const std::string& path) const {
  if (Of(path).kind != Origin::Kind::kDefault) return true;
  for (auto it = by_path_.lower_bound(path); it != by_path_.end() && it->first.starts_with(path);
       ++it) {
    if (LiesIn(it->first, path)) return true;
  }
  return false;
}

}  // namespace denselet::app
