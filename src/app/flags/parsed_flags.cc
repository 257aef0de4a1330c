#include "app/flags/parsed_flags.h"

#include "app/flags/flag_table.h"
#include "app/flags/flag_value.h"
#include "app/version.h"
#include "base/check.h"

namespace denselet::app {
namespace {

const FlagSpec& SpecOf(std::string_view name) {
  const FlagSpec* flag = FindFlag(name);
  CHECK(flag != nullptr && flag->name == name);
  return *flag;
}

template <class T>
T TypedValue(const ParsedFlags& flags, std::string_view name) {
  const auto value = ParseFlagValue(SpecOf(name).type, flags.Text(name));
  CHECK(value && std::holds_alternative<T>(*value));
  return std::get<T>(*value);
}

}  // namespace

bool ParsedFlags::Has(std::string_view name) const { return !Texts(name).empty(); }

std::string ParsedFlags::Text(std::string_view name) const {
  const auto texts = Texts(name);
  return std::string(texts.empty() ? SpecOf(name).default_text : texts.back());
}

std::vector<std::string_view> ParsedFlags::Texts(std::string_view name) const {
  SpecOf(name);
  std::vector<std::string_view> texts;
  for (const FlagUse& use : uses) {
    if (use.name == name) texts.push_back(use.value);
  }
  return texts;
}

bool ParsedFlags::Bool(std::string_view name) const { return TypedValue<bool>(*this, name); }

int64_t ParsedFlags::Int(std::string_view name) const { return TypedValue<int64_t>(*this, name); }

Duration ParsedFlags::Period(std::string_view name) const {
  return TypedValue<Duration>(*this, name);
}

std::map<std::string, std::string> ParsedFlags::NodeLabels() const {
  std::map<std::string, std::string> labels;
  for (const std::string_view text : Texts("node-labels")) {
    const FlagValue parsed = ParseLabels(text);
    for (const auto& [key, value] : std::get<TextPairs>(parsed).pairs) labels[key] = value;
  }
  return labels;
}

std::string ParsedFlags::KubernetesVersion() const {
  std::string version(kKubernetesVersion);
  for (const std::string_view text : Texts("version")) {
    if (text.starts_with('v')) version = text;
  }
  return version;
}

}  // namespace denselet::app
