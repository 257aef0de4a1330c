#include "bench/cri_sim/settings_json.h"

#include <charconv>
#include <functional>
#include <map>

#include "bench/cri_sim/call.h"
#include "bench/cri_sim/command_check.h"
#include "bench/cri_sim/images.h"
#include "bench/cri_sim/json.h"
#include "kube/api/codec/yaml.h"

namespace denselet::cri_sim {
namespace {

using Setter = std::function<Status(const Json&)>;

Error Wrong(std::string_view what, const Json& value) {
  return Error(ErrorCode::kInvalid, "not " + std::string(what) + ": " + value.ToText());
}

Setter SetBool(bool& into) {
  return [&into](const Json& value) -> Status {
    if (!value.is_bool()) return Wrong("true or false", value);
    into = value.Bool(false);
    return Ok();
  };
}
Setter SetCount(uint64_t& into) {
  return [&into](const Json& value) -> Status {
    if (!value.is_number() || value.Number() < 0) return Wrong("a count", value);
    into = value.Count();
    return Ok();
  };
}
Setter SetProbability(double& into) {
  return [&into](const Json& value) -> Status {
    const double p = value.Number(-1);
    if (p < 0 || p > 1) return Wrong("a probability", value);
    into = p;
    return Ok();
  };
}
Setter SetText(std::string& into) {
  return [&into](const Json& value) -> Status {
    if (!value.is_text()) return Wrong("a text", value);
    into = value.Text();
    return Ok();
  };
}
Setter SetLatency(Latency& into) {
  return [&into](const Json& value) -> Status {
    if (!value.is_text()) return Wrong("a latency in quotes, with its unit", value);
    const Result<Latency> latency = ParseLatency(value.Text());
    if (!latency) return latency.error();
    into = *latency;
    return Ok();
  };
}

Status Apply(const Json& json, const std::map<std::string, Setter>& setters) {
  if (!json.is_object()) return Wrong("an object", json);
  return json.ForEachMember([&](const std::string& key, const Json& value) -> Status {
    const auto setter = setters.find(key);
    if (setter == setters.end()) return Error(ErrorCode::kInvalid, "unknown key \"" + key + "\"");
    const Status set = setter->second(value);
    return set ? Ok() : Status(set.error().With(key));
  });
}

Setter SetSide(Side& into) {
  return [&into](const Json& value) -> Status {
    if (value.Text() != "before" && value.Text() != "after") return Wrong("before or after", value);
    into = value.Text() == "after" ? Side::kAfter : Side::kBefore;
    return Ok();
  };
}

Status ApplyError(const Json& json, MethodFaults& faults) {
  return Apply(json, {{"probability", SetProbability(faults.error.probability)},
                      {"count", SetCount(faults.error.count)},
                      {"message", SetText(faults.error_message)},
                      {"side", SetSide(faults.error_side)},
                      {"code", [&](const Json& value) -> Status {
                         const int code = RpcCodeByName(value.Text());
                         if (code <= 0) return Wrong("an error code of gRPC", value);
                         faults.error_code = code;
                         return Ok();
                       }}});
}

Status ApplyMethod(const Json& json, MethodFaults& faults) {
  return Apply(json, {{"latency", SetLatency(faults.latency)},
                      {"answerLatency", SetLatency(faults.answer_latency)},
                      {"unimplemented", SetBool(faults.unimplemented)},
                      {"error", [&](const Json& value) { return ApplyError(value, faults); }},
                      {"hang", [&](const Json& value) {
                         return Apply(value,
                                      {{"probability", SetProbability(faults.hang.probability)},
                                       {"count", SetCount(faults.hang.count)},
                                       {"side", SetSide(faults.hang_side)}});
                       }}});
}

Status ApplyEvents(const Json& json, EventFaults& events) {
  return Apply(json, {{"enabled", SetBool(events.enabled)},
                      {"lose", SetProbability(events.lose)},
                      {"duplicate", SetProbability(events.duplicate)},
                      {"reorder", SetProbability(events.reorder)},
                      {"late", SetProbability(events.late)},
                      {"lateness", SetLatency(events.lateness)}});
}

Status ApplyImages(const Json& json, Settings& settings) {
  return Apply(json, {{"size", SetCount(settings.image_size)},
                      {"bandwidth", SetCount(settings.image_bandwidth)},
                      {"present", SetBool(settings.images_present)},
                      {"sizes",
                       [&](const Json& sizes) {
                         return sizes.ForEachMember([&](const std::string& name, const Json& size) {
                           return SetCount(settings.image_sizes[NormalizeImage(name)])(size);
                         });
                       }},
                      {"users", [&](const Json& users) {
                         return users.ForEachMember([&](const std::string& name, const Json& user) {
                           RegistryUser& into = settings.image_users[NormalizeImage(name)];
                           return Apply(user, {{"name", SetText(into.name)},
                                               {"password", SetText(into.password)}});
                         });
                       }}});
}

Status ApplyExec(const Json& json, Settings& settings) {
  settings.exec.clear();
  return json.ForEachItem([&](const Json& item) {
    ExecRule& rule = settings.exec.emplace_back();
    return Apply(item, {{"match", SetText(rule.match)},
                        {"pod", SetText(rule.pod)},
                        {"container", SetText(rule.container)},
                        {"script", SetText(rule.script)},
                        {"stdout", SetText(rule.output)},
                        {"stderr", SetText(rule.error_output)}});
  });
}

Status ApplyAll(const Json& json, Settings& settings, std::vector<TimedCommand>* commands) {
  std::map<std::string, Setter> setters = {
      {"randomOrder", SetBool(settings.random_order)},
      {"streamingLists", SetBool(settings.streaming_lists)},
      {"runtimeReady", SetBool(settings.runtime_ready)},
      {"networkReady", SetBool(settings.network_ready)},
      {"recursiveReadOnly", SetBool(settings.recursive_read_only)},
      {"events", [&](const Json& value) { return ApplyEvents(value, settings.events); }},
      {"images", [&](const Json& value) { return ApplyImages(value, settings); }},
      {"exec", [&](const Json& value) { return ApplyExec(value, settings); }},
      {"methods", [&](const Json& methods) {
         return methods.ForEachMember([&](const std::string& name, const Json& value) {
           // An empty object takes the faults of a method away.
           if (!IsMethodName(name)) {
             return Status(Error(ErrorCode::kInvalid, "no method \"" + name + "\" in CRI"));
           }
           if (value.is_object() && value.size() == 0) {
             settings.methods.erase(name);
             return Ok();
           }
           return ApplyMethod(value, settings.methods[name]);
         });
       }}};
  if (commands != nullptr) {
    setters["at"] = [commands](const Json& list) {
      return list.ForEachItem([&](const Json& item) -> Status {
        const Result<Duration> at = ParseDuration(item["after"].Text());
        if (!at) return Wrong("a duration", item["after"]).With("after");
        if (Status known = CheckCommand(item); !known) return known;
        commands->push_back({*at, item.ToText()});
        return Ok();
      });
    };
  }
  return Apply(json, setters);
}

}  // namespace

std::string JsonQuote(std::string_view text) {
  yyjson_mut_doc* const doc = yyjson_mut_doc_new(nullptr);
  yyjson_mut_val* const value = yyjson_mut_strn(doc, text.data(), text.size());
  char* const written = yyjson_mut_val_write(value, YYJSON_WRITE_ALLOW_INVALID_UNICODE, nullptr);
  std::string out = written == nullptr ? "\"\"" : written;
  free(written);
  yyjson_mut_doc_free(doc);
  return out;
}

Result<Latency> ParseLatency(std::string_view text) {
  const Error wrong(ErrorCode::kInvalid, "not a latency: \"" + std::string(text) +
                                             "\" (5ms, uniform 1ms 10ms, lognormal 5ms 0.5)");
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto time = [&](size_t i) { return ParseDuration(words[i]); };
  Latency latency;
  if (words.size() == 1 && time(0)) {
    latency = {Latency::Kind::kFixed, *time(0), {}, 0};
  } else if (words.size() == 3 && words[0] == "uniform" && time(1) && time(2)) {
    latency = {Latency::Kind::kUniform, *time(1), *time(2), 0};
    if (latency.high < latency.low) return wrong;
  } else if (words.size() == 3 && words[0] == "lognormal" && time(1)) {
    latency = {Latency::Kind::kLognormal, *time(1), {}, 0};
    const char* const end = words[2].data() + words[2].size();
    const auto [at, error] = std::from_chars(words[2].data(), end, latency.sigma);
    if (error != std::errc() || at != end || !(latency.sigma >= 0)) return wrong;
  } else {
    return wrong;
  }
  if (latency.low < Duration::zero()) return wrong;
  return latency;
}

Status ApplySettings(std::string_view json, Settings& settings) {
  const Result<Json> parsed = Json::Parse(json);
  if (!parsed) return parsed.error();
  return ApplySettings(*parsed, settings);
}

Status ApplySettings(const Json& json, Settings& settings) {
  Settings changed = settings;
  if (Status applied = ApplyAll(json, changed, nullptr); !applied) return applied;
  settings = std::move(changed);
  return Ok();
}

Result<Scenario> ParseScenario(std::string_view yaml, const std::string& name) {
  const auto wrong = [&name](uint32_t line, const std::string& what) {
    return Error(ErrorCode::kInvalid, name + ":" + std::to_string(line) + ": " + what);
  };
  const kube::YamlResult text = kube::YamlToJson(yaml);
  if (!text.faults.empty()) {
    return wrong(text.faults[0].line, text.faults[0].message);
  }
  if (text.second_line != 0) {
    return wrong(text.second_line, "a second document; a scenario is one");
  }
  const Result<Json> parsed = Json::Parse(text.text.json);
  if (!parsed) return wrong(1, parsed.error().message());
  Scenario scenario;
  if (!parsed->exists()) return scenario;
  if (Status applied = ApplyAll(*parsed, scenario.settings, &scenario.commands); !applied) {
    return wrong(text.text.LineAt(parsed->fault_offset().value_or(0)), applied.error().message());
  }
  return scenario;
}

}  // namespace denselet::cri_sim
