// Command podstatus prints which status the kubelet makes of random pods in random states, by its own generateAPIPodStatus
// and status manager: "podstatus SEED PODS". tests/sync/status/golden/pod_status.txt is its output ("podstatus 1 100"): the
// pod ("=": the same as in the row before), the status before ("-": none; "=": the one after, of the row before), what is
// observed, and the status after. Times of transitions and starts are left out.
//
// Each status is made twice, the second from the first: the kubelet looks at whether sidecars have started before it asks
// their probes, so the first may be behind.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	kubepod "k8s.io/kubernetes/pkg/kubelet/pod"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

const runtimeName = "containerd"

// After the start of this program: the kubelet is kinder to containers that ran before it.
var epoch = time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: podstatus SEED PODS")
		os.Exit(2)
	}
	klog.SetLogger(klog.Logger{})
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	pods, _ := strconv.Atoi(os.Args[2])
	fmt.Println("# Printed by third_party/peers/podstatus: a pod; its status before; what is observed; the kubelet's status.")
	r := &random{rand.New(rand.NewSource(seed))}
	for i := range pods {
		newWorld(r, i).run()
	}
}

type noSafety struct{}

func (noSafety) PodCouldHaveRunningContainers(*v1.Pod) bool { return false }

type noLatency struct{}

func (noLatency) RecordStatusUpdated(*v1.Pod)     {}
func (noLatency) DeletePodStartupState(types.UID) {}

type random struct{ *rand.Rand }

func (r *random) pick(texts ...string) string { return texts[r.Intn(len(texts))] }
func (r *random) one(in int) bool             { return r.Intn(in) == 0 }

// One pod, and the kubelet around it.
type world struct {
	*random
	pod                *v1.Pod
	kubelet            *kubelet.Kubelet
	statuses           status.Manager
	probes             prober.Manager
	readiness, startup results.Manager
	reasons            *kubelet.ReasonCache

	given     []string
	observed  *kubecontainer.PodStatus
	instances map[string]int // containers that there were, by name
	sandboxes int
	ips       []string

	lastPod, lastAfter string // of the row before
}

func newWorld(r *random, number int) *world {
	w := &world{random: r, kubelet: &kubelet.Kubelet{}, instances: map[string]int{}}
	w.readiness, w.startup = results.NewManager(), results.NewManager()
	w.statuses = status.NewManager(nil, kubepod.NewBasicPodManager(), noSafety{}, noLatency{})
	w.probes = prober.NewManager(w.statuses, results.NewManager(), w.readiness, w.startup, nil, record.NewFakeRecorder(1))
	w.reasons = kubelet.NewReasonCache()
	of := reflect.ValueOf(w.kubelet).Elem()
	setField(of, "statusManager", w.statuses)
	setField(of, "probeManager", w.probes)
	setField(of, "containerManager", cm.NewFakeContainerManager())
	setField(of, "reasonCache", w.reasons)
	w.makePod(number)
	return w
}

func (w *world) makePod(number int) {
	w.pod = &v1.Pod{}
	w.pod.Name, w.pod.Namespace = "pod", "default"
	w.pod.UID = types.UID("uid-" + strconv.Itoa(number))
	w.pod.Generation = int64(w.Intn(3))
	spec := &w.pod.Spec
	spec.RestartPolicy = v1.RestartPolicy(w.pick("Always", "OnFailure", "Never"))
	spec.HostNetwork = w.one(8)
	for i := range w.Intn(4) {
		kind := w.pick("i", "s")
		spec.InitContainers = append(spec.InitContainers, w.container(kind, kind+strconv.Itoa(i)))
	}
	for i := range 1 + w.Intn(3) {
		spec.Containers = append(spec.Containers, w.container("c", "c"+strconv.Itoa(i)))
	}
	if w.one(5) {
		spec.EphemeralContainers = append(spec.EphemeralContainers,
			v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "e0", Image: "image-of-e0"}})
	}
	if w.one(6) {
		spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: "example.com/gate"}}
		if w.one(2) {
			w.pod.Status.Conditions = append(w.pod.Status.Conditions,
				v1.PodCondition{Type: "example.com/gate", Status: v1.ConditionStatus(w.pick("True", "False"))})
		}
	}
	if w.one(6) {
		spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse(w.pick("2", "1500m"))}}
	}
	if w.one(8) {
		spec.Overhead = v1.ResourceList{"cpu": resource.MustParse("50m"), "memory": resource.MustParse("10Mi")}
	}
	w.pod.Status.Phase = v1.PodPending
	w.pod.Status.Conditions = append(w.pod.Status.Conditions, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue})
}

