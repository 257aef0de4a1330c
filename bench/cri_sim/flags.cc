#include "bench/cri_sim/flags.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include "bench/cri_sim/json.h"
#include "bench/cri_sim/settings_json.h"

namespace denselet::cri_sim {

const char kUsage[] =
    "cri_sim --socket PATH [--name=value ...]   a simulated container runtime; see "
    "bench/README.md\n"
    "cri_sim --ask CONTROL_SOCKET COMMAND       sends a command (JSON), prints the answer\n"
    "  --control PATH            control socket\n"
    "  --scenario FILE           settings and timed commands, YAML or JSON\n"
    "  --set JSON                settings, after the scenario's; may come again\n"
    "  --latency METHOD=DIST     5ms | uniform 1ms 10ms | lognormal 5ms 0.5; METHOD * for all\n"
    "  --error METHOD=CODE:P     fails with probability P\n"
    "  --hang METHOD=COUNT       the next COUNT calls hang until released\n"
    "  --no-events               GetContainerEvents is not implemented\n"
    "  --random-order            lists in random order\n"
    "  --images-present          every image is there without a pull\n"
    "  --image-bandwidth BYTES   a second; --image-size BYTES of an image\n"
    "  --ports 80,8080           served by the responder from the start\n"
    "  --no-declared-ports       ports that pods declare are not served\n"
    "  --image-folder PATH       mount point told by ImageFsInfo (the socket's folder)\n"
    "  --cgroup-driver NAME      cgroupfs or systemd\n"
    "  --runtime-name NAME       told by Version\n"
    "  --message-bytes-max N     both ways, 1 or more (16777216)\n"
    "  --populate PODSxCONTAINERS  pods that are there from the start\n"
    "  --seed N\n";

namespace {

using Setter = std::function<Status(const std::string&)>;

constexpr uint64_t kMessageBytesMax = 1 << 30;

Result<uint64_t> ParseCount(const std::string& text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return Error(ErrorCode::kInvalid, "not a number: " + text);
  return value;
}

Result<std::pair<std::string, std::string>> SplitAt(const std::string& text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string::npos) {
    return Error(ErrorCode::kInvalid, "no '" + std::string(1, separator) + "' in " + text);
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Result<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Error(ErrorCode::kIo, "could not read " + path + ": it is a directory");
  }
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) return Error(ErrorCode::kIo, "could not read " + path);
  if (text.empty()) return Error(ErrorCode::kInvalid, path + " is empty");
  return text;
}

// {"methods":{METHOD:{KEY:VALUE}}}
Status SetMethod(Settings& settings, const std::string& method, const std::string& key,
                 const std::string& json) {
  return ApplySettings(
      "{\"methods\":{" + JsonQuote(method) + ":{" + JsonQuote(key) + ":" + json + "}}}", settings);
}

Setter Number(uint64_t& into) {
  return [&into](const std::string& value) -> Status {
    const Result<uint64_t> count = ParseCount(value);
    if (!count) return count.error();
    into = *count;
    return Ok();
  };
}
Setter Text(std::string& into) {
  return [&into](const std::string& value) -> Status {
    into = value;
    return Ok();
  };
}

Status AddPorts(const std::string& list, std::vector<uint16_t>& ports) {
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) {
    const Result<uint64_t> port = ParseCount(one);
    if (!port || *port == 0 || *port > 65535) {
      return Error(ErrorCode::kInvalid, "not a port: " + one);
    }
    ports.push_back(static_cast<uint16_t>(*port));
  }
  return Ok();
}

