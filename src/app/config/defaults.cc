#include "app/config/defaults.h"

#include <cstdlib>
#include <map>

#include "base/time.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::app {
namespace {

using kube::config::KubeletConfiguration;

void SetIfZero(kube::meta::Duration& duration, Duration value) {
  if (duration.duration() == 0) duration.set_duration(value.count());
}

constexpr std::pair<std::string_view, std::string_view> kEvictionHard[] = {
    {"memory.available", "100Mi"}, {"nodefs.available", "10%"},  {"nodefs.inodesFree", "5%"},
    {"imagefs.available", "15%"},  {"imagefs.inodesFree", "5%"},
};

// Zero, empty and absent are the same.
#define DEFAULT_ZERO(field, value) \
  if (config.field() == decltype(config.field()){}) config.set_##field(value)
#define DEFAULT_TEXT(field, value) \
  if (config.field().empty()) config.set_##field(value)
// Zero and false count.
#define DEFAULT_ABSENT(field, value) \
  if (!config.has_##field()) config.set_##field(value)

void SetServerDefaults(KubeletConfiguration& config) {
  DEFAULT_ABSENT(enableserver, true);
  DEFAULT_TEXT(address, "0.0.0.0");
  DEFAULT_ZERO(port, 10250);
  auto& authentication = *config.mutable_authentication();
  if (!authentication.anonymous().has_enabled()) {
    authentication.mutable_anonymous()->set_enabled(false);
  }
  if (!authentication.webhook().has_enabled()) {
    authentication.mutable_webhook()->set_enabled(true);
  }
  SetIfZero(*authentication.mutable_webhook()->mutable_cachettl(), Minutes(2));
  auto& authorization = *config.mutable_authorization();
  if (authorization.mode().empty()) authorization.set_mode("Webhook");
  SetIfZero(*authorization.mutable_webhook()->mutable_cacheauthorizedttl(), Minutes(5));
  SetIfZero(*authorization.mutable_webhook()->mutable_cacheunauthorizedttl(), Seconds(30));
  DEFAULT_ABSENT(enabledebugginghandlers, true);
  DEFAULT_ABSENT(enableprofilinghandler, true);
  DEFAULT_ABSENT(enabledebugflagshandler, true);
  DEFAULT_ABSENT(enablesystemloghandler, true);
  DEFAULT_ABSENT(healthzport, 10248);
  DEFAULT_TEXT(healthzbindaddress, "127.0.0.1");
  SetIfZero(*config.mutable_streamingconnectionidletimeout(), Hours(4));
}

// The report's period follows the update's, if that one was given and this one was not.
void SetStatusFrequencies(KubeletConfiguration& config) {
  const int64_t update = config.nodestatusupdatefrequency().duration();
  SetIfZero(*config.mutable_nodestatusreportfrequency(),
            update == 0 ? Duration(Minutes(5)) : Duration(update));
  SetIfZero(*config.mutable_nodestatusupdatefrequency(), Seconds(10));
}

void SetSyncDefaults(KubeletConfiguration& config) {
  SetIfZero(*config.mutable_syncfrequency(), Minutes(1));
  SetIfZero(*config.mutable_filecheckfrequency(), Seconds(20));
  SetIfZero(*config.mutable_httpcheckfrequency(), Seconds(20));
  DEFAULT_TEXT(podlogsdir, "/var/log/pods");
  DEFAULT_ABSENT(registernode, true);
  SetStatusFrequencies(config);
  DEFAULT_ZERO(nodeleasedurationseconds, 40);
  DEFAULT_ABSENT(nodestatusmaximages, 50);
  DEFAULT_ABSENT(eventrecordqps, 50);
  DEFAULT_ZERO(eventburst, 100);
  DEFAULT_ABSENT(kubeapiqps, 50);
  DEFAULT_ZERO(kubeapiburst, 100);
  DEFAULT_TEXT(contenttype, "application/vnd.kubernetes.protobuf");
  DEFAULT_TEXT(configmapandsecretchangedetectionstrategy, "Watch");
  DEFAULT_ABSENT(enablecontrollerattachdetach, true);
}

void SetRuntimeDefaults(const FeatureGates& gates, KubeletConfiguration& config) {
  DEFAULT_TEXT(containerruntimeendpoint, "unix:///run/containerd/containerd.sock");
  SetIfZero(*config.mutable_runtimerequesttimeout(), Minutes(2));
  DEFAULT_ABSENT(registrypullqps, 5);
  DEFAULT_ZERO(registryburst, 10);
  DEFAULT_ABSENT(serializeimagepulls, config.maxparallelimagepulls() < 2);
  if (gates.Enabled("KubeletEnsureSecretPulledImages")) {
    DEFAULT_TEXT(imagepullcredentialsverificationpolicy, "NeverVerifyPreloadedImages");
  }
  SetIfZero(*config.mutable_imageminimumgcage(), Minutes(2));
  DEFAULT_ABSENT(imagegchighthresholdpercent, 85);
  DEFAULT_ABSENT(imagegclowthresholdpercent, 80);
  DEFAULT_TEXT(containerlogmaxsize, "10Mi");
  DEFAULT_ABSENT(containerlogmaxfiles, 5);
  DEFAULT_ABSENT(containerlogmaxworkers, 1);
  if (!config.has_containerlogmonitorinterval()) {
    config.mutable_containerlogmonitorinterval()->set_duration(Duration(Seconds(10)).count());
  }
  DEFAULT_ABSENT(seccompdefault, false);
  auto& back_off = *config.mutable_crashloopbackoff();
  if (gates.Enabled("KubeletCrashLoopBackOffMax") && !back_off.has_maxcontainerrestartperiod()) {
    back_off.mutable_maxcontainerrestartperiod()->set_duration(Duration(Seconds(300)).count());
  }
  DEFAULT_TEXT(hairpinmode, "promiscuous-bridge");
}

void SetManagerDefaults(KubeletConfiguration& config) {
  DEFAULT_ABSENT(cgroupsperqos, true);
  DEFAULT_TEXT(cgroupdriver, "cgroupfs");
  DEFAULT_ABSENT(failcgroupv1, true);
  DEFAULT_TEXT(cpumanagerpolicy, "none");
  SetIfZero(*config.mutable_cpumanagerreconcileperiod(), Seconds(10));
  DEFAULT_TEXT(memorymanagerpolicy, "None");
  DEFAULT_TEXT(topologymanagerpolicy, "none");
  DEFAULT_TEXT(topologymanagerscope, "container");
  DEFAULT_ABSENT(memorythrottlingfactor, 0.9);
  DEFAULT_TEXT(memoryreservationpolicy, "None");
}

void SetResourceDefaults(Enforcement enforcement, KubeletConfiguration& config) {
  DEFAULT_ZERO(maxpods, 110);
  if (!config.has_podpidslimit() || config.podpidslimit() < 0) config.set_podpidslimit(-1);
  DEFAULT_ABSENT(cpucfsquota, true);
  if (!config.has_cpucfsquotaperiod()) {
    config.mutable_cpucfsquotaperiod()->set_duration(Duration(Milliseconds(100)).count());
  }
  DEFAULT_ABSENT(oomscoreadj, -999);
  DEFAULT_ZERO(maxopenfiles, 1'000'000);
  DEFAULT_ABSENT(makeiptablesutilchains, true);
  DEFAULT_ABSENT(iptablesmasqueradebit, 14);
  DEFAULT_ABSENT(iptablesdropbit, 15);
  DEFAULT_ABSENT(failswapon, true);
  if (enforcement == Enforcement::kAbsent && config.enforcenodeallocatable().empty()) {
    config.add_enforcenodeallocatable("pods");
  }
  DEFAULT_ABSENT(localstoragecapacityisolation, true);
  SetIfZero(*config.mutable_evictionpressuretransitionperiod(), Minutes(5));
  DEFAULT_ABSENT(mergedefaultevictionsettings, false);
  SetIfZero(*config.mutable_volumestatsaggperiod(), Minutes(1));
  DEFAULT_ABSENT(resolvconf, "/etc/resolv.conf");
  DEFAULT_TEXT(volumeplugindir, "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/");
}

void SetLoggingDefaults(KubeletConfiguration& config) {
  auto& logging = *config.mutable_logging();
  if (logging.format().empty()) logging.set_format("text");
  auto& flush = *logging.mutable_flushfrequency();
  if (flush.duration() == 0) {
    flush.set_duration(Duration(Seconds(5)).count());
    flush.clear_isnumber();
  }
  auto& options = *logging.mutable_options();
  for (auto* routing : {options.mutable_text()->mutable_outputroutingoptions(),
                        options.mutable_json()->mutable_outputroutingoptions()}) {
    auto& size = *routing->mutable_infobuffersize();
    if (size.string().empty()) size.set_string("0");
  }
}

#undef DEFAULT_ZERO
#undef DEFAULT_TEXT
#undef DEFAULT_ABSENT

}  // namespace

void SetDefaults(const FeatureGates& gates, Enforcement enforce_node_allocatable,
                 KubeletConfiguration& config) {
  SetServerDefaults(config);
  SetSyncDefaults(config);
  SetRuntimeDefaults(gates, config);
  SetManagerDefaults(config);
  SetResourceDefaults(enforce_node_allocatable, config);
  SetLoggingDefaults(config);
  FillShownFields(config);
}

std::span<const std::pair<std::string_view, std::string_view>> DefaultEvictionHard() {
  return kEvictionHard;
}

void SetEvictionDefaults(EvictionHard in_file, KubeletConfiguration& config) {
  if (in_file == EvictionHard::kGiven && !config.mergedefaultevictionsettings()) return;
  for (const auto& [signal, threshold] : kEvictionHard) {
    config.mutable_evictionhard()->insert({std::string(signal), std::string(threshold)});
  }
}

void RoundReservedMemory(KubeletConfiguration& config) {
  constexpr int64_t kUnitsMax = 1'000'000'000'000;  // beyond, nobody wrote a fraction
  for (auto& reservation : *config.mutable_reservedmemory()) {
    std::map<std::string, std::string> rounded;
    for (const auto* limit : kube::Sorted(reservation.limits())) {
      const auto quantity = kube::Quantity::Parse(limit->second.string());
      if (!quantity || std::abs(quantity->Units()) > kUnitsMax) continue;
      const auto milli = kube::Quantity::FromMilli(quantity->Milli(), quantity->format());
      if (milli != *quantity) rounded[limit->first] = milli.ToString();
    }
    for (const auto& [resource, text] : rounded) {
      (*reservation.mutable_limits())[resource].set_string(text);
    }
  }
}

void FillShownFields(KubeletConfiguration& config) {
  config.mutable_authentication()->mutable_x509();
  config.mutable_imagemaximumgcage();
  config.mutable_memoryswap();
  config.mutable_shutdowngraceperiod();
  config.mutable_shutdowngraceperiodcriticalpods();
  config.mutable_crashloopbackoff();
  config.mutable_logging()->set_verbosity(config.logging().verbosity());
  if (!config.has_enablesystemlogquery()) config.set_enablesystemlogquery(false);
  for (auto& reservation : *config.mutable_reservedmemory()) {
    reservation.set_numanode(reservation.numanode());
  }
  for (auto& period : *config.mutable_shutdowngraceperiodbypodpriority()) {
    period.set_priority(period.priority());
    period.set_shutdowngraceperiodseconds(period.shutdowngraceperiodseconds());
  }
  for (auto& taint : *config.mutable_registerwithtaints()) {
    taint.set_key(taint.key());
    taint.set_effect(taint.effect());
  }
  for (auto& item : *config.mutable_logging()->mutable_vmodule()) {
    item.set_filepattern(item.filepattern());
    item.set_verbosity(item.verbosity());
  }
}

}  // namespace denselet::app