func (w *world) container(kind, name string) v1.Container {
	c := v1.Container{Name: name, Image: "image-of-" + name}
	if kind == "s" {
		always := v1.ContainerRestartPolicyAlways
		c.RestartPolicy = &always
	} else if w.one(5) {
		policy := v1.ContainerRestartPolicy(w.pick("OnFailure", "Never"))
		c.RestartPolicy = &policy
		if w.one(2) {
			c.RestartPolicyRules = []v1.ContainerRestartRule{{Action: v1.ContainerRestartRuleActionRestart,
				ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{3, 42}}}}
		}
	}
	if kind != "i" && w.one(3) {
		c.ReadinessProbe = &v1.Probe{}
		addWorker(w.probes, w.podForProbes(), name, 1)
	}
	if kind != "i" && w.one(4) {
		c.StartupProbe = &v1.Probe{}
		addWorker(w.probes, w.podForProbes(), name, 2)
	}
	amount := func() v1.ResourceList {
		list := v1.ResourceList{}
		if w.one(2) {
			list["cpu"] = resource.MustParse(w.pick("1m", "100m", "500m", "1", "2"))
		}
		if w.one(2) {
			list["memory"] = resource.MustParse(w.pick("64Mi", "1Gi", "100M"))
		}
		if w.one(4) {
			list["ephemeral-storage"] = resource.MustParse("1Gi")
		}
		if len(list) == 0 {
			return nil // as it comes from the API server
		}
		return list
	}
	if w.one(2) {
		c.Resources.Requests = amount()
	}
	if w.one(3) {
		c.Resources.Limits = amount()
	}
	if w.one(3) {
		c.VolumeMounts = []v1.VolumeMount{{Name: "data", MountPath: "/data", ReadOnly: w.one(2)}}
	}
	return c
}

func (w *world) podForProbes() *v1.Pod { return w.pod }

// A pod on its way: never looked at, then twice as it goes on, and at its end.
func (w *world) run() {
	w.look(0)
	w.row(false, false)
	w.look(1 + w.Intn(2))
	w.row(false, false)
	if w.one(3) {
		now := metav1.NewTime(epoch)
		w.pod.DeletionTimestamp = &now
		w.pod.Generation++
	}
	w.look(2)
	terminal := w.one(3)
	if terminal {
		w.stopAll()
	}
	w.row(terminal, false)
	if terminal && w.one(2) {
		w.row(true, true)
	}
}

