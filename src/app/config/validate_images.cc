// Rules about images, about how containers are restarted, and about logs.
#include <algorithm>
#include <limits>

#include "app/config/image_pattern.h"
#include "app/config/validate_parts.h"
#include "base/time.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::app {
namespace {

constexpr std::string_view kVerifyGate = "KubeletEnsureSecretPulledImages";

}  // namespace

void ConfigRules::Images() {
  const int32_t high = config_.imagegchighthresholdpercent();
  const int32_t low = config_.imagegclowthresholdpercent();
  InRange("imageGCHighThresholdPercent", high, 0, 100);
  InRange("imageGCLowThresholdPercent", low, 0, 100);
  if (low >= high) {
    Wanted("imageGCLowThresholdPercent", std::to_string(low),
           "less than imageGCHighThresholdPercent, which is " + std::to_string(high));
  }
  const Duration least_age(config_.imageminimumgcage().duration());
  const Duration most_age(config_.imagemaximumgcage().duration());
  if (least_age < Duration::zero()) {
    Wanted("imageMinimumGCAge", FormatDuration(least_age), "0s or more");
  }
  if (most_age != Duration::zero()) {
    NeedsGate("imageMaximumGCAge", FormatDuration(most_age), "ImageMaximumGCAge");
    if (most_age <= least_age) {
      Wanted("imageMaximumGCAge", FormatDuration(most_age),
             "0s, or more than imageMinimumGCAge, which is " + FormatDuration(least_age));
    }
  }
  const int32_t parallel = config_.maxparallelimagepulls();
  if (config_.has_maxparallelimagepulls() && parallel < 1) {
    Wanted("maxParallelImagePulls", std::to_string(parallel), "1 or more");
  }
  if (config_.serializeimagepulls() && parallel > 1) {
    Wanted("maxParallelImagePulls", std::to_string(parallel),
           "1, or serializeImagePulls to be false");
  }
  const std::string& policy = config_.imagepullcredentialsverificationpolicy();
  const auto& allowlist = config_.preloadedimagesverificationallowlist();
  if (!gates_.Enabled(kVerifyGate)) {
    if (!policy.empty()) {
      NeedsGate("imagePullCredentialsVerificationPolicy", InQuotes(policy), kVerifyGate);
    }
    if (!allowlist.empty()) {
      NeedsGate("preloadedImagesVerificationAllowlist", "a list", kVerifyGate);
    }
    return;
  }
  OneOf("imagePullCredentialsVerificationPolicy", policy,
        {"NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages",
         "AlwaysVerify"});
  if (!allowlist.empty() && policy != "NeverVerifyAllowlistedImages") {
    Wanted("preloadedImagesVerificationAllowlist", "a list",
           "none, or imagePullCredentialsVerificationPolicy to be NeverVerifyAllowlistedImages");
    return;
  }
  for (int i = 0; i < allowlist.size(); ++i) {
    if (IsImagePattern(allowlist[i])) continue;
    Wanted("preloadedImagesVerificationAllowlist[" + std::to_string(i) + "]",
           InQuotes(allowlist[i]),
           "an image's name without tag and digest, or the beginning of one and \"/*\"");
  }
}

