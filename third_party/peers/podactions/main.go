// Command podactions prints what the kubelet would do about random pods in random states, by its own computePodActions:
// "podactions SEED ROWS". tests/sync/decide/golden/pod_actions.txt is its output ("podactions 1 3000"), in the language of
// tests/sync/decide/scene.h: the pod, what is observed, and the actions.
package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
	"unsafe"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	"go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: podactions SEED ROWS")
		os.Exit(2)
	}
	klog.SetLogger(klog.Logger{})
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	rows, _ := strconv.Atoi(os.Args[2])
	dir, err := os.MkdirTemp("", "podactions")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	liveness, startup := results.NewManager(), results.NewManager()
	manager := newManager(dir, liveness, startup)
	fmt.Println("# Printed by third_party/peers/podactions: a pod; what is observed of it; what the kubelet does.")
	r := &random{rand.New(rand.NewSource(seed))}
	for range rows {
		s := r.scene(liveness, startup)
		restartAll := kubecontainer.ShouldAllContainersRestart(s.pod, s.status, nil)
		actions := computePodActions(manager, context.Background(), s.pod, s.status, restartAll)
		fmt.Printf("%s\t%s\t%s\n", s.podText, strings.Join(s.given, " "), text(s.pod, actions))
	}
}

type podStates struct{}

func (podStates) IsPodTerminationRequested(types.UID) bool { return false }
func (podStates) ShouldPodContentBeRemoved(types.UID) bool { return false }
func (podStates) ShouldPodRuntimeBeRemoved(types.UID) bool { return false }

// As much of a runtime as is asked at the start.
type noRuntime struct{ internalapi.RuntimeService }

func (noRuntime) Version(context.Context, string) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: "fakeRuntime", RuntimeVersion: "1", RuntimeApiVersion: "v1"}, nil
}

type noImages struct {
	internalapi.ImageManagerService
}

func (noImages) ListImages(context.Context, *runtimeapi.ImageFilter) ([]*runtimeapi.Image, error) {
	return nil, nil
}

func newManager(dir string, liveness, startup results.Manager) unsafe.Pointer {
	runtime, images := noRuntime{}, noImages{}
	manager, _, err := kuberuntime.NewKubeGenericRuntimeManager(context.Background(), record.NewFakeRecorder(1), liveness,
		results.NewManager(), startup, dir, dir, &cadvisorapi.MachineInfo{MemoryCapacity: 1 << 34}, podStates{}, 110,
		kubecontainer.RealOS{}, nil, nil, flowcontrol.NewBackOff(time.Second, time.Minute), false, nil, 0, 0,
		"NeverVerifyPreloadedImages", nil, "", "", nil, true, metav1.Duration{Duration: 100 * time.Millisecond}, runtime,
		images, cm.NewFakeContainerManager(), nil, nil, false, "", func() v1.ResourceList {
			return v1.ResourceList{v1.ResourceMemory: resource.MustParse("16Gi")}
		}, 0.9, "None", nil, noop.NewTracerProvider(), nil, nil, nil)
	if err != nil {
		panic(err)
	}
	return reflect.ValueOf(manager).UnsafePointer()
}

type scene struct {
	pod     *v1.Pod
	podText string
	status  *kubecontainer.PodStatus
	given   []string
}

type random struct{ *rand.Rand }

func (r *random) pick(texts ...string) string { return texts[r.Intn(len(texts))] }

func (r *random) scene(liveness, startup results.Manager) *scene {
	s := &scene{pod: &v1.Pod{}, status: &kubecontainer.PodStatus{ID: "uid"}}
	s.pod.Name, s.pod.Namespace, s.pod.UID = "pod", "default", "uid"
	policy := r.pick("Always", "OnFailure", "Never")
	s.pod.Spec.RestartPolicy = v1.RestartPolicy(policy)
	grace := int64(30)
	s.pod.Spec.TerminationGracePeriodSeconds = &grace
	words := []string{policy}
	if r.Intn(8) == 0 {
		s.pod.Spec.HostNetwork = true
		words = append(words, "hostnet")
	}
	for i := range r.Intn(4) {
		kind := r.pick("i", "s")
		c, word := r.container(kind, kind+strconv.Itoa(i))
		s.pod.Spec.InitContainers = append(s.pod.Spec.InitContainers, c)
		words = append(words, word)
	}
	for i := range 1 + r.Intn(3) {
		c, word := r.container("c", "c"+strconv.Itoa(i))
		s.pod.Spec.Containers = append(s.pod.Spec.Containers, c)
		words = append(words, word)
	}
	if r.Intn(5) == 0 {
		c, word := r.container("e", "e0")
		s.pod.Spec.EphemeralContainers = append(s.pod.Spec.EphemeralContainers,
			v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: c.Name, Image: c.Image}})
		words = append(words, word)
	}
	s.podText = strings.Join(words, " ")
	r.sandboxes(s)
	r.states(s, liveness, startup)
	return s
}

