package main

import (
	"context"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// The kubelet's own functions, by name: not exported, and not to be imitated. They are given a kubelet that has only what
// they look at.

//go:linkname makeEnvironmentVariables k8s.io/kubernetes/pkg/kubelet.(*Kubelet).makeEnvironmentVariables
func makeEnvironmentVariables(kl *kubelet.Kubelet, ctx context.Context, pod *v1.Pod, container *v1.Container, podIP string, podIPs []string, podVolumes kubecontainer.VolumeMap) ([]kubecontainer.EnvVar, error)

//go:linkname managedHostsFileContent k8s.io/kubernetes/pkg/kubelet.managedHostsFileContent
func managedHostsFileContent(hostIPs []string, hostName, hostDomainName string, hostAliases []v1.HostAlias) []byte

func setField(of reflect.Value, name string, value any) {
	field := of.FieldByName(name)
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(value).Convert(field.Type()))
}