void ConfigRules::Logs() {
  const std::string& size = config_.containerlogmaxsize();
  if (const auto quantity = kube::Quantity::Parse(size);
      !quantity || *quantity != kube::Quantity::FromUnits(quantity->Units())) {
    Wanted("containerLogMaxSize", InQuotes(size), "a whole number of bytes, such as 10Mi");
  }
  if (config_.containerlogmaxfiles() <= 1) {
    Wanted("containerLogMaxFiles", std::to_string(config_.containerlogmaxfiles()), "2 or more");
  }
  if (config_.containerlogmaxworkers() < 1) {
    Wanted("containerLogMaxWorkers", std::to_string(config_.containerlogmaxworkers()), "1 or more");
  }
  if (const Duration period(config_.containerlogmonitorinterval().duration());
      period < Seconds(3)) {
    Wanted("containerLogMonitorInterval", FormatDuration(period), "3s or more");
  }
  const auto& back_off = config_.crashloopbackoff();
  if (back_off.has_maxcontainerrestartperiod()) {
    const std::string path = "crashLoopBackOff.maxContainerRestartPeriod";
    const Duration period(back_off.maxcontainerrestartperiod().duration());
    if (!gates_.Enabled("KubeletCrashLoopBackOffMax")) {
      NeedsGate(path, FormatDuration(period), "KubeletCrashLoopBackOffMax");
    } else if (period < Seconds(1) || period >= Seconds(300) + Milliseconds(1)) {
      Wanted(path, FormatDuration(period), "1s to 300s");
    }
  } else if (gates_.Enabled("KubeletCrashLoopBackOffMax")) {
    Wanted("crashLoopBackOff.maxContainerRestartPeriod", "nothing", "1s to 300s");
  }

  const auto& logging = config_.logging();
  OneOf("logging.format", logging.format(), {"text", "json"});
  if (const Duration period(logging.flushfrequency().duration()); period <= Duration::zero()) {
    Wanted("logging.flushFrequency", FormatDuration(period), "more than 0s");
  }
  constexpr int64_t kVerbosityMax = std::numeric_limits<int32_t>::max();
  InRange("logging.verbosity", logging.verbosity(), 0, kVerbosityMax);
  if (logging.vmodule_size() > 0 && logging.format() != "text") {
    Wanted("logging.vmodule", "a list", "none with logging.format " + InQuotes(logging.format()));
  }
  for (int i = 0; i < logging.vmodule_size(); ++i) {
    const std::string path = "logging.vmodule[" + std::to_string(i) + "]";
    const std::string& pattern = logging.vmodule(i).filepattern();
    if (pattern.empty() || pattern.find_first_of("=,") != pattern.npos) {
      Wanted(path + ".filePattern", InQuotes(pattern), "a pattern without \"=\" and \",\"");
    }
    InRange(path + ".verbosity", logging.vmodule(i).verbosity(), 0, kVerbosityMax);
  }
  const std::pair<const char*, const kube::config::OutputRoutingOptions*> formats[] = {
      {"text", &logging.options().text().outputroutingoptions()},
      {"json", &logging.options().json().outputroutingoptions()},
  };
  for (const auto& [format, routing] : formats) {
    const std::string path = std::string("logging.options.") + format;
    if (routing->splitstream()) NeedsGate(path + ".splitStream", "true", "LoggingAlphaOptions");
    const std::string& buffer = routing->infobuffersize().string();
    const auto quantity = kube::Quantity::Parse(buffer.empty() ? "0" : buffer);
    if (quantity && !quantity->IsZero()) {
      NeedsGate(path + ".infoBufferSize", buffer, "LoggingAlphaOptions");
    }
  }
}

void ConfigRules::Shutdown() {
  const Duration total(config_.shutdowngraceperiod().duration());
  const Duration critical(config_.shutdowngraceperiodcriticalpods().duration());
  const bool graceful = gates_.Enabled("GracefulNodeShutdown");
  const std::pair<const char*, Duration> periods[] = {
      {"shutdownGracePeriod", total}, {"shutdownGracePeriodCriticalPods", critical}};
  for (const auto& [path, period] : periods) {
    if (!graceful) {
      if (period > Duration::zero()) {
        NeedsGate(path, FormatDuration(period), "GracefulNodeShutdown");
      }
    } else if (period < Duration::zero() || (period > Duration::zero() && period < Seconds(1))) {
      Wanted(path, FormatDuration(period), "0s, or 1s or more");
    }
  }
  if (graceful && critical > total) {
    Wanted("shutdownGracePeriodCriticalPods", FormatDuration(critical),
           "at most shutdownGracePeriod, which is " + FormatDuration(total));
  }
  if (config_.shutdowngraceperiodbypodpriority().empty()) return;
  const std::string path = "shutdownGracePeriodByPodPriority";
  if (!gates_.Enabled("GracefulNodeShutdownBasedOnPodPriority")) {
    NeedsGate(path, "a list", "GracefulNodeShutdownBasedOnPodPriority");
  } else if (total > Duration::zero() || critical > Duration::zero()) {
    Wanted(path, "a list",
           "none, or shutdownGracePeriod and shutdownGracePeriodCriticalPods to be 0s");
  }
}

}  // namespace denselet::app
