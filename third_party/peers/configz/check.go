package main

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
)

// What the kubelet checks before and while it starts, as far as it does not depend on the machine.
func check(kc *kubeletconfig.KubeletConfiguration) error {
	kc.FailCgroupV1 = false
	kc.SingleProcessOOMKill = nil
	errs := []error{
		validation.ValidateKubeletConfiguration(kc, utilfeature.DefaultFeatureGate),
		logsapi.Validate(&kc.Logging, utilfeature.DefaultFeatureGate, field.NewPath("logging")).ToAggregate(),
	}
	add := func(err error) { errs = append(errs, err) }
	_, err := cliflag.TLSCipherSuites(kc.TLSCipherSuites)
	add(err)
	_, err = cliflag.TLSVersion(kc.TLSMinVersion)
	add(err)
	_, err = cliflag.TLSCurvePreferences(kc.TLSCurvePreferences)
	add(err)
	_, err = eviction.ParseThresholdConfig(nil, kc.EvictionHard, kc.EvictionSoft, kc.EvictionSoftGracePeriod, kc.EvictionMinimumReclaim)
	add(err)
	_, err = cm.ParseQOSReserved(kc.QOSReserved)
	add(err)
	_, err = sysctl.NewAllowlist(kc.AllowedUnsafeSysctls)
	add(err)
	_, err = parseMaxSize(kc.ContainerLogMaxSize)
	add(err)
	if kc.SyncFrequency.Duration <= 0 {
		add(errors.New("sync frequency"))
	}
	if mode := kc.Authorization.Mode; mode != kubeletconfig.KubeletAuthorizationModeAlwaysAllow && mode != kubeletconfig.KubeletAuthorizationModeWebhook {
		add(fmt.Errorf("unknown authorization mode %s", mode))
	}
	switch kc.ConfigMapAndSecretChangeDetectionStrategy {
	case kubeletconfig.GetChangeDetectionStrategy, kubeletconfig.TTLCacheChangeDetectionStrategy, kubeletconfig.WatchChangeDetectionStrategy:
	default:
		add(errors.New("unknown change detection strategy"))
	}
	add(checkManagers(kc))
	return errors.Join(errs...)
}

func checkManagers(kc *kubeletconfig.KubeletConfiguration) error {
	system, systemErr := parseResourceList(kc.SystemReserved)
	kube, kubeErr := parseResourceList(kc.KubeReserved)
	errs := []error{systemErr, kubeErr}
	switch kc.CPUManagerPolicy {
	case "none":
		_, err := cpumanager.NewNonePolicy(kc.CPUManagerPolicyOptions)
		errs = append(errs, err)
	case "static":
		_, err := cpumanager.NewStaticPolicyOptions(kc.CPUManagerPolicyOptions)
		errs = append(errs, err)
		cpu := system[v1.ResourceCPU]
		cpu.Add(kube[v1.ResourceCPU])
		if cpu.IsZero() && kc.ReservedSystemCPUs == "" {
			errs = append(errs, errors.New("no CPU is reserved"))
		}
	default:
		errs = append(errs, errors.New("unknown CPU manager policy"))
	}
	if kc.MemoryManagerPolicy != "None" && kc.MemoryManagerPolicy != "Static" {
		errs = append(errs, errors.New("unknown memory manager policy"))
	}
	if kc.TopologyManagerPolicy != kubeletconfig.NoneTopologyManagerPolicy {
		_, err := topologymanager.NewPolicyOptions(klog.Background(), kc.TopologyManagerPolicyOptions)
		errs = append(errs, err)
	}
	if !utilfeature.DefaultFeatureGate.Enabled(features.TopologyManagerPolicyOptions) && kc.TopologyManagerPolicyOptions != nil {
		errs = append(errs, errors.New("topology manager options"))
	}
	return errors.Join(errs...)
}