func (w *world) look(progress int) {
	w.given, w.observed = nil, &kubecontainer.PodStatus{ID: w.pod.UID, Name: "pod", Namespace: "default"}
	if progress == 0 && w.one(2) {
		return
	}
	w.sandbox()
	inits := len(w.pod.Spec.InitContainers)
	place := w.Intn(inits + 1)
	if progress == 2 || w.one(3) {
		place = inits + 1
	}
	for i := range w.pod.Spec.InitContainers {
		c := &w.pod.Spec.InitContainers[i]
		switch {
		case i < place && podutil.IsRestartableInitContainer(c):
			w.instance(c, w.pick("running", "running", "running", "exited", "none"))
		case i < place:
			w.instance(c, w.pick("exited:0", "exited:0", "exited:0", "exited:0", "none"))
		case i == place:
			w.instance(c, w.pick("none", "created", "running", "exited"))
		default:
			w.waits(c, "none")
		}
	}
	for i := range w.pod.Spec.Containers {
		if place >= inits {
			w.instance(&w.pod.Spec.Containers[i], w.pick("none", "created", "running", "running", "running", "running", "exited", "exited:0"))
		}
	}
	for i := range w.pod.Spec.EphemeralContainers {
		w.instance((*v1.Container)(&w.pod.Spec.EphemeralContainers[i].EphemeralContainerCommon), w.pick("none", "running", "exited"))
	}
	w.forgetWaits()
}

// Init containers that the runtime has forgotten do not wait once regular ones are there: the kubelet would take them for
// completed, and the next time for waiting.
func (w *world) forgetWaits() {
	if !kuberuntime.HasAnyRegularContainerCreated(w.pod, w.observed) {
		return
	}
	kept := w.given[:0]
	for _, word := range w.given {
		name, isWait := strings.CutPrefix(word, "wait(i")
		if isWait {
			name = "i" + name[:strings.Index(name, ")")]
			if w.observed.FindContainerStatusByName(name) == nil {
				w.reasons.Remove(w.pod.UID, name)
				continue
			}
		}
		kept = append(kept, word)
	}
	w.given = kept
}

func (w *world) sandbox() {
	if w.sandboxes == 0 || w.one(8) {
		w.sandboxes++
	}
	for i := w.sandboxes - 1; i >= 0; i-- {
		state, word := runtimeapi.PodSandboxState_SANDBOX_READY, "ready"
		if i < w.sandboxes-1 || w.one(8) {
			state, word = runtimeapi.PodSandboxState_SANDBOX_NOTREADY, "notready"
		}
		sandbox := &runtimeapi.PodSandboxStatus{Id: "sb" + strconv.Itoa(i), State: state,
			Metadata: &runtimeapi.PodSandboxMetadata{Attempt: uint32(i)}, Network: &runtimeapi.PodSandboxNetworkStatus{},
			Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: &runtimeapi.NamespaceOption{}}}}
		if w.pod.Spec.HostNetwork {
			sandbox.Linux.Namespaces.Options.Network = runtimeapi.NamespaceMode_NODE
			word += ":host"
		} else {
			sandbox.Network.Ip = "10.0.0." + strconv.Itoa(i+1)
			word += ":" + sandbox.Network.Ip
			if i == w.sandboxes-1 && state == runtimeapi.PodSandboxState_SANDBOX_READY {
				w.observed.IPs = []string{sandbox.Network.Ip}
			}
		}
		w.observed.SandboxStatuses = append(w.observed.SandboxStatuses, sandbox)
		w.given = append(w.given, sandbox.Id+"="+word)
	}
	// A pod whose sandbox has gone keeps its addresses: the kubelet's PLEG sees to that.
	if len(w.observed.IPs) == 0 && !w.activeSandbox() {
		w.observed.IPs = w.ips
	}
	w.ips = w.observed.IPs
}

func (w *world) activeSandbox() bool {
	return w.observed.SandboxStatuses[0].State == runtimeapi.PodSandboxState_SANDBOX_READY
}

// The newest instance of a container in this state, and the one before it, which has ended. What ran goes on or has ended.
func (w *world) instance(c *v1.Container, state string) {
	if state == "none" && w.instances[c.Name] == 0 {
		w.waits(c, state)
		return
	}
	if w.instances[c.Name] == 0 || w.one(4) {
		w.instances[c.Name]++
	}
	if state == "none" { // it was there, and the runtime has forgotten it
		w.waits(c, state)
		return
	}
	count := w.instances[c.Name]
	for attempt := count - 1; attempt >= 0 && attempt >= count-2; attempt-- {
		now := state
		if attempt < count-1 {
			now = "exited"
		}
		w.observe(c, attempt, now)
	}
	w.waits(c, state)
	if state == "running" {
		w.probe(c, count-1)
	}
}

