// Command admission prints what the kubelet's own admission makes of random pods on random nodes: "admission SEED ROWS".
// tests/sync/admission/golden/verdicts.txt is its output ("admission 1 300"). A row: the node; the pods that are there; the
// pod; reason and message of its rejection, both empty if it is taken; the pods that were preempted for it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/preemption"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: admission SEED ROWS")
		os.Exit(2)
	}
	klog.SetLogger(klog.Logger{})
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	rows, _ := strconv.Atoi(os.Args[2])
	fmt.Println("# Printed by third_party/peers/admission: node; pods that are there; pod; reason; message; preempted pods.")
	r := &random{rand.New(rand.NewSource(seed))}
	for range rows {
		r.row()
	}
}

type random struct{ *rand.Rand }

func (r *random) chance(percent int) bool { return r.Intn(100) < percent }

func (r *random) of(words ...string) string { return words[r.Intn(len(words))] }

func (r *random) amounts(percent int) v1.ResourceList {
	list := v1.ResourceList{}
	put := func(name, quantity string) {
		if r.chance(percent) {
			list[v1.ResourceName(name)] = resource.MustParse(quantity)
		}
	}
	put("cpu", r.of("0", "100m", "250m", "1", "1500m", "0.1234", "2"))
	put("memory", r.of("0", "64Mi", "100M", "1Gi", "1.5Gi", "123456789"))
	put("ephemeral-storage", r.of("1Gi", "500M"))
	return list
}

func (r *random) requirements() v1.ResourceRequirements {
	req := v1.ResourceRequirements{Requests: r.amounts(50)}
	if r.chance(15) {
		req.Limits = req.Requests.DeepCopy()
	}
	return req
}

func (r *random) container(name, scalar string) v1.Container {
	c := v1.Container{Name: name, Resources: r.requirements()}
	if scalar != "" {
		c.Resources.Requests[v1.ResourceName(scalar)] = resource.MustParse(r.of("1", "2", "3"))
	}
	if r.chance(25) {
		c.Ports = []v1.ContainerPort{{
			ContainerPort: 80,
			HostPort:      int32(8080 + r.Intn(3)),
			HostIP:        r.of("", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
			Protocol:      v1.Protocol(r.of("", "TCP", "UDP")),
		}}
	}
	return c
}

func (r *random) pod(name string, scalars int) *v1.Pod {
	// One at most: upstream looks at them in the order of a map.
	scalar := ""
	if r.chance(scalars) {
		scalar = r.of("example.com/gpu", "example.com/unknown", "hugepages-2Mi")
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}}
	always := v1.ContainerRestartPolicyAlways
	for i := range r.Intn(3) {
		c := r.container("i"+strconv.Itoa(i), r.of("", "", scalar))
		if r.chance(50) {
			c.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	for i := range 1 + r.Intn(2) {
		pod.Spec.Containers = append(pod.Spec.Containers, r.container("c"+strconv.Itoa(i), scalar))
	}
	if r.chance(20) {
		pod.Spec.Overhead = r.amounts(60)
	}
	if r.chance(20) {
		pod.Spec.Resources = &v1.ResourceRequirements{Requests: r.amounts(60)}
		delete(pod.Spec.Resources.Requests, "ephemeral-storage")
	}
	if r.chance(40) {
		priority := int32([]int{0, 10, 2000000000, 2000001000}[r.Intn(4)])
		pod.Spec.Priority = &priority
	}
	pod.Annotations = map[string]string{"kubernetes.io/config.source": r.of("api", "api", "file")}
	return pod
}

func (r *random) requirement() v1.NodeSelectorRequirement {
	req := v1.NodeSelectorRequirement{
		Key:      r.of("zone", "size", "disk", "bad key!"),
		Operator: v1.NodeSelectorOperator(r.of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Nonsense")),
	}
	switch req.Operator {
	case "Exists", "DoesNotExist":
	case "Gt", "Lt":
		req.Values = []string{r.of("3", "5", "+7", "x", "007")}
	default:
		req.Values = []string{r.of("a", "b", "5"), r.of("a", "7")}
	}
	if r.chance(10) {
		req.Values = nil
	}
	return req
}

func (r *random) placement(pod *v1.Pod) {
	if r.chance(10) {
		pod.Spec.NodeName = r.of("here", "there")
	}
	if r.chance(8) {
		pod.Spec.NodeSelector = map[string]string{r.of("zone", "size"): r.of("a", "5")}
	}
	if r.chance(22) {
		selector := &v1.NodeSelector{}
		for range r.Intn(3) {
			term := v1.NodeSelectorTerm{}
			for range r.Intn(3) {
				term.MatchExpressions = append(term.MatchExpressions, r.requirement())
			}
			if r.chance(20) {
				term.MatchFields = []v1.NodeSelectorRequirement{{
					Key:      r.of("metadata.name", "metadata.namespace"),
					Operator: v1.NodeSelectorOperator(r.of("In", "NotIn", "Exists")),
					Values:   []string{r.of("here", "there")},
				}}
			}
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
		}
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}
	}
	for range r.Intn(3) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{
			Key:      r.of("", "k", "other"),
			Operator: v1.TolerationOperator(r.of("", "Equal", "Exists", "Gt")),
			Value:    r.of("", "v", "5"),
			Effect:   v1.TaintEffect(r.of("", "NoExecute", "NoSchedule")),
		})
	}
	if r.chance(6) {
		pod.Labels = map[string]string{"kubernetes.io/os": r.of("linux", "windows")}
	}
	if r.chance(6) {
		pod.Spec.OS = &v1.PodOS{Name: v1.OSName(r.of("linux", "windows"))}
	}
	pod.Spec.SecurityContext = &v1.PodSecurityContext{}
	if r.chance(6) {
		policy := v1.SupplementalGroupsPolicy(r.of("Merge", "Strict"))
		pod.Spec.SecurityContext.SupplementalGroupsPolicy = &policy
	}
	if r.chance(12) {
		pod.Spec.HostNetwork = r.chance(30)
		pod.Spec.HostIPC = r.chance(30)
		pod.Spec.SecurityContext.Sysctls = []v1.Sysctl{{
			Name: r.of("net.ipv4.tcp_syncookies", "net/ipv4/tcp_syncookies", "kernel.shm_rmid_forced", "kernel.shmmax",
				"fs.mqueue.msg_max", "kernel.panic", "net.core.somaxconn", "net.ipv4.conf.eno2/100.rp_filter"),
			Value: "1",
		}}
	}
}

