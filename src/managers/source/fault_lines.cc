#include "managers/source/fault_lines.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "kube/api/codec/json_source.h"
#include "kube/api/codec/yaml.h"
#include "managers/source/manifest.h"

namespace denselet::managers {
namespace {

using kube::JsonSource;

// Takes "a", "[a]" or ".a" off the front of a path.
std::string_view NextStep(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  if (path.starts_with('[')) {
    const size_t end = std::min(path.find(']'), path.size());
    const std::string_view step = path.substr(1, end - 1);
    path.remove_prefix(std::min(end + 1, path.size()));
    return step;
  }
  const size_t end = std::min(path.find_first_of(".["), path.size());
  const std::string_view step = path.substr(0, end);
  path.remove_prefix(end);
  return step;
}

struct Place {
  yyjson_val* value = nullptr;
  const char* at = nullptr;  // null: the value does not tell
};

// Objects and lists tell by what stands first in them.
const char* FirstPlace(yyjson_val* value) {
  while (value != nullptr) {
    if (const char* place = kube::PlaceOf(value)) return place;
    if (yyjson_is_obj(value)) {
      yyjson_obj_iter entries = yyjson_obj_iter_with(value);
      yyjson_val* key = yyjson_obj_iter_next(&entries);
      return key == nullptr ? nullptr : yyjson_get_str(key);
    }
    value = yyjson_is_arr(value) ? yyjson_arr_get_first(value) : nullptr;
  }
  return nullptr;
}

Place Step(yyjson_val* from, std::string_view step) {
  if (yyjson_is_obj(from)) {
    Place found;
    yyjson_obj_iter entries = yyjson_obj_iter_with(from);
    // Of a key that comes twice the last one counts.
    while (yyjson_val* key = yyjson_obj_iter_next(&entries)) {
      if (kube::TextOf(key) == step) found = {yyjson_obj_iter_get_val(key), yyjson_get_str(key)};
    }
    return found;
  }
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.begin(), step.end(), index);
  if (!yyjson_is_arr(from) || error != std::errc() || end != step.end()) return {};
  yyjson_val* value = yyjson_arr_get(from, index);
  return {value, FirstPlace(value)};
}

uint32_t LineOf(const JsonSource& source, yyjson_val* value, std::string_view path) {
  uint32_t line = 0;
  while (!path.empty()) {
    const Place place = Step(value, NextStep(path));
    if (place.value == nullptr) break;
    if (place.at != nullptr) line = source.LineOf(place.at);
    value = place.value;
  }
  return line;
}

void FindIn(const JsonSource& source, std::optional<size_t> list_item,
            std::vector<kube::Fault>& faults) {
  yyjson_val* pod = source.root();
  if (pod != nullptr && list_item) {
    pod = yyjson_arr_get(Step(pod, "items").value, *list_item);
  }
  if (pod == nullptr) return;
  for (kube::Fault& fault : faults) {
    if (fault.line == 0 && !fault.path.empty()) fault.line = LineOf(source, pod, fault.path);
  }
}

}  // namespace

void FindLines(std::string_view text, std::optional<size_t> list_item,
               std::vector<kube::Fault>& faults) {
  if (LooksLikeJson(text)) return FindIn(JsonSource(text), list_item, faults);
  const kube::YamlResult yaml = kube::YamlToJson(text);
  if (!yaml.faults.empty()) return;
  FindIn(JsonSource(yaml.text.json, &yaml.text), list_item, faults);
}

}  // namespace denselet::managers
