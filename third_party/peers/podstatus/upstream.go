package main

import (
	"context"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
)

// The kubelet's own function, by name: not exported, and not to be imitated. It is given a kubelet that has only what the
// function looks at.

//go:linkname generateAPIPodStatus k8s.io/kubernetes/pkg/kubelet.(*Kubelet).generateAPIPodStatus
func generateAPIPodStatus(kl *kubelet.Kubelet, ctx context.Context, pod *v1.Pod, status *kubecontainer.PodStatus, terminal bool) v1.PodStatus

func setField(of reflect.Value, name string, value any) {
	field := of.FieldByName(name)
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(value).Convert(field.Type()))
}

// As if the probe were there: the kubelet asks whether a worker exists, and takes a container without one for ready.
func addWorker(manager prober.Manager, pod *v1.Pod, container string, kind int) {
	workers := reflect.ValueOf(manager).Elem().FieldByName("workers")
	workers = reflect.NewAt(workers.Type(), unsafe.Pointer(workers.UnsafeAddr())).Elem()
	key := reflect.New(workers.Type().Key()).Elem()
	setField(key, "podUID", pod.UID)
	setField(key, "containerName", container)
	setField(key, "probeType", kind)
	workers.SetMapIndex(key, reflect.New(workers.Type().Elem().Elem()))
}
