package main

import (
	"fmt"
	"math/rand"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Some of the names, in any order.
func some(r *rand.Rand, names ...string) []string {
	names = slices.Clone(names)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:r.Intn(len(names)+1)]
}

// The list as it was, or with elements gone, others instead, another order.
func changed[T any](r *rand.Rand, list []T, key func(T) string, fresh func() []T, edit func(*T)) []T {
	list = slices.Clone(list)
	for range r.Intn(3) {
		if len(list) > 0 {
			i := r.Intn(len(list))
			list = slices.Delete(list, i, i+1)
		}
	}
	if r.Intn(3) == 0 {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	for _, element := range fresh() {
		has := slices.ContainsFunc(list, func(other T) bool { return key(other) == key(element) })
		if !has && r.Intn(2) == 0 {
			list = slices.Insert(list, r.Intn(len(list)+1), element)
		}
	}
	for i := range list {
		if r.Intn(3) == 0 {
			edit(&list[i])
		}
	}
	return list
}

func stamp(r *rand.Rand) metav1.Time {
	if r.Intn(4) == 0 {
		return metav1.Time{}
	}
	return metav1.NewTime(time.Unix(1767323045+int64(r.Intn(100)), 0).UTC())
}

func oneOf(r *rand.Rand, texts ...string) string { return texts[r.Intn(len(texts))] }

func texts(r *rand.Rand) map[string]string {
	made := map[string]string{}
	for _, name := range some(r, "a", "b", "c", "d") {
		made[name] = oneOf(r, "", "1", "2")
	}
	return made
}

func podConditions(r *rand.Rand) []corev1.PodCondition {
	list := []corev1.PodCondition{}
	for _, name := range some(r, "Initialized", "Ready", "ContainersReady", "PodScheduled", "example.com/Foreign") {
		condition := corev1.PodCondition{Type: corev1.PodConditionType(name)}
		editPodCondition(r)(&condition)
		list = append(list, condition)
	}
	return list
}

func editPodCondition(r *rand.Rand) func(*corev1.PodCondition) {
	return func(c *corev1.PodCondition) {
		c.Status = corev1.ConditionStatus(oneOf(r, "True", "False", "Unknown"))
		c.Reason, c.Message = oneOf(r, "", "R"), oneOf(r, "", "m\nn")
		c.LastTransitionTime, c.LastProbeTime = stamp(r), stamp(r)
		c.ObservedGeneration = int64(r.Intn(3))
	}
}

func podIPs(r *rand.Rand) []corev1.PodIP {
	list := []corev1.PodIP{}
	for _, ip := range some(r, "10.0.0.1", "fd00::1", "10.0.0.2") {
		list = append(list, corev1.PodIP{IP: ip})
	}
	return list
}

func claimStatuses(r *rand.Rand) []corev1.PodResourceClaimStatus {
	list := []corev1.PodResourceClaimStatus{}
	for _, name := range some(r, "gpu", "nic", "fpga") {
		status := corev1.PodResourceClaimStatus{Name: name}
		editClaimStatus(r)(&status)
		list = append(list, status)
	}
	return list
}

func editClaimStatus(r *rand.Rand) func(*corev1.PodResourceClaimStatus) {
	return func(s *corev1.PodResourceClaimStatus) {
		s.ResourceClaimName = nil
		if r.Intn(2) == 0 {
			name := oneOf(r, "one", "two")
			s.ResourceClaimName = &name
		}
	}
}

func containerStatuses(r *rand.Rand) []corev1.ContainerStatus {
	list := []corev1.ContainerStatus{}
	for _, name := range some(r, "main", "side") {
		started := r.Intn(2) == 0
		status := corev1.ContainerStatus{Name: name, Ready: r.Intn(2) == 0, RestartCount: int32(r.Intn(3)), Started: &started}
		switch r.Intn(3) {
		case 0:
			status.State.Running = &corev1.ContainerStateRunning{StartedAt: stamp(r)}
		case 1:
			status.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(r.Intn(2)), FinishedAt: stamp(r)}
		}
		list = append(list, status)
	}
	return list
}

func volumes(r *rand.Rand) []corev1.Volume {
	list := []corev1.Volume{}
	for _, name := range some(r, "data", "conf", "tmp") {
		volume := corev1.Volume{Name: name}
		editVolume(r)(&volume)
		list = append(list, volume)
	}
	return list
}

func editVolume(r *rand.Rand) func(*corev1.Volume) {
	return func(v *corev1.Volume) {
		v.VolumeSource = corev1.VolumeSource{}
		switch r.Intn(3) {
		case 0:
			v.EmptyDir = &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMedium(oneOf(r, "", "Memory"))}
		case 1:
			v.HostPath = &corev1.HostPathVolumeSource{Path: oneOf(r, "/a", "/b")}
		case 2:
			v.Secret = &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: oneOf(r, "x", "y"), Path: "p"}}}
		}
	}
}

func containers(r *rand.Rand) []corev1.Container {
	list := []corev1.Container{}
	for _, name := range some(r, "main", "side", "log") {
		container := corev1.Container{Name: name}
		editContainer(r)(&container)
		list = append(list, container)
	}
	return list
}

func editContainer(r *rand.Rand) func(*corev1.Container) {
	return func(c *corev1.Container) {
		c.Image = oneOf(r, "a", "b")
		c.Ports, c.Env = nil, nil
		for _, name := range some(r, "A", "B", "C") {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: oneOf(r, "1", "2")})
		}
		for _, port := range some(r, "80", "443", "9") {
			var number int32
			fmt.Sscan(port, &number)
			c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: number, Name: oneOf(r, "", "x")})
		}
	}
}