std::map<std::string, Setter> Setters(Flags& flags) {
  HostOptions& host = flags.host;
  Settings& settings = host.settings;
  return {
      {"socket", Text(host.socket)},
      {"control", Text(host.control_socket)},
      {"image-folder", Text(host.identity.image_folder)},
      {"runtime-name", Text(host.identity.runtime_name)},
      {"seed", Number(host.seed)},
      {"image-bandwidth", Number(settings.image_bandwidth)},
      {"image-size", Number(settings.image_size)},
      {"set", [&](const std::string& value) { return ApplySettings(value, settings); }},
      {"ports", [&](const std::string& value) { return AddPorts(value, host.ports); }},
      {"cgroup-driver",
       [&](const std::string& value) -> Status {
         if (value != "cgroupfs" && value != "systemd") {
           return Error(ErrorCode::kInvalid, "neither cgroupfs nor systemd");
         }
         host.identity.cgroupfs = value == "cgroupfs";
         return Ok();
       }},
      {"message-bytes-max",
       [&](const std::string& value) -> Status {
         const Result<uint64_t> count = ParseCount(value);
         if (!count || *count == 0 || *count > kMessageBytesMax) {
           return Error(ErrorCode::kInvalid,
                        "not a size from 1 to " + std::to_string(kMessageBytesMax) + ": " + value);
         }
         host.message_bytes_max = static_cast<int>(*count);
         return Ok();
       }},
      {"scenario",
       [&](const std::string& value) -> Status {
         const Result<std::string> text = ReadFile(value);
         if (!text) return text.error();
         Result<Scenario> scenario = ParseScenario(*text, value);
         if (!scenario) return scenario.error();
         settings = std::move(scenario->settings);
         host.commands = std::move(scenario->commands);
         return Ok();
       }},
      {"latency",
       [&](const std::string& value) -> Status {
         const auto parts = SplitAt(value, '=');
         if (!parts) return parts.error();
         return SetMethod(settings, parts->first, "latency", JsonQuote(parts->second));
       }},
      {"hang",
       [&](const std::string& value) -> Status {
         const auto parts = SplitAt(value, '=');
         if (!parts) return parts.error();
         const Result<uint64_t> count = ParseCount(parts->second);
         if (!count) return count.error();
         return SetMethod(settings, parts->first, "hang", "{\"count\":" + parts->second + "}");
       }},
      {"error",
       [&](const std::string& value) -> Status {
         const auto parts = SplitAt(value, '=');
         if (!parts) return parts.error();
         const auto what = SplitAt(parts->second, ':');
         if (!what) return what.error();
         if (what->second.empty() ||
             what->second.find_first_not_of("0123456789.") != std::string::npos) {
           return Error(ErrorCode::kInvalid, "not a probability: " + what->second);
         }
         return SetMethod(
             settings, parts->first, "error",
             "{\"code\":" + JsonQuote(what->first) + ",\"probability\":" + what->second + "}");
       }},
      {"populate",
       [&](const std::string& value) -> Status {
         const auto parts = SplitAt(value, 'x');
         if (!parts) return parts.error();
         if (Status set = Number(flags.populate_pods)(parts->first); !set) return set;
         return Number(flags.populate_containers)(parts->second);
       }},
  };
}

}  // namespace

Result<Flags> ParseFlags(const std::vector<std::string>& arguments) {
  Flags flags;
  const std::map<std::string, Setter> setters = Setters(flags);
  const std::map<std::string, std::function<void()>> switches = {
      {"help", [&] { flags.help = true; }},
      {"no-events", [&] { flags.host.settings.events.enabled = false; }},
      {"random-order", [&] { flags.host.settings.random_order = true; }},
      {"images-present", [&] { flags.host.settings.images_present = true; }},
      {"no-declared-ports", [&] { flags.host.serve_declared_ports = false; }},
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i];
    if (!name.starts_with("--")) return Error(ErrorCode::kInvalid, "not a flag: " + name);
    name.erase(0, 2);
    if (const auto found = switches.find(name); found != switches.end()) {
      found->second();
      continue;
    }
    std::optional<std::string> value;
    if (const size_t at = name.find('='); at != std::string::npos) {
      value = name.substr(at + 1);
      name.erase(at);
    }
    if (name == "ask") return Error(ErrorCode::kInvalid, "--ask wants a socket and a command");
    const auto setter = setters.find(name);
    if (setter == setters.end()) return Error(ErrorCode::kInvalid, "unknown flag --" + name);
    if (!value && i + 1 < arguments.size()) value = arguments[++i];
    if (!value) return Error(ErrorCode::kInvalid, "no value for --" + name);
    if (Status set = setter->second(*value); !set) return set.error().With("--" + name);
  }
  // Setters refer to `flags`, so it is completed in place and returned last.
  HostOptions& host = flags.host;
  if (host.socket.empty() && !flags.help) return Error(ErrorCode::kInvalid, "--socket is missing");
  if (host.identity.image_folder.empty()) {
    const size_t slash = host.socket.rfind('/');
    host.identity.image_folder =
        slash == std::string::npos || slash == 0 ? "/" : host.socket.substr(0, slash);
  }
  return flags;
}

}  // namespace denselet::cri_sim
