// Command nodestatus prints what the kubelet makes of a machine and its configuration, as tables for
// tests/managers/node/golden:
//
//	nodestatus resources SEED ROWS  CPUs, bytes of memory, huge pages (KiB:number,...), bytes of the root file system, pods,
//	                                pods per core, system reserved, kube reserved, eviction of memory, of storage, the status
//	                                before; then the status with capacity and allocatable
//	nodestatus ready                the causes, each in a column behind "not"; then the condition's message
//	nodestatus addresses            node IPs, host name, external cloud, addresses of the machine, those before; then the
//	                                addresses, the annotation and "ok" or "error"
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	"k8s.io/kubernetes/pkg/kubelet/nodestatus"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch {
	case len(os.Args) == 4 && os.Args[1] == "resources":
		seed, _ := strconv.ParseInt(os.Args[2], 10, 64)
		rows, _ := strconv.Atoi(os.Args[3])
		fmt.Fprintln(out, "# Printed by third_party/peers/nodestatus: a machine, its configuration and the node's resources.")
		random := rand.New(rand.NewSource(seed))
		for range rows {
			fmt.Fprintln(out, resources(random))
		}
	case len(os.Args) == 2 && os.Args[1] == "ready":
		fmt.Fprintln(out, "# Printed by third_party/peers/nodestatus: why a node is not ready, and how its condition says so.")
		for _, causes := range [][]string{{}, {"a"}, {"a", "b"}, {"a", "a"}, {"a", "b", "a"}, {"a, b", "[c, d]"}} {
			fmt.Fprintln(out, ready(causes))
		}
	case len(os.Args) == 2 && os.Args[1] == "addresses":
		fmt.Fprintln(out, "# Printed by third_party/peers/nodestatus: what is configured, and the node's addresses.")
		for _, c := range addressCases {
			fmt.Fprintln(out, addresses(c))
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: nodestatus resources SEED ROWS | ready | addresses")
		os.Exit(2)
	}
}

func quote(text string) string { return strconv.QuoteToASCII(text) }

func marshal(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return quote(string(text))
}

func pick(random *rand.Rand, of ...string) string { return of[random.Intn(len(of))] }

func list(random *rand.Rand) map[string]string {
	values := map[string]string{}
	if random.Intn(2) == 0 {
		values["cpu"] = pick(random, "100m", "1", "0.5", "1500m", "300")
	}
	if random.Intn(2) == 0 {
		values["memory"] = pick(random, "100Mi", "1G", "1.5Gi", "1000", "900Gi", "0")
	}
	if random.Intn(2) == 0 {
		values["ephemeral-storage"] = pick(random, "1Gi", "10G", "123456789")
	}
	if random.Intn(4) == 0 {
		values["hugepages-2Mi"] = "2Mi"
	}
	return values
}

func add(list corev1.ResourceList, values map[string]string) {
	for name, value := range values {
		list[corev1.ResourceName(name)] = resource.MustParse(value)
	}
}

func threshold(text string) *evictionapi.ThresholdValue {
	if text == "" {
		return nil
	}
	if strings.HasSuffix(text, "%") {
		percent, err := strconv.ParseFloat(strings.TrimRight(text, "%"), 32)
		if err != nil {
			panic(err)
		}
		return &evictionapi.ThresholdValue{Percentage: float32(percent) / 100}
	}
	quantity := resource.MustParse(text)
	return &evictionapi.ThresholdValue{Quantity: &quantity}
}

// As the container manager adds it up.
func reservation(capacity corev1.ResourceList, system, kube map[string]string, evictions map[corev1.ResourceName]string) corev1.ResourceList {
	systemList, kubeList := corev1.ResourceList{}, corev1.ResourceList{}
	add(systemList, system)
	add(kubeList, kube)
	result := corev1.ResourceList{}
	for name, there := range capacity {
		value := resource.NewQuantity(0, resource.DecimalSI)
		value.Add(systemList[name])
		value.Add(kubeList[name])
		if t := threshold(evictions[name]); t != nil {
			value.Add(*evictionapi.GetThresholdQuantity(*t, &there))
		}
		if !value.IsZero() {
			result[name] = *value
		}
	}
	return result
}