func randomPod(r *rand.Rand) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace, pod.UID = "p", "default", "uid-of-the-pod"
	pod.Labels, pod.Annotations = texts(r), texts(r)
	pod.Finalizers = some(r, "example.com/a", "example.com/b", "example.com/c")
	slices.Sort(pod.Finalizers)
	pod.Spec.Volumes, pod.Spec.Containers = volumes(r), containers(r)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodPhase(oneOf(r, "", "Pending", "Running")), Conditions: podConditions(r), PodIPs: podIPs(r),
		ContainerStatuses: containerStatuses(r), ResourceClaimStatuses: claimStatuses(r),
	}
	return pod
}

func changedPod(r *rand.Rand, before *corev1.Pod) *corev1.Pod {
	pod := before.DeepCopy()
	if r.Intn(2) == 0 {
		pod.Labels, pod.Finalizers = texts(r), some(r, "example.com/a", "example.com/b", "example.com/d")
		slices.Sort(pod.Finalizers)
	}
	if r.Intn(2) == 0 {
		pod.Spec.Volumes = changed(r, pod.Spec.Volumes, func(v corev1.Volume) string { return v.Name }, func() []corev1.Volume { return volumes(r) }, editVolume(r))
		pod.Spec.Containers = changed(r, pod.Spec.Containers, func(c corev1.Container) string { return c.Name }, func() []corev1.Container { return containers(r) }, editContainer(r))
	}
	status := &pod.Status
	status.Phase = corev1.PodPhase(oneOf(r, "", "Pending", "Running"))
	status.Conditions = changed(r, status.Conditions, func(c corev1.PodCondition) string { return string(c.Type) }, func() []corev1.PodCondition { return podConditions(r) }, editPodCondition(r))
	status.PodIPs = changed(r, status.PodIPs, func(ip corev1.PodIP) string { return ip.IP }, func() []corev1.PodIP { return podIPs(r) }, func(*corev1.PodIP) {})
	status.ResourceClaimStatuses = changed(r, status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) string { return s.Name },
		func() []corev1.PodResourceClaimStatus { return claimStatuses(r) }, editClaimStatus(r))
	if r.Intn(2) == 0 {
		status.ContainerStatuses = containerStatuses(r)
	}
	return pod
}

func nodeConditions(r *rand.Rand) []corev1.NodeCondition {
	list := []corev1.NodeCondition{}
	for _, name := range some(r, "MemoryPressure", "DiskPressure", "PIDPressure", "Ready", "NetworkUnavailable") {
		condition := corev1.NodeCondition{Type: corev1.NodeConditionType(name)}
		editNodeCondition(r)(&condition)
		list = append(list, condition)
	}
	return list
}

func editNodeCondition(r *rand.Rand) func(*corev1.NodeCondition) {
	return func(c *corev1.NodeCondition) {
		c.Status = corev1.ConditionStatus(oneOf(r, "True", "False"))
		c.Reason, c.LastHeartbeatTime = oneOf(r, "", "R"), stamp(r)
	}
}

func addresses(r *rand.Rand) []corev1.NodeAddress {
	list := []corev1.NodeAddress{}
	for _, kind := range some(r, "InternalIP", "ExternalIP", "Hostname") {
		list = append(list, corev1.NodeAddress{Type: corev1.NodeAddressType(kind), Address: oneOf(r, "1", "2")})
	}
	return list
}

func resources(r *rand.Rand) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range some(r, "cpu", "memory", "pods", "example.com/gpu") {
		list[corev1.ResourceName(name)] = resource.MustParse(oneOf(r, "1", "500m", "1Gi"))
	}
	return list
}

func images(r *rand.Rand) []corev1.ContainerImage {
	list := []corev1.ContainerImage{}
	for _, name := range some(r, "a", "b", "c") {
		list = append(list, corev1.ContainerImage{Names: []string{name, name + "@sha256:1"}, SizeBytes: int64(r.Intn(3))})
	}
	return list
}

func randomNode(r *rand.Rand) *corev1.Node {
	node := &corev1.Node{}
	node.Name, node.Labels = "n1", texts(r)
	node.Status = corev1.NodeStatus{
		Capacity: resources(r), Allocatable: resources(r), Conditions: nodeConditions(r), Addresses: addresses(r), Images: images(r),
		VolumesAttached: []corev1.AttachedVolume{{Name: "v", DevicePath: oneOf(r, "", "/dev/a")}},
	}
	for _, name := range some(r, "v", "w") {
		node.Status.VolumesInUse = append(node.Status.VolumesInUse, corev1.UniqueVolumeName(name))
	}
	return node
}

func changedNode(r *rand.Rand, before *corev1.Node) *corev1.Node {
	node := before.DeepCopy()
	fresh := randomNode(r)
	if r.Intn(2) == 0 {
		node.Labels, node.Status.Capacity, node.Spec.Unschedulable = fresh.Labels, fresh.Status.Capacity, true
	}
	if r.Intn(2) == 0 {
		node.Status.Images, node.Status.VolumesInUse, node.Status.VolumesAttached = fresh.Status.Images, fresh.Status.VolumesInUse, fresh.Status.VolumesAttached
	}
	node.Status.Conditions = changed(r, node.Status.Conditions, func(c corev1.NodeCondition) string { return string(c.Type) }, func() []corev1.NodeCondition { return nodeConditions(r) }, editNodeCondition(r))
	node.Status.Addresses = changed(r, node.Status.Addresses, func(a corev1.NodeAddress) string { return string(a.Type) }, func() []corev1.NodeAddress { return addresses(r) }, func(a *corev1.NodeAddress) { a.Address = oneOf(r, "1", "2", "3") })
	return node
}
