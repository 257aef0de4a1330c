#include "app/config/validate.h"

#include <algorithm>

#include "app/config/path_text.h"
#include "app/config/tls_names.h"
#include "app/config/validate_parts.h"
#include "app/version.h"
#include "base/time.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

constexpr int64_t kIdsPerPodUnit = 65536;
constexpr int64_t kIdsPerPodMax = 4'294'967'295;

// The release before the one we stand in for: "1.35".
std::string PreviousMinor() {
  const std::string_view version = kKubernetesVersion;
  const size_t dot = version.find('.');
  const std::string minor(version.substr(dot + 1, version.find('.', dot + 1) - dot - 1));
  return std::string(version.substr(1, dot)) + std::to_string(std::stoi(minor) - 1);
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The scheme of a URL, in small letters; nothing where there is none.
std::string SchemeOf(std::string_view endpoint) {
  const size_t colon = endpoint.find(':');
  std::string scheme(endpoint.substr(0, colon == endpoint.npos ? 0 : colon));
  std::ranges::transform(scheme, scheme.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return scheme;
}

// None at all is good too.
bool HasGoodPort(std::string_view endpoint) {
  if (const size_t slashes = endpoint.find("//"); slashes != endpoint.npos) {
    endpoint.remove_prefix(slashes + 2);
  }
  const std::string_view host = endpoint.substr(0, endpoint.find('/'));
  const size_t colon = host.rfind(':');
  if (colon == host.npos || host.find(']', colon) != host.npos) return true;
  return host.find_first_not_of("0123456789", colon + 1) == host.npos;
}

}  // namespace

std::string InQuotes(std::string_view text) {
  constexpr size_t kShownBytesMax = 200;
  const bool cut = text.size() > kShownBytesMax;
  return '"' + std::string(text.substr(0, kShownBytesMax)) + (cut ? "...\"" : "\"");
}

void ConfigRules::Add(std::string path, std::string message) {
  faults_.push_back({.path = std::move(path), .line = 0, .message = std::move(message)});
}

void ConfigRules::Wanted(std::string path, const std::string& found, std::string_view wanted) {
  std::string message = Found(path, found) + ", wanted " + std::string(wanted);
  Add(std::move(path), std::move(message));
}

std::string ConfigRules::Found(const std::string& path, const std::string& value) const {
  const bool is_default = origins_ != nullptr && origins_->Of(path).kind == Origin::Kind::kDefault;
  return "found " + value + (is_default ? " (the default)" : "");
}

void ConfigRules::InRange(std::string path, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return;
  Wanted(std::move(path), std::to_string(value),
         std::to_string(least) + " to " + std::to_string(most));
}

void ConfigRules::NotNegative(std::string path, int64_t value) {
  if (value < 0) Wanted(std::move(path), std::to_string(value), "0 or more");
}

void ConfigRules::OneOf(std::string path, const std::string& value, Words allowed) {
  if (std::ranges::find(allowed, value) != allowed.end()) return;
  std::string list;
  for (const std::string_view word : allowed) {
    if (!list.empty()) list += word == *std::prev(allowed.end()) ? " or " : ", ";
    list += InQuotes(word);
  }
  Wanted(std::move(path), InQuotes(value), list);
}

void ConfigRules::NeedsGate(std::string path, const std::string& found, std::string_view gate) {
  if (gates_.Enabled(gate)) return;
  std::string message =
      Found(path, found) + ", which needs the feature gate " + std::string(gate) + " to be on";
  Add(std::move(path), std::move(message));
}

void ConfigRules::Numbers() {
  InRange("port", config_.port(), 1, 65535);
  InRange("readOnlyPort", config_.readonlyport(), 0, 65535);
  InRange("healthzPort", config_.healthzport(), 0, 65535);
  if (config_.nodeleasedurationseconds() <= 0) {
    Wanted("nodeLeaseDurationSeconds", std::to_string(config_.nodeleasedurationseconds()),
           "more than 0");
  }
  if (config_.nodestatusmaximages() < -1) {
    Wanted("nodeStatusMaxImages", std::to_string(config_.nodestatusmaximages()), "-1 or more");
  }
  NotNegative("eventRecordQPS", config_.eventrecordqps());
  NotNegative("eventBurst", config_.eventburst());
  NotNegative("kubeAPIQPS", config_.kubeapiqps());
  NotNegative("kubeAPIBurst", config_.kubeapiburst());
  NotNegative("registryPullQPS", config_.registrypullqps());
  NotNegative("registryBurst", config_.registryburst());
  NotNegative("maxPods", config_.maxpods());
  NotNegative("podsPerCore", config_.podspercore());
  NotNegative("maxOpenFiles", config_.maxopenfiles());
  InRange("oomScoreAdj", config_.oomscoreadj(), -1000, 1000);
  InRange("iptablesMasqueradeBit", config_.iptablesmasqueradebit(), 0, 31);
  InRange("iptablesDropBit", config_.iptablesdropbit(), 0, 31);

  const Duration quota_period(config_.cpucfsquotaperiod().duration());
  if (!gates_.Enabled("CustomCPUCFSQuotaPeriod")) {
    if (quota_period != Milliseconds(100)) {
      NeedsGate("cpuCFSQuotaPeriod", FormatDuration(quota_period), "CustomCPUCFSQuotaPeriod");
    }
  } else if (quota_period < Milliseconds(1) || quota_period > Seconds(1)) {
    Wanted("cpuCFSQuotaPeriod", FormatDuration(quota_period), "1ms to 1s");
  }
  if (const Duration sync(config_.syncfrequency().duration()); sync <= Duration::zero()) {
    Wanted("syncFrequency", FormatDuration(sync), "more than 0s");
  }
  const double factor = config_.memorythrottlingfactor();
  if (config_.has_memorythrottlingfactor() && !(factor > 0 && factor <= 1)) {
    Wanted("memoryThrottlingFactor", std::to_string(factor), "more than 0 and at most 1");
  }
  const int64_t ids = config_.usernamespaces().idsperpod();
  if (config_.usernamespaces().has_idsperpod() &&
      (ids < kIdsPerPodUnit || ids % kIdsPerPodUnit != 0 || ids > kIdsPerPodMax)) {
    Wanted("userNamespaces.idsPerPod", std::to_string(ids),
           "a multiple of 65536, from 65536 to 4294967295");
  }
}

void ConfigRules::Server() {
  OneOf("authorization.mode", config_.authorization().mode(), {"AlwaysAllow", "Webhook"});
  for (int i = 0; i < config_.tlsciphersuites_size(); ++i) {
    if (IsCipherSuite(config_.tlsciphersuites(i))) continue;
    Wanted("tlsCipherSuites[" + std::to_string(i) + "]", InQuotes(config_.tlsciphersuites(i)),
           "one of " + CipherSuiteList());
  }
  if (!config_.tlsminversion().empty()) {
    OneOf("tlsMinVersion", config_.tlsminversion(),
          {"VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"});
  }
  for (int i = 0; i < config_.tlscurvepreferences_size(); ++i) {
    const int32_t curve = config_.tlscurvepreferences(i);
    const std::string path = "tlsCurvePreferences[" + std::to_string(i) + "]";
    const auto begin = config_.tlscurvepreferences().begin();
    if (!IsCurve(curve)) {
      Wanted(path, std::to_string(curve), "one of " + CurveList());
    } else if (std::find(begin, begin + i, curve) != begin + i) {
      Wanted(path, std::to_string(curve) + " a second time", "each curve once");
    }
  }
  if (config_.servertlsbootstrap()) {
    NeedsGate("serverTLSBootstrap", "true", "RotateKubeletServerCertificate");
  }
  if (config_.enablesystemlogquery()) {
    NeedsGate("enableSystemLogQuery", "true", "NodeLogQuery");
    if (!config_.enablesystemloghandler()) {
      Wanted("enableSystemLogQuery", "true", "enableSystemLogHandler to be true with it");
    }
  }
}

void ConfigRules::WebhookAccess() {
  const auto refuse = [&](const std::string& path, const std::string& found, const char* wanted) {
    Add(path, Found(path, found) + " without --kubeconfig, wanted " + wanted);
  };
  if (config_.authentication().webhook().enabled()) {
    refuse("authentication.webhook.enabled", "true", "false");
  }
  if (config_.authorization().mode() == "Webhook") {
    refuse("authorization.mode", "\"Webhook\"", "\"AlwaysAllow\"");
  }
}

void ConfigRules::Names() {
  OneOf("hairpinMode", config_.hairpinmode(), {"promiscuous-bridge", "hairpin-veth", "none"});
  OneOf("configMapAndSecretChangeDetectionStrategy",
        config_.configmapandsecretchangedetectionstrategy(), {"Get", "Cache", "Watch"});
  OneOf("memoryReservationPolicy", config_.memoryreservationpolicy(),
        {"None", "TieredReservation"});
  if (config_.memoryreservationpolicy() == "TieredReservation") {
    NeedsGate("memoryReservationPolicy", "\"TieredReservation\"", "MemoryQoS");
  }
  const std::string& swap = config_.memoryswap().swapbehavior();
  if (gates_.Enabled("NodeSwap")) {
    OneOf("memorySwap.swapBehavior", swap, {"", "NoSwap", "LimitedSwap"});
  } else if (!swap.empty()) {
    NeedsGate("memorySwap.swapBehavior", InQuotes(swap), "NodeSwap");
  }
  if (config_.runonce()) Wanted("runOnce", "true", "false: the mode was removed");
  const std::string& hidden = config_.showhiddenmetricsforversion();
  if (!hidden.empty() && hidden != PreviousMinor()) {
    Wanted("showHiddenMetricsForVersion", InQuotes(hidden),
           InQuotes(PreviousMinor()) + " or nothing");
  }
  const std::string& logs = config_.podlogsdir();
  if (!IsAbsolute(logs) || CleanPath(logs) != logs || !IsAscii(logs)) {
    Wanted("podLogsDir", InQuotes(logs),
           "an absolute path without \"//\", \".\" and \"..\", of ASCII characters");
  }
  if (!config_.systemcgroups().empty() && config_.cgrouproot().empty()) {
    Add("systemCgroups",
        "found " + InQuotes(config_.systemcgroups()) + ", which needs cgroupRoot to be set");
  }
  Tracing();
}

void ConfigRules::Tracing() {
  const std::string& endpoint = config_.tracing().endpoint();
  const bool has_scheme = endpoint.find("//") != endpoint.npos;
  const std::string scheme = has_scheme ? SchemeOf(endpoint) : "dns";
  if (scheme != "dns" && scheme != "unix" && scheme != "unix-abstract") {
    Wanted("tracing.endpoint", InQuotes(endpoint),
           "no scheme, or one of dns://, unix:// and unix-abstract://");
  } else if (!HasGoodPort(endpoint)) {
    Wanted("tracing.endpoint", InQuotes(endpoint), "a number behind the colon");
  }
  InRange("tracing.samplingRatePerMillion", config_.tracing().samplingratepermillion(), 0,
          1'000'000);
}

std::vector<kube::Fault> ValidateConfig(const kube::config::KubeletConfiguration& config,
                                        const FeatureGates& gates, ApiAccess api,
                                        const Origins* origins) {
  ConfigRules rules(config, gates, origins);
  rules.Numbers();
  rules.Server();
  rules.Names();
  rules.Images();
  rules.Endpoints();
  rules.Logs();
  rules.Shutdown();
  rules.NodeAllocatable();
  rules.ReservedMemory();
  rules.Taints();
  rules.Sysctls();
  rules.Managers();
  rules.Eviction();
  if (api == ApiAccess::kNone) rules.WebhookAccess();
  return rules.TakeFaults();
}

std::vector<std::string> ConfigWarnings(const kube::config::KubeletConfiguration& config) {
  std::vector<std::string> warnings;
  const std::string& reserved = config.kubereservedcgroup();
  if (!config.kubeletcgroups().empty() && !reserved.empty() &&
      !config.kubeletcgroups().starts_with(reserved)) {
    warnings.push_back("kubeletCgroups " + InQuotes(config.kubeletcgroups()) +
                       " is not within kubeReservedCgroup " + InQuotes(reserved));
  }
  if (config.tlsminversion() == "VersionTLS13" && config.tlsciphersuites_size() > 0) {
    warnings.push_back("tlsCipherSuites has no effect with tlsMinVersion VersionTLS13");
  }
  for (const std::string& suite : config.tlsciphersuites()) {
    if (IsInsecureCipherSuite(suite)) {
      warnings.push_back("tlsCipherSuites: " + suite + " is insecure");
    }
  }
  return warnings;
}

}  // namespace denselet::app