func (w *world) observe(c *v1.Container, attempt int, state string) {
	id := kubecontainer.ContainerID{Type: runtimeName, ID: fmt.Sprintf("%s/%d", c.Name, attempt)}
	started := epoch.Add(time.Duration(attempt) * time.Minute)
	s := &kubecontainer.Status{ID: id, Name: c.Name, RestartCount: attempt, Image: "docker.io/" + c.Image,
		ImageRef: "sha256:" + c.Name, CreatedAt: started}
	word := state
	switch {
	case state == "created":
		s.State = kubecontainer.ContainerStateCreated
	case state == "running":
		s.State, s.StartedAt = kubecontainer.ContainerStateRunning, started
		if w.one(2) {
			milli := []int64{5, 100, 500, 2000}[w.Intn(4)]
			s.Resources = &kubecontainer.ContainerResources{CPULimit: resource.NewMilliQuantity(milli, resource.DecimalSI),
				CPURequest:  resource.NewMilliQuantity(milli, resource.DecimalSI),
				MemoryLimit: resource.NewQuantity(128<<20, resource.BinarySI)}
			word += ":cpu=" + strconv.FormatInt(milli, 10)
		}
		if w.one(4) {
			s.User = &kubecontainer.ContainerUser{Linux: &kubecontainer.LinuxContainerUser{UID: 7, GID: 8, SupplementalGroups: []int64{8, 9}}}
			word += ":user"
		}
	default:
		s.State, s.StartedAt, s.FinishedAt = kubecontainer.ContainerStateExited, started, started.Add(30*time.Second)
		s.Reason = "Completed"
		if state == "exited" {
			// Of one instance always the same.
			s.ExitCode = []int{0, 1, 3, 42}[(attempt+len(c.Image)+int(w.pod.UID[len(w.pod.UID)-1]))%4]
		}
		if s.ExitCode != 0 {
			s.Reason, s.Message = "Error", "bye"
		}
		word = "exited:" + strconv.Itoa(s.ExitCode)
	}
	w.observed.ContainerStatuses = append(w.observed.ContainerStatuses, s)
	if w.activeSandbox() {
		w.observed.ActiveContainerStatuses = append(w.observed.ActiveContainerStatuses, s)
	}
	w.given = append(w.given, id.ID+"="+word)
}

func (w *world) probe(c *v1.Container, attempt int) {
	id := kubecontainer.ContainerID{Type: runtimeName, ID: fmt.Sprintf("%s/%d", c.Name, attempt)}
	speak := func(manager results.Manager, name string, wanted bool) {
		if !wanted {
			return
		}
		result, known := manager.Get(id)
		if !known && w.one(4) {
			return
		}
		if !known || w.one(3) {
			result = []results.Result{results.Success, results.Success, results.Failure}[w.Intn(3)]
		}
		manager.Set(id, result, w.pod)
		select {
		case <-manager.Updates():
		default:
		}
		word := "ok"
		if result == results.Failure {
			word = "fail"
		}
		w.given = append(w.given, name+"("+id.ID+")="+word)
	}
	speak(w.readiness, "ready", c.ReadinessProbe != nil)
	speak(w.startup, "startup", c.StartupProbe != nil)
}

// Why it is not started, where the kubelet would tell it.
func (w *world) waits(c *v1.Container, state string) {
	w.reasons.Remove(w.pod.UID, c.Name)
	if state == "running" || !w.one(3) || w.pod.DeletionTimestamp != nil {
		return
	}
	reason := w.pick("CrashLoopBackOff", "ErrImagePull", "CreateContainerError")
	result := kubecontainer.NewSyncResult(kubecontainer.StartContainer, c.Name)
	result.Fail(errors.New(reason), "because")
	w.reasons.Update(w.pod.UID, kubecontainer.PodSyncResult{SyncResults: []*kubecontainer.SyncResult{result}})
	if !kubecontainer.ShouldContainerBeRestarted(klog.Logger{}, c, w.pod, w.observed) {
		w.reasons.Remove(w.pod.UID, c.Name)
		return
	}
	w.given = append(w.given, "wait("+c.Name+")="+reason)
}