func resources(random *rand.Rand) string {
	info := &cadvisorapi.MachineInfo{
		NumCores:       1 + random.Intn(128),
		MemoryCapacity: (1<<29 + uint64(random.Intn(1<<38))) &^ 1023,
	}
	var pages []string
	for _, kib := range []uint64{2048, 1048576} {
		if random.Intn(2) == 0 {
			number := uint64(random.Intn(20))
			info.HugePages = append(info.HugePages, cadvisorapi.HugePagesInfo{PageSize: kib, NumPages: number})
			pages = append(pages, fmt.Sprintf("%d:%d", kib, number))
		}
	}
	rootBytes := int64(random.Intn(1<<40)) + 1
	podsMax, podsPerCore := 110, random.Intn(3)*5
	system, kube := list(random), list(random)
	evictMemory, evictStorage := pick(random, "", "100Mi", "5%", "0.1%"), pick(random, "", "10%", "15.5%", "1Gi")
	node := &corev1.Node{}
	if random.Intn(3) == 0 {
		node.Status.Capacity = corev1.ResourceList{"vendor.com/gpu": resource.MustParse("2"), "memory": resource.MustParse("1Gi")}
		node.Status.Allocatable = corev1.ResourceList{"vendor.com/old": resource.MustParse("1"), "odd": resource.MustParse("1")}
	}
	before := marshal(node.Status)

	capacity := corev1.ResourceList{
		"cpu":               *resource.NewMilliQuantity(int64(info.NumCores*1000), resource.DecimalSI),
		"memory":            *resource.NewQuantity(int64(info.MemoryCapacity), resource.BinarySI),
		"ephemeral-storage": *resource.NewQuantity(rootBytes, resource.BinarySI),
	}
	for _, p := range info.HugePages {
		size := resource.NewQuantity(int64(p.PageSize*1024), resource.BinarySI)
		capacity[corev1.ResourceName("hugepages-"+size.String())] = *resource.NewQuantity(int64(p.PageSize*1024*p.NumPages), resource.BinarySI)
	}
	setter := nodestatus.MachineInfo("n", podsMax, podsPerCore,
		func() (*cadvisorapi.MachineInfo, error) { return info, nil },
		func(bool) corev1.ResourceList {
			return corev1.ResourceList{"ephemeral-storage": capacity["ephemeral-storage"]}
		},
		func() (corev1.ResourceList, corev1.ResourceList, []string) { return nil, nil, nil },
		func() corev1.ResourceList {
			return reservation(capacity, system, kube, map[corev1.ResourceName]string{"memory": evictMemory, "ephemeral-storage": evictStorage})
		},
		func(string, string, string) {}, true)
	if err := setter(context.Background(), node); err != nil {
		panic(err)
	}
	after := corev1.NodeStatus{Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable}
	return strings.Join([]string{fmt.Sprint(info.NumCores), fmt.Sprint(info.MemoryCapacity), strings.Join(pages, ","), fmt.Sprint(rootBytes),
		fmt.Sprint(podsMax), fmt.Sprint(podsPerCore), marshal(system), marshal(kube), evictMemory, evictStorage, before, marshal(after)}, "\t")
}

func ready(causes []string) string {
	errs := []error{}
	for _, cause := range causes {
		errs = append(errs, errors.New(cause))
	}
	none := func() error { return nil }
	node := &corev1.Node{Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"cpu": {}, "memory": {}, "pods": {}, "ephemeral-storage": {}}}}
	setter := nodestatus.ReadyCondition(time.Now, func() error { return utilerrors.NewAggregate(errs) }, none, none,
		func() cm.Status { return cm.Status{} }, none, func(klog.Logger, string, string) {}, true)
	if err := setter(context.Background(), node); err != nil {
		panic(err)
	}
	row := []string{"not"}
	for _, cause := range causes {
		row = append(row, quote(cause))
	}
	return strings.Join(append(row, quote(node.Status.Conditions[0].Message)), "\t")
}

type addressCase struct {
	nodeIPs, hostname string
	external          bool
	machine, before   string
}

var addressCases = []addressCase{
	{"10.0.0.1", "host", false, "10.0.0.1", ""},
	{"10.0.0.1", "host", false, "10.0.0.2", ""},
	{"10.0.0.1,fd00::1", "host", false, "10.0.0.1,fd00::1", ""},
	{"fd00::1,10.0.0.1", "host", false, "10.0.0.1,fd00::1", "10.9.9.9"},
	{"10.0.0.1,fd00::2", "host", false, "10.0.0.1,fd00::1", "10.9.9.9"},
	{"127.0.0.1", "host", false, "127.0.0.1", ""},
	{"169.254.0.1", "host", false, "169.254.0.1", ""},
	{"224.0.0.1", "host", false, "224.0.0.1", ""},
	{"", "10.1.1.1", false, "10.0.0.1", ""},
	{"", "2001:DB8:0:0::1", false, "10.0.0.1", ""},
	{"", "010.001.0.9", false, "", ""},
	{"", "host", true, "10.0.0.1", ""},
	{"", "host", true, "10.0.0.1", "10.9.9.9"},
	{"10.0.0.1", "host", true, "10.0.0.1", ""},
	{"10.0.0.1", "host", true, "10.0.0.1", "10.9.9.9"},
	{"10.0.0.1,fd00::1", "host", true, "10.0.0.1,fd00::1", ""},
}

func parse(text string) []net.IP {
	var ips []net.IP
	for _, each := range strings.Split(text, ",") {
		if each != "" {
			ips = append(ips, net.ParseIP(each))
		}
	}
	return ips
}

func addresses(c addressCase) string {
	validate := func(ip net.IP) error {
		if ip.IsLoopback() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return errors.New("not fit")
		}
		for _, known := range parse(c.machine) {
			if known.Equal(ip) {
				return nil
			}
		}
		return errors.New("not of this machine")
	}
	node := &corev1.Node{}
	node.Name = "n"
	if c.before != "" {
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: c.before}}
	}
	setter := nodestatus.NodeAddress(parse(c.nodeIPs), validate, c.hostname, c.external, func(net.IP) (net.IP, error) { return nil, errors.New("none") })
	verdict := "ok"
	if setter(context.Background(), node) != nil {
		verdict = "error"
	}
	var found []string
	for _, a := range node.Status.Addresses {
		found = append(found, string(a.Type)+"="+a.Address)
	}
	return strings.Join([]string{c.nodeIPs, c.hostname, fmt.Sprint(c.external), c.machine, c.before, strings.Join(found, ","),
		node.Annotations["alpha.kubernetes.io/provided-node-ip"], verdict}, "\t")
}
