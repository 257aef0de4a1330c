package main

import (
	"context"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	_ "k8s.io/kubernetes/pkg/kubelet/kuberuntime"
)

// The kubelet's own function, by name: not exported, and not to be imitated. Its result has a type that is not exported
// either; this is one of the same shape.

type killInfo struct {
	container *v1.Container
	name      string
	message   string
	reason    string
}

type resources struct{ memoryLimit, memoryRequest, cpuLimit, cpuRequest int64 }

type updateInfo struct {
	container *v1.Container
	id        kubecontainer.ContainerID
	desired   resources
	current   *resources
}

type removeInfo struct {
	id        kubecontainer.ContainerID
	container *v1.Container
	kill      bool
}

type podActions struct {
	KillPod                    bool
	CreateSandbox              bool
	SandboxID                  string
	Attempt                    uint32
	InitContainersToStart      []int
	ContainersToStart          []int
	ContainersToKill           map[kubecontainer.ContainerID]killInfo
	EphemeralContainersToStart []int
	ContainersToUpdate         map[v1.ResourceName][]updateInfo
	UpdatePodResources         bool
	ContainersToReset          []removeInfo
	UpdatePodLevelResources    bool
}

//go:linkname computePodActions k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).computePodActions
func computePodActions(m unsafe.Pointer, ctx context.Context, pod *v1.Pod, status *kubecontainer.PodStatus, restartAll bool) podActions
