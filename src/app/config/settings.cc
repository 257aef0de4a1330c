#include "app/config/settings.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "app/config/document.h"
#include "app/config/path_text.h"
#include "app/flags/flag_value.h"

namespace denselet::app {
namespace {

using Kind = Document::Value::Kind;
using Reactor = DenseletSettings::Reactor;

// The text of a JSON scalar; what is escaped in it is nothing that any of these may hold.
std::string TextOf(const std::string& json) {
  return json.starts_with('"') ? json.substr(1, json.size() - 2) : json;
}

std::string_view NameOf(Reactor reactor) {
  switch (reactor) {
    case Reactor::kAuto:
      return "auto";
    case Reactor::kUring:
      return "uring";
    case Reactor::kEpoll:
      return "epoll";
  }
  return "auto";
}

// What was wanted in its place; nothing: it was taken.
using Refusal = std::optional<std::string>;

Refusal TakeShards(const std::string& json, DenseletSettings& into) {
  uint32_t shards = 0;
  const char* end = json.data() + json.size();
  const auto [stop, error] = std::from_chars(json.data(), end, shards);
  if (error != std::errc() || stop != end || shards > kShardsMax) {
    return "a number, 0 to " + std::to_string(kShardsMax);
  }
  into.shards = shards;
  return std::nullopt;
}

Refusal TakeReactor(const std::string& json, DenseletSettings& into) {
  for (const Reactor reactor : {Reactor::kAuto, Reactor::kUring, Reactor::kEpoll}) {
    if (TextOf(json) != NameOf(reactor)) continue;
    into.reactor = reactor;
    return std::nullopt;
  }
  return "auto, uring or epoll";
}

Refusal TakePath(const std::string& json, std::string& into) {
  std::string path = TextOf(json);
  if (json == "\"\"") return std::nullopt;  // the default
  const bool plain = json.starts_with('"') && json.find('\\') == json.npos;
  if (!plain || !IsAbsolute(path)) return "an absolute path";
  into = std::move(path);
  return std::nullopt;
}

Refusal TakePeriod(const std::string& json, Duration& into) {
  const auto period = ParseDuration(TextOf(json));
  if (!json.starts_with('"') || !period || *period <= Duration::zero()) {
    return "a duration above 0s, such as 5m or 1s";
  }
  into = *period;
  return std::nullopt;
}

Refusal TakeBool(const std::string& json, bool& into) {
  if (json != "true" && json != "false") return "true or false";
  into = json == "true";
  return std::nullopt;
}

struct Field {
  std::string_view path;
  std::string_view flag;
  Refusal (*take)(const std::string& json, DenseletSettings& into);
  std::string (*show)(const DenseletSettings& settings);
  enum class As : uint8_t { kText, kPlain } as = As::kText;  // JSON without quotes
};

constexpr Field kFields[] = {
    {"shards", "denselet-shards", TakeShards,
     [](const DenseletSettings& s) { return std::to_string(s.shards); }, Field::As::kPlain},
    {"reactor", "denselet-reactor", TakeReactor,
     [](const DenseletSettings& s) { return std::string(NameOf(s.reactor)); }},
    {"journal", "denselet-journal",
     [](const std::string& json, DenseletSettings& s) { return TakePath(json, s.journal); },
     [](const DenseletSettings& s) { return s.journal; }},
    {"socket", "denselet-socket",
     [](const std::string& json, DenseletSettings& s) { return TakePath(json, s.socket); },
     [](const DenseletSettings& s) { return s.socket; }},
    {"containerLogsDir", "denselet-container-logs-dir",
     [](const std::string& json, DenseletSettings& s) {
       return TakePath(json, s.container_logs_dir);
     },
     [](const DenseletSettings& s) { return s.container_logs_dir; }},
    {"pleg.useEvents", "denselet-pleg-use-events",
     [](const std::string& json, DenseletSettings& s) { return TakeBool(json, s.pleg_use_events); },
     [](const DenseletSettings& s) { return std::string(s.pleg_use_events ? "true" : "false"); },
     Field::As::kPlain},
    {"pleg.relistPeriod", "denselet-pleg-relist-period",
     [](const std::string& json, DenseletSettings& s) {
       return TakePeriod(json, s.pleg_relist_period);
     },
     [](const DenseletSettings& s) { return FormatDuration(s.pleg_relist_period); }},
    {"pleg.fallbackRelistPeriod", "denselet-pleg-fallback-relist-period",
     [](const std::string& json, DenseletSettings& s) {
       return TakePeriod(json, s.pleg_fallback_relist_period);
     },
     [](const DenseletSettings& s) { return FormatDuration(s.pleg_fallback_relist_period); }},
};

std::string DescriptionOf(const Document::Value& value) {
  switch (value.kind) {
    case Kind::kList:
      return "a list";
    case Kind::kObject:
      return "an object";
    case Kind::kNull:
    case Kind::kScalar:
      break;
  }
  return value.json;
}

void TakeValue(const Document::Value& value, const Origin& file, LoadedSettings& into) {
  if (value.path == "apiVersion" || value.path == "kind" || value.kind == Kind::kNull) return;
  if (value.path == "pleg" && value.kind == Kind::kObject) return;
  Origin origin = file;
  origin.line = value.line;
  const auto field = std::ranges::find(kFields, value.path, &Field::path);
  const auto refuse = [&](std::string message) {
    into.faults.push_back({.origin = origin, .path = value.path, .message = std::move(message)});
  };
  if (field == std::end(kFields)) {
    if (value.path == "pleg") return refuse("found " + DescriptionOf(value) + ", wanted an object");
    return refuse("unknown field");
  }
  Refusal wanted = value.kind == Kind::kScalar ? field->take(value.json, into.settings)
                                               : Refusal("a single value");
  if (wanted) return refuse("found " + DescriptionOf(value) + ", wanted " + *wanted);
  into.origins.Set(value.path, origin);
}

void TakeFile(std::string_view text, const std::string& name, LoadedSettings& into) {
  const Origin file{.kind = Origin::Kind::kFile, .name = name};
  if (text.empty()) {
    into.faults.push_back({.origin = file, .path = {}, .message = "the file is empty"});
    return;
  }
  const Document document = ReadDocument(text, nullptr);
  WarnOfSecondDocument(document, name, into.warnings);
  for (const auto& fault : document.faults) into.faults.push_back(InFile(fault, file));
  for (const auto& fault : document.twice) into.faults.push_back(InFile(fault, file));
  if (!document.faults.empty()) return;
  const auto check = [&](std::string path, const std::string& found, std::string_view wanted) {
    if (found == wanted) return;
    const Document::Value* value = document.Find(path);
    Origin place = file;
    place.line = value == nullptr ? 0 : value->line;
    into.faults.push_back({.origin = place,
                           .path = std::move(path),
                           .message = "found " + (found.empty() ? "nothing" : '"' + found + '"') +
                                      ", wanted " + std::string(wanted)});
  };
  check("apiVersion", document.type.api_version, kSettingsApiVersion);
  check("kind", document.type.kind, kSettingsKind);
  if (into.faults.size() == document.twice.size()) {
    for (const Document::Value& value : document.values) TakeValue(value, file, into);
  }
}

// Their texts are as the file would have them; numbers stand for themselves.
void TakeFlags(const ParsedFlags& flags, LoadedSettings& into) {
  for (const Field& field : kFields) {
    if (!flags.Has(field.flag)) continue;
    const std::string text = flags.Text(field.flag);
    const Origin origin{.kind = Origin::Kind::kFlag, .name = std::string(field.flag)};
    const std::string json = field.as == Field::As::kPlain ? text : '"' + text + '"';
    if (const Refusal wanted = field.take(json, into.settings)) {
      into.faults.push_back({.origin = origin,
                             .path = std::string(field.path),
                             .message = "found " + json + ", wanted " + *wanted});
    }
    into.origins.Set(std::string(field.path), origin);
  }
}

}  // namespace

std::string_view ReactorName(Reactor reactor) {
  return reactor == Reactor::kAuto ? "" : NameOf(reactor);
}

LoadedSettings LoadSettings(const ParsedFlags& flags, ConfigFiles& files) {
  LoadedSettings loaded;
  loaded.settings.journal = JoinPath(flags.Text("root-dir"), "denselet/journal");
  loaded.settings.socket = JoinPath(flags.Text("root-dir"), "denselet/denselet.sock");
  if (const std::string name = flags.Text("denselet-config"); !name.empty()) {
    const auto text = files.ReadNamed(name);
    if (text) {
      TakeFile(*text, name, loaded);
    } else {
      loaded.faults.push_back({.origin = {}, .path = {}, .message = text.error().message()});
    }
  }
  TakeFlags(flags, loaded);
  return loaded;
}

LoadedSettings LoadSettingsText(std::string_view text, const std::string& name) {
  LoadedSettings loaded;
  TakeFile(text, name, loaded);
  return loaded;
}

std::vector<ShownSetting> LoadedSettings::Shown() const {
  std::vector<ShownSetting> shown;
  for (const Field& field : kFields) {
    shown.push_back({.path = std::string(field.path),
                     .value = field.show(settings),
                     .is_plain = field.as == Field::As::kPlain});
  }
  return shown;
}

}  // namespace denselet::app
