// Command podenv prints what the kubelet gives random containers: "podenv env SEED ROWS" their environment, "podenv dns SEED
// ROWS" how they resolve names, "podenv hosts SEED ROWS" their /etc/hosts, each by the kubelet's own code.
// tests/sync/spec/golden/{environment,dns,hosts}.txt are its output (seed 1; 150, 150 and 40 rows).
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/network/dns"
	"k8s.io/kubernetes/pkg/volume"
)

type random struct{ *rand.Rand }

func (r *random) pick(texts ...string) string { return texts[r.Intn(len(texts))] }
func (r *random) one(in int) bool             { return r.Intn(in) == 0 }
func (r *random) maybe() *bool {
	if r.one(2) {
		return nil
	}
	b := r.one(2)
	return &b
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: podenv env|dns|hosts SEED ROWS")
		os.Exit(2)
	}
	klog.SetLogger(klog.Logger{})
	seed, _ := strconv.ParseInt(os.Args[2], 10, 64)
	rows, _ := strconv.Atoi(os.Args[3])
	r := &random{rand.New(rand.NewSource(seed))}
	switch os.Args[1] {
	case "env":
		fmt.Println("# Printed by third_party/peers/podenv: pod; configMaps; secrets; services; node; addresses; files; the kubelet's environment, or its error.")
		for range rows {
			r.env()
		}
	case "dns":
		fmt.Println("# Printed by third_party/peers/podenv: pod; the cluster's settings; the node's addresses; resolv.conf (-: none); the kubelet's settings; its events.")
		for range rows {
			r.dns()
		}
	case "hosts":
		fmt.Println("# Printed by third_party/peers/podenv: pod's aliases; addresses, name and domain; the kubelet's /etc/hosts.")
		for range rows {
			r.hosts()
		}
	}
}

func line(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func row(columns ...string) { fmt.Println(strings.Join(columns, "\t")) }

func addresses(ips []string) v1.PodStatus {
	var status v1.PodStatus
	for _, ip := range ips {
		status.PodIPs = append(status.PodIPs, v1.PodIP{IP: ip})
	}
	return status
}

func (r *random) key() string { return r.pick("A", "B", "a.b", "LONG_KEY", "missing") }

func (r *random) text() string {
	return r.pick("", "plain", "$(A)", "$(B)-$(A)", "$$(A)", "$(NOT_THERE)", "$(A", "$", "a$b", "$()", "$(KUBERNETES_SERVICE_HOST)",
		"$(P_A)", "x$(MY_SVC_SERVICE_PORT)y", "$(E0)$(E1)", "$$$(E0)", "line\nbreak", "ü")
}

// Volumes of which there are files.
type files struct {
	volume.Mounter
	path string
}

func (f files) GetPath() string                  { return f.path }
func (f files) GetAttributes() volume.Attributes { return volume.Attributes{} }

type objects struct {
	configMaps map[string]*v1.ConfigMap
	secrets    map[string]*v1.Secret
}

type configMaps struct{ *objects }

func (o configMaps) GetConfigMap(ns, name string) (*v1.ConfigMap, error) {
	if found, ok := o.configMaps[name]; ok {
		return found, nil
	}
	return nil, apierrors.NewNotFound(v1.Resource("configmap"), name)
}
func (o configMaps) RegisterPod(*v1.Pod)   {}
func (o configMaps) UnregisterPod(*v1.Pod) {}

type secrets struct{ *objects }

func (o secrets) GetSecret(ns, name string) (*v1.Secret, error) {
	if found, ok := o.secrets[name]; ok {
		return found, nil
	}
	return nil, apierrors.NewNotFound(v1.Resource("secret"), name)
}
func (o secrets) RegisterPod(*v1.Pod)   {}
func (o secrets) UnregisterPod(*v1.Pod) {}

func (r *random) quantity() resource.Quantity {
	return resource.MustParse(r.pick("1", "100m", "1500m", "1Gi", "128Mi", "1k", "3", "0"))
}

func (r *random) source(i int) *v1.EnvVarSource {
	name := v1.LocalObjectReference{Name: r.pick("one", "two", "none")}
	switch r.Intn(10) {
	case 0, 1:
		return &v1.EnvVarSource{ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: name, Key: r.key(), Optional: r.maybe()}}
	case 2, 3:
		return &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: name, Key: r.key(), Optional: r.maybe()}}
	case 4, 5, 6:
		return &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{APIVersion: "v1", FieldPath: r.pick("metadata.name", "metadata.namespace",
			"metadata.uid", "metadata.labels['app']", "metadata.annotations['note.x/y']", "metadata.labels['none']", "metadata.labels",
			"metadata.annotations", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
			"status.podIPs")}}
	case 7, 8:
		ref := &v1.ResourceFieldSelector{Resource: r.pick("limits.cpu", "limits.memory", "requests.cpu", "requests.memory",
			"limits.ephemeral-storage", "requests.ephemeral-storage", "limits.hugepages-2Mi")}
		if r.one(2) {
			ref.Divisor = resource.MustParse(r.pick("1", "1m", "1Mi", "1k", "0"))
		}
		if strings.HasSuffix(ref.Resource, "cpu") && r.one(2) {
			ref.Divisor = resource.MustParse(r.pick("1", "1m"))
		} else if ref.Divisor.Cmp(resource.MustParse("1m")) == 0 {
			ref.Divisor = resource.MustParse("1")
		}
		if r.one(4) {
			ref.ContainerName = "other"
		}
		return &v1.EnvVarSource{ResourceFieldRef: ref}
	}
	return &v1.EnvVarSource{FileKeyRef: &v1.FileKeySelector{VolumeName: "files", Path: r.pick("env", "bad"), Key: r.pick("A", "B", "C", "none"), Optional: r.maybe()}}
}

