#include "app/config/image_pattern.h"

#include <algorithm>

namespace denselet::app {
namespace {

constexpr size_t kNameBytesMax = 255;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSmallOrDigit(char c) { return (c >= 'a' && c <= 'z') || IsDigit(c); }
bool IsLetterOrDigit(char c) { return IsSmallOrDigit(c) || (c >= 'A' && c <= 'Z'); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Small letters and digits, with ".", "_", "__" or any number of "-" between them.
bool IsPathPart(std::string_view part) {
  if (part.empty() || !IsSmallOrDigit(part.front()) || !IsSmallOrDigit(part.back())) return false;
  while (!part.empty()) {
    const auto word =
        static_cast<size_t>(std::ranges::find_if_not(part, IsSmallOrDigit) - part.begin());
    part.remove_prefix(word);
    const auto between =
        static_cast<size_t>(std::ranges::find_if(part, IsSmallOrDigit) - part.begin());
    const std::string_view separator = part.substr(0, between);
    const bool dashes = separator.find_first_not_of('-') == separator.npos;
    if (!dashes && separator != "." && separator != "_" && separator != "__") return false;
    part.remove_prefix(between);
  }
  return true;
}

bool IsHostName(std::string_view host) {
  while (true) {
    const std::string_view label = host.substr(0, host.find('.'));
    if (label.empty() || label.starts_with('-') || label.ends_with('-')) return false;
    if (!std::ranges::all_of(label, [](char c) { return IsLetterOrDigit(c) || c == '-'; })) {
      return false;
    }
    if (label.size() == host.size()) return true;
    host.remove_prefix(label.size() + 1);
  }
}

bool IsAddress(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']') || text.size() < 3) return false;
  text = text.substr(1, text.size() - 2);
  return text.find_first_not_of("0123456789abcdefABCDEF:") == text.npos;
}

// A name or an address in brackets, and maybe a port.
bool IsRegistry(std::string_view registry) {
  const size_t colon = registry.rfind(':');
  const size_t close = registry.rfind(']');
  if (colon != registry.npos && (close == registry.npos || colon > close)) {
    const std::string_view port = registry.substr(colon + 1);
    if (port.empty() || !std::ranges::all_of(port, IsDigit)) return false;
    registry = registry.substr(0, colon);
  }
  return IsHostName(registry) || IsAddress(registry);
}

bool IsImageName(std::string_view name) {
  if (name.size() > kNameBytesMax) return false;
  bool first = true;
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    const bool last = slash == name.npos;
    if (!IsPathPart(part) && !(first && !last && IsRegistry(part))) return false;
    if (last) return true;
    name.remove_prefix(slash + 1);
    first = false;
  }
}

}  // namespace

bool IsImagePattern(std::string_view pattern) {
  if (pattern.empty() || IsSpace(pattern.front()) || IsSpace(pattern.back())) return false;
  if (!pattern.ends_with("/*")) return IsImageName(pattern);
  pattern.remove_suffix(1);
  return pattern.size() > 1 && pattern.find('*') == pattern.npos;
}

}  // namespace denselet::app