func (r *random) container(kind, name string) (v1.Container, string) {
	c := v1.Container{Name: name, Image: "image-of-" + name}
	var attributes []string
	if kind == "s" {
		always := v1.ContainerRestartPolicyAlways
		c.RestartPolicy = &always
	} else if kind != "e" && r.Intn(4) == 0 {
		text := r.pick("OnFailure", "Never")
		if kind == "c" {
			text = r.pick("Always", "OnFailure", "Never")
		}
		policy := v1.ContainerRestartPolicy(text)
		c.RestartPolicy = &policy
		attributes = append(attributes, "policy="+text)
		if r.Intn(2) == 0 {
			operator, action := r.pick("In", "NotIn"), r.pick("Restart", "Restart", "RestartAll")
			rule := v1.ContainerRestartRule{Action: v1.ContainerRestartRuleActionRestart,
				ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOperator(operator), Values: []int32{3, 42}}}
			if action == "RestartAll" {
				rule.Action = v1.ContainerRestartRuleActionRestartAllContainers
			}
			c.RestartPolicyRules = append(c.RestartPolicyRules, rule)
			attributes = append(attributes, "rule="+operator+":"+action+":3|42")
		}
	}
	if (kind == "c" || kind == "s") && r.Intn(3) == 0 {
		c.LivenessProbe = &v1.Probe{}
		attributes = append(attributes, "live")
	}
	if (kind == "c" || kind == "s") && r.Intn(3) == 0 {
		c.StartupProbe = &v1.Probe{}
		attributes = append(attributes, "startup")
	}
	word := kind + ":" + name
	if len(attributes) > 0 {
		word += "[" + strings.Join(attributes, ",") + "]"
	}
	return c, word
}

func (r *random) sandboxes(s *scene) {
	count := 1
	switch r.Intn(10) {
	case 0:
		count = 0
	case 1, 2:
		count = 2
	}
	// The kubelet has the newest first.
	for i := count - 1; i >= 0; i-- {
		state, word := runtimeapi.PodSandboxState_SANDBOX_READY, "ready"
		if (i == count-1 && r.Intn(6) == 0) || (i < count-1 && r.Intn(6) > 0) {
			state, word = runtimeapi.PodSandboxState_SANDBOX_NOTREADY, "notready"
		}
		sandbox := &runtimeapi.PodSandboxStatus{Id: "sb" + strconv.Itoa(i), State: state,
			Metadata: &runtimeapi.PodSandboxMetadata{Attempt: uint32(i)}, Network: &runtimeapi.PodSandboxNetworkStatus{Ip: "10.0.0.1"},
			Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: &runtimeapi.NamespaceOption{}}}}
		suffix := ""
		host := s.pod.Spec.HostNetwork != (r.Intn(20) == 0)
		if host {
			sandbox.Linux.Namespaces.Options.Network = runtimeapi.NamespaceMode_NODE
			sandbox.Network.Ip, suffix = "", ":host"
		} else if r.Intn(20) == 0 {
			sandbox.Network.Ip, suffix = "", ":noip"
		}
		s.status.SandboxStatuses = append(s.status.SandboxStatuses, sandbox)
		s.given = append(s.given, sandbox.Id+"="+word+suffix)
	}
}

func (r *random) states(s *scene, liveness, startup results.Manager) {
	// Mostly a pod is somewhere on its way: those before a place have ended, those behind it never were.
	place := r.Intn(len(s.pod.Spec.InitContainers) + 2)
	for i := range s.pod.Spec.InitContainers {
		c := &s.pod.Spec.InitContainers[i]
		switch {
		case r.Intn(6) == 0:
			r.instances(s, c, "", liveness, startup)
		case i < place && podutil.IsRestartableInitContainer(c):
			r.instances(s, c, r.pick("running", "running", "running", "exited"), liveness, startup)
		case i < place:
			r.instances(s, c, r.pick("exited:0", "exited:0", "exited:0", "none"), liveness, startup)
		case i == place:
			r.instances(s, c, "", liveness, startup)
		}
	}
	for i := range s.pod.Spec.Containers {
		if place >= len(s.pod.Spec.InitContainers) || r.Intn(8) == 0 {
			r.instances(s, &s.pod.Spec.Containers[i], "", liveness, startup)
		}
	}
	for i := range s.pod.Spec.EphemeralContainers {
		r.instances(s, (*v1.Container)(&s.pod.Spec.EphemeralContainers[i].EphemeralContainerCommon), "", liveness, startup)
	}
}