func (r *random) node() *v1.Node {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here", Labels: map[string]string{}}}
	for _, label := range []string{"zone", "size", "disk"} {
		if r.chance(60) {
			node.Labels[label] = r.of("a", "b", "5", "7")
		}
	}
	for range r.Intn(3) {
		node.Spec.Taints = append(node.Spec.Taints, v1.Taint{
			Key: r.of("k", "other"), Value: r.of("", "v", "5"), Effect: v1.TaintEffect(r.of("NoSchedule", "NoSchedule", "NoExecute")),
		})
	}
	node.Status.Allocatable = v1.ResourceList{
		"cpu":               resource.MustParse(r.of("3", "4", "8", "7900m")),
		"memory":            resource.MustParse(r.of("4Gi", "6Gi", "8000M")),
		"ephemeral-storage": resource.MustParse(r.of("3Gi", "20Gi")),
		"pods":              resource.MustParse(r.of("2", "4", "110", "110", "110")),
	}
	if r.chance(60) {
		node.Status.Allocatable["example.com/gpu"] = resource.MustParse(r.of("0", "2", "8"))
	}
	if r.chance(60) {
		node.Status.Allocatable["hugepages-2Mi"] = resource.MustParse(r.of("0", "4"))
	}
	if r.chance(50) {
		yes := r.chance(50)
		node.Status.Features = &v1.NodeFeatures{SupplementalGroupsPolicy: &yes}
	}
	return node
}

func (r *random) row() {
	node := r.node()
	var others []*v1.Pod
	for i := range r.Intn(6) {
		others = append(others, r.pod("p"+strconv.Itoa(i), 20))
	}
	pod := r.pod("new", 30)
	r.placement(pod)
	// Texts first: upstream writes into the node's labels.
	row := []string{text(node), text(others), text(pod)}
	reason, message, killed := admit(node, others, pod)
	sort.Strings(killed)
	fmt.Println(strings.Join(append(row, reason, strconv.QuoteToASCII(message), strings.Join(killed, " ")), "\t"))
}

func admit(node *v1.Node, others []*v1.Pod, pod *v1.Pod) (reason, message string, killed []string) {
	attributes := &lifecycle.PodAdmitAttributes{Pod: pod, OtherPods: others}
	allowed := append(sysctl.SafeSysctlAllowlist(context.Background()), "kernel.shmmax", "fs.mqueue.*", "net.ipv4.conf.*")
	list, err := sysctl.NewAllowlist(allowed)
	if err != nil {
		panic(err)
	}
	if result := list.Admit(attributes); !result.Admit {
		return result.Reason, result.Message, nil
	}
	kill := func(pod *v1.Pod, _ bool, _ *int64, _ func(*v1.PodStatus)) error {
		killed = append(killed, string(pod.UID))
		return nil
	}
	preempt := preemption.NewCriticalPodAdmissionHandler(func() []*v1.Pod { return others }, kill, &record.FakeRecorder{})
	handler := lifecycle.NewPredicateAdmitHandler(
		func(context.Context, bool) (*v1.Node, error) { return node, nil }, preempt,
		func(*framework.NodeInfo, *lifecycle.PodAdmitAttributes) error { return nil })
	result := handler.Admit(attributes)
	return result.Reason, result.Message, killed
}

// What Go writes although it is empty.
var empty = regexp.MustCompile(`,"status":{}|,"daemonEndpoints":{"kubeletEndpoint":{"Port":0}}|,"nodeInfo":{[^}]*}`)

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return empty.ReplaceAllString(string(data), "")
}