func (r *random) container(name string) v1.Container {
	c := v1.Container{Name: name}
	if r.one(2) {
		c.Resources.Limits = v1.ResourceList{"cpu": r.quantity(), "memory": r.quantity()}
		c.Resources.Requests = v1.ResourceList{"cpu": r.quantity(), "ephemeral-storage": r.quantity()}
	}
	return c
}

func (r *random) env() {
	pod := &v1.Pod{}
	pod.Name, pod.Namespace, pod.UID = "pod", r.pick("default", "space"), types.UID("uid-1")
	pod.Labels = map[string]string{"app": "web", "b": "two words"}
	pod.Annotations = map[string]string{"note.x/y": "a\"b\n"}
	pod.Spec.NodeName, pod.Spec.ServiceAccountName = "node-1", "account"
	links := !r.one(3)
	pod.Spec.EnableServiceLinks = &links
	c := r.container("main")
	for range r.Intn(3) {
		from := v1.EnvFromSource{Prefix: r.pick("", "P_", "")}
		name := v1.LocalObjectReference{Name: r.pick("one", "two", "two", "none")}
		if r.one(2) {
			from.ConfigMapRef = &v1.ConfigMapEnvSource{LocalObjectReference: name, Optional: r.maybe()}
		} else {
			from.SecretRef = &v1.SecretEnvSource{LocalObjectReference: name, Optional: r.maybe()}
		}
		c.EnvFrom = append(c.EnvFrom, from)
	}
	for i := range r.Intn(6) {
		e := v1.EnvVar{Name: r.pick("E"+strconv.Itoa(i), "A", "E0", "KUBERNETES_PORT")}
		if r.one(2) {
			e.Value = r.text()
		} else {
			e.ValueFrom = r.source(i)
		}
		c.Env = append(c.Env, e)
	}
	pod.Spec.Containers = []v1.Container{c, r.container("other")}

	o := &objects{map[string]*v1.ConfigMap{}, map[string]*v1.Secret{}}
	var given v1.ConfigMapList
	var hidden v1.SecretList
	for _, name := range []string{"one", "two"} {
		data, bytes := map[string]string{}, map[string][]byte{}
		for range r.Intn(4) {
			data[r.pick("A", "B", "a.b", "LONG_KEY")] = r.text()
			bytes[r.pick("A", "B", "a.b", "LONG_KEY")] = []byte(r.text())
		}
		if !r.one(8) {
			o.configMaps[name] = &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pod.Namespace}, Data: data}
			given.Items = append(given.Items, *o.configMaps[name])
		}
		if !r.one(8) {
			o.secrets[name] = &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pod.Namespace}, Data: bytes}
			hidden.Items = append(hidden.Items, *o.secrets[name])
		}
	}

	services := r.services()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for i := range services {
		_ = indexer.Add(&services[i])
	}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	node.Status.Addresses = []v1.NodeAddress{{Type: "InternalIP", Address: r.pick("10.1.2.3", "fd00::1")}, {Type: "Hostname", Address: "node-1"}}
	if r.one(3) {
		node.Status.Addresses = append(node.Status.Addresses, v1.NodeAddress{Type: "InternalIP", Address: r.pick("10.9.9.9", "fd00::9")})
	}
	node.Status.Allocatable = v1.ResourceList{"cpu": resource.MustParse("7900m"), "memory": resource.MustParse("15Gi"), "ephemeral-storage": resource.MustParse("90Gi")}
	nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	_ = nodes.Add(node)
	folder, err := os.MkdirTemp("", "podenv")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	text := map[string]string{"env": r.pick("A='1'\n", "# c\n A='x y' # z\nB='two\nlines'\n", "B= 'x'\nA='1'\r\n", "A=''\nC='$(E0)'\n"),
		"bad": r.pick("A=1\n", "A\n", "A ='1'\n", "A='1' b\n", "A='1\n", "='1'\n")}
	for name, content := range text {
		_ = os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644)
	}

	kl := &kubelet.Kubelet{}
	of := reflect.ValueOf(kl).Elem()
	setField(of, "kubeClient", fake.NewSimpleClientset())
	setField(of, "configMapManager", configMaps{o})
	setField(of, "secretManager", secrets{o})
	setField(of, "serviceLister", corelisters.NewServiceLister(indexer))
	setField(of, "serviceHasSynced", cache.InformerSynced(func() bool { return true }))
	setField(of, "nodeLister", corelisters.NewNodeLister(nodes))
	setField(of, "nodeName", types.NodeName("node-1"))
	setField(of, "nodeIPs", []net.IP{net.ParseIP(node.Status.Addresses[0].Address)})
	ips := [][]string{{"10.0.0.5"}, {"fd00::5"}, {"10.0.0.5", "fd00::5"}, {"fd00::5", "10.0.0.5"}, nil}[r.Intn(5)]
	ip := ""
	if len(ips) > 0 {
		ip = ips[0]
	}
	volumes := kubecontainer.VolumeMap{"files": {Mounter: files{path: folder}}}
	env, err := makeEnvironmentVariables(kl, context.Background(), pod, &pod.Spec.Containers[0], ip, ips, volumes)

	columns := []string{line(pod), line(given), line(hidden), line(v1.ServiceList{Items: services}), line(node), line(addresses(ips)), line(v1.ConfigMap{Data: text})}
	if err != nil {
		row(append(columns, "! "+strings.ReplaceAll(err.Error(), folder, "FOLDER"))...)
		return
	}
	sort.Slice(env, func(i, j int) bool { return env[i].Name < env[j].Name })
	var made v1.Container
	for _, e := range env {
		made.Env = append(made.Env, v1.EnvVar{Name: e.Name, Value: e.Value})
	}
	row(append(columns, line(made))...)
}