func (r *random) instances(s *scene, c *v1.Container, state string, liveness, startup results.Manager) {
	if state == "" {
		state = r.pick("none", "created", "running", "running", "running", "exited", "exited", "exited:0", "unknown")
	}
	if state == "none" {
		return
	}
	count := 1 + r.Intn(2)
	for attempt := count - 1; attempt >= 0; attempt-- {
		now := state
		if attempt < count-1 {
			now = "exited"
		}
		r.instance(s, c, attempt, now)
	}
	id := kubecontainer.ContainerID{Type: "fakeRuntime", ID: fmt.Sprintf("%s/%d", c.Name, count-1)}
	probe := func(manager results.Manager, name string, wanted bool) {
		manager.Remove(id)
		if !wanted || state != "running" {
			return
		}
		switch r.Intn(4) {
		case 0:
			manager.Set(id, results.Failure, s.pod)
			s.given = append(s.given, name+"("+c.Name+")=fail")
		case 1, 2:
			manager.Set(id, results.Success, s.pod)
			s.given = append(s.given, name+"("+c.Name+")=ok")
		}
		select {
		case <-manager.Updates():
		default:
		}
	}
	probe(liveness, "live", c.LivenessProbe != nil)
	probe(startup, "startup", c.StartupProbe != nil)
}

func (r *random) instance(s *scene, c *v1.Container, attempt int, state string) {
	status := &kubecontainer.Status{ID: kubecontainer.ContainerID{Type: "fakeRuntime", ID: fmt.Sprintf("%s/%d", c.Name, attempt)},
		Name: c.Name, RestartCount: attempt, Hash: kubecontainer.HashContainer(c)}
	word := ""
	switch state {
	case "created":
		status.State, word = kubecontainer.ContainerStateCreated, state
	case "running":
		status.State, word = kubecontainer.ContainerStateRunning, state
		if r.Intn(10) == 0 {
			status.Hash = 77
			word += "#changed"
		}
	case "unknown":
		status.State, word = kubecontainer.ContainerStateUnknown, state
	default:
		status.State = kubecontainer.ContainerStateExited
		if state == "exited" {
			status.ExitCode, _ = strconv.Atoi(r.pick("0", "1", "3", "42"))
		}
		word = "exited:" + strconv.Itoa(status.ExitCode)
	}
	s.status.ContainerStatuses = append(s.status.ContainerStatuses, status)
	s.given = append(s.given, status.ID.ID+"="+word)
}

// kill, sandbox=ATTEMPT, init=NAMES, start=NAMES, ephemeral=NAMES, stop=IDS, reset=IDS.
func text(pod *v1.Pod, a podActions) string {
	var words []string
	if a.KillPod {
		words = append(words, "kill")
	}
	if a.CreateSandbox {
		words = append(words, "sandbox="+strconv.Itoa(int(a.Attempt)))
	}
	add := func(word string, names []string) {
		if len(names) > 0 {
			words = append(words, word+"="+strings.Join(names, ","))
		}
	}
	names := func(indexes []int, name func(int) string) (out []string) {
		for _, i := range indexes {
			out = append(out, name(i))
		}
		return
	}
	add("ephemeral", names(a.EphemeralContainersToStart, func(i int) string { return pod.Spec.EphemeralContainers[i].Name }))
	add("init", names(a.InitContainersToStart, func(i int) string { return pod.Spec.InitContainers[i].Name }))
	add("start", names(a.ContainersToStart, func(i int) string { return pod.Spec.Containers[i].Name }))
	var stops, resets []string
	for id := range a.ContainersToKill {
		stops = append(stops, id.ID)
	}
	sort.Strings(stops)
	add("stop", stops)
	for _, info := range a.ContainersToReset {
		resets = append(resets, info.id.ID)
	}
	sort.Strings(resets)
	add("reset", resets)
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}