func (w *world) stopAll() {
	for _, s := range w.observed.ContainerStatuses {
		if s.State == kubecontainer.ContainerStateExited {
			continue
		}
		for i, word := range w.given {
			if strings.HasPrefix(word, s.ID.ID+"=") {
				w.given[i] = s.ID.ID + "=exited:" + strconv.Itoa(137)
			}
		}
		s.State, s.ExitCode, s.Reason, s.Message = kubecontainer.ContainerStateExited, 137, "Error", "bye"
		s.StartedAt, s.FinishedAt = s.CreatedAt, s.CreatedAt.Add(30*time.Second)
		s.Resources, s.User = nil, nil
	}
	kept := w.given[:0]
	for _, word := range w.given {
		name, isWait := strings.CutPrefix(word, "wait(")
		if isWait {
			w.reasons.Remove(w.pod.UID, name[:strings.Index(name, ")")])
			continue
		}
		if !strings.HasPrefix(word, "ready(") && !strings.HasPrefix(word, "startup(") {
			kept = append(kept, word)
		}
	}
	w.given = kept
}

func (w *world) row(terminal, finished bool) {
	ctx := klog.NewContext(context.Background(), klog.Logger{})
	before := "-"
	if cached, ok := w.statuses.GetPodStatus(w.pod.UID); ok {
		before = text(cached)
	}
	pod := w.pod.DeepCopy()
	given := append([]string{}, w.given...)
	if terminal {
		given = append(given, "ends")
	}
	refused := false
	for range 2 {
		made := generateAPIPodStatus(w.kubelet, ctx, pod, w.observed, terminal)
		_, changed := w.statuses.SetPodStatus(klog.Logger{}, pod, made)
		refused = !changed && !w.same(made)
	}
	if finished {
		given = append(given, "finished")
		last := pod.DeepCopy()
		last.Status, _ = w.statuses.GetPodStatus(w.pod.UID)
		w.statuses.TerminatePod(klog.Logger{}, last)
	}
	after, _ := w.statuses.GetPodStatus(w.pod.UID)
	result := text(after)
	if refused {
		result = "refused"
	}
	w.print(marshal(pod), before, strings.Join(given, " "), result)
}

func (w *world) print(pod, before, given, after string) {
	lastPod, lastAfter := w.lastPod, w.lastAfter
	w.lastPod = pod
	if after != "refused" {
		w.lastAfter = after
	}
	if pod == lastPod {
		pod = "="
	}
	if before == lastAfter {
		before = "="
	}
	fmt.Printf("%s\t%s\t%s\t%s\n", pod, before, given, after)
}

// Whether the status manager did not take a status because it has it already, not because it must not be.
func (w *world) same(made v1.PodStatus) bool {
	cached, ok := w.statuses.GetPodStatus(w.pod.UID)
	if !ok {
		return false
	}
	states := func(s v1.PodStatus) (out []string) {
		for _, c := range append(append([]v1.ContainerStatus{}, s.InitContainerStatuses...), s.ContainerStatuses...) {
			out = append(out, fmt.Sprint(c.Name, c.State.Terminated != nil))
		}
		return
	}
	a, b := states(cached), states(made)
	return reflect.DeepEqual(a, b)
}

func text(s v1.PodStatus) string {
	s = *s.DeepCopy()
	s.StartTime = nil
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return marshal(s)
}

func marshal(of any) string {
	bytes, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	return string(bytes)
}