func (r *random) services() []v1.Service {
	var out []v1.Service
	add := func(ns, name, ip string) {
		s := v1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}, Spec: v1.ServiceSpec{ClusterIP: ip}}
		for i := range 1 + r.Intn(3) {
			s.Spec.Ports = append(s.Spec.Ports, v1.ServicePort{Name: r.pick("", "http", "my-port"), Port: int32(80 + i),
				Protocol: v1.Protocol(r.pick("", "TCP", "UDP", "SCTP"))})
		}
		out = append(out, s)
	}
	if !r.one(5) {
		add("default", "kubernetes", "10.96.0.1")
	}
	for _, ns := range []string{"default", "space"} {
		if r.one(2) {
			add(ns, r.pick("my-svc", "db"), r.pick("10.96.1.1", "fd00::aa", "None", ""))
		}
		if r.one(6) && ns == "space" {
			add(ns, "kubernetes", "10.96.7.7")
		}
	}
	return out
}

func (r *random) dns() {
	pod := &v1.Pod{}
	pod.Name, pod.Namespace, pod.UID = "pod", "space", "uid-1"
	pod.Spec.DNSPolicy = v1.DNSPolicy(r.pick("ClusterFirst", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"))
	pod.Spec.HostNetwork = r.one(4)
	if r.one(2) {
		config := &v1.PodDNSConfig{}
		for i := range r.Intn(4) {
			config.Nameservers = append(config.Nameservers, "192.0.2."+strconv.Itoa(i+r.Intn(2)))
		}
		for i := range r.Intn(4) * r.Intn(10) {
			config.Searches = append(config.Searches, r.pick("a.example", "b", strings.Repeat("l", 250), strings.Repeat("m", 254), "n"+strconv.Itoa(i)))
		}
		for range r.Intn(3) {
			option := v1.PodDNSConfigOption{Name: r.pick("ndots", "edns0", "timeout")}
			if r.one(2) {
				value := r.pick("2", "7", "")
				option.Value = &value
			}
			config.Options = append(config.Options, option)
		}
		pod.Spec.DNSConfig = config
	}
	var conf strings.Builder
	for range r.Intn(7) {
		conf.WriteString(r.pick("nameserver 10.2.0.1\n", "nameserver 10.2.0.2 # x\n", " nameserver\tfd00::53\n", "search corp.example. lab.example .\n",
			"search one two three\n", "options ndots:3 rotate\n", "options ndots:4 timeout:1\n", "# search no\n", ";nameserver 1.1.1.1\n", "domain d\n", "\n"))
	}
	if r.one(12) {
		conf.WriteString("nameserver\n")
	}
	if r.one(12) {
		conf.WriteString("search")
		for i := range 40 {
			conf.WriteString(" s" + strconv.Itoa(i))
		}
		conf.WriteString("\n")
	}
	folder, _ := os.MkdirTemp("", "podenv")
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "resolv.conf")
	_ = os.WriteFile(path, []byte(conf.String()), 0o644)
	if r.one(6) {
		path = ""
	}
	var clusterDNS, nodeIPs []net.IP
	for i := range r.Intn(3) {
		clusterDNS = append(clusterDNS, net.ParseIP([]string{"10.96.0.10", "fd00::a"}[i]))
	}
	for i := range r.Intn(3) {
		nodeIPs = append(nodeIPs, net.ParseIP([]string{"10.1.2.3", "fd00::1"}[i]))
	}
	domain := r.pick("cluster.local", "cluster.local", "")
	recorder := record.NewFakeRecorder(10)
	settings, err := dns.NewConfigurer(recorder, &v1.ObjectReference{Kind: "Node", Name: "node-1"}, nodeIPs, clusterDNS, domain, path).GetPodDNS(context.Background(), pod)
	cluster := v1.PodDNSConfig{Searches: []string{domain}}
	for _, ip := range clusterDNS {
		cluster.Nameservers = append(cluster.Nameservers, ip.String())
	}
	var node []string
	for _, ip := range nodeIPs {
		node = append(node, ip.String())
	}
	columns := []string{line(pod), line(cluster), line(addresses(node)), "-"}
	if path != "" {
		columns[3] = line(conf.String())
	}
	if err != nil {
		row(append(columns, "! "+err.Error(), "{}")...)
		return
	}
	sort.Strings(settings.Options)
	made := v1.PodDNSConfig{Nameservers: settings.Servers, Searches: settings.Searches}
	for _, option := range settings.Options {
		made.Options = append(made.Options, v1.PodDNSConfigOption{Name: option})
	}
	close(recorder.Events)
	var events v1.PodDNSConfig
	for event := range recorder.Events {
		events.Searches = append(events.Searches, event)
	}
	row(append(columns, line(made), line(events))...)
}

func (r *random) hosts() {
	var aliases []v1.HostAlias
	for i := range r.Intn(3) {
		alias := v1.HostAlias{IP: "192.0.2." + strconv.Itoa(i)}
		for j := range r.Intn(3) {
			alias.Hostnames = append(alias.Hostnames, "name"+strconv.Itoa(j))
		}
		aliases = append(aliases, alias)
	}
	ips := [][]string{{"10.0.0.5"}, {"10.0.0.5", "fd00::5"}}[r.Intn(2)]
	domain := r.pick("", "sub.space.svc.cluster.local")
	pod := v1.Pod{Spec: v1.PodSpec{HostAliases: aliases}}
	row(line(pod), line(addresses(ips)), "host", line(domain), line(string(managedHostsFileContent(ips, "host", domain, aliases))))
}
