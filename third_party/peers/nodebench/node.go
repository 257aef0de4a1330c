package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

type agentKind struct {
	name, program string
}

// node is one agent with a simulated runtime, each a process of its own.
type node struct {
	name, folder string
	kind         agentKind
	runtime      *process
	agent        *process
	audit        *audit
}

// Those that were not stopped; their logs are shown when something fails.
var nodes []*node

func newNode(b *bench, kind agentKind, pods, qps int) *node {
	n := &node{name: fmt.Sprintf("%s-%d-%d", kind.name, pods, qps), kind: kind}
	nodes = append(nodes, n)
	// In memory: what a file system takes to make a pod's directories is not what is measured. A mount of its own: all that
	// an agent leaves mounted below goes with it.
	n.folder = filepath.Join("/dev/shm", n.name)
	check(os.Mkdir(n.folder, 0o755))
	check(syscall.Mount("none", n.folder, "tmpfs", 0, "mode=755"))
	check(os.WriteFile(n.path("kubeconfig"), nodeKubeconfig(n.name), 0o600))
	check(os.Mkdir(n.path("manifests"), 0o755))
	check(os.WriteFile(n.path("config"), []byte(n.config(pods, qps)), 0o644))
	n.audit = newAudit(n.name)
	n.runtime = start(n.path("cri_sim.log"), b.options.criSim, "--socket", n.path("cri.sock"), "--control", n.path("control"),
		"--image-folder", n.folder, "--no-declared-ports")
	n.await("cri_sim", 30*time.Second, func() (int, int) {
		_, err := n.tryAsk(`{"do":"state"}`)
		return count(err == nil), 1
	})
	return n
}

func (n *node) path(name string) string { return filepath.Join(n.folder, name) }

// The same for both.
func (n *node) config(pods, qps int) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: %[1]s/manifests
containerRuntimeEndpoint: unix://%[1]s/cri.sock
podLogsDir: %[1]s/logs
volumePluginDir: %[1]s/plugins
clusterDNS: [10.0.0.10]
clusterDomain: cluster.local
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
serializeImagePulls: false
maxPods: %[2]d
kubeAPIQPS: %[3]d
kubeAPIBurst: %[4]d
eventRecordQPS: %[3]d
eventBurst: %[4]d
evictionHard: {memory.available: "1Mi", nodefs.available: "0%%", imagefs.available: "0%%"}
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}, x509: {clientCAFile: ""}}
authorization: {mode: AlwaysAllow}
`, n.folder, pods+100, qps, 2*qps)
}

func (n *node) startAgent() {
	n.agent = start(n.path("agent.log"), n.kind.program, "--config", n.path("config"), "--kubeconfig", n.path("kubeconfig"),
		"--root-dir", n.path("root"), "--cert-dir", n.path("pki"), "--node-ip", "10.99.0.1", "--hostname-override", n.name)
}

func (n *node) stop(logs string) {
	n.agent.kill()
	n.runtime.kill()
	if logs != "" {
		text, err := os.ReadFile(n.path("agent.log"))
		check(err)
		check(os.WriteFile(filepath.Join(logs, n.name+".log"), text, 0o644))
	}
	check(syscall.Unmount(n.folder, syscall.MNT_DETACH))
	check(os.Remove(n.folder))
	nodes = nodes[:len(nodes)-1]
}

func count(done bool) int {
	if done {
		return 1
	}
	return 0
}

func (n *node) alive() {
	for _, p := range []*process{n.agent, n.runtime} {
		if p != nil && !p.runs() {
			fail(filepath.Base(p.command.Path) + " has ended")
		}
	}
}

// await asks often until it is so, and says now and then how far it is.
func (n *node) await(what string, limit time.Duration, progress func() (done, of int)) {
	told := newProgress(what)
	for done, of := progress(); done < of; done, of = progress() {
		n.alive()
		if time.Since(told.began) > limit {
			fail(fmt.Sprintf("%s: %d of %d after %s", what, done, of, limit))
		}
		told.note(done, of)
		time.Sleep(10 * time.Millisecond)
	}
}

// settle waits until the agent does nothing more than an idle one: less than a tenth of a core for three seconds. One that is
// never that calm has settled as far as it ever does.
func (n *node) settle() {
	const window = 3 * time.Second
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		before := n.agent.cpu()
		time.Sleep(window)
		if n.agent.cpu()-before < 0.1*window.Seconds() {
			return
		}
	}
}

// mounts are the places below the agent's folder on which something is mounted.
func (n *node) mounts() int {
	text, err := os.ReadFile("/proc/self/mountinfo")
	check(err)
	return strings.Count(string(text), " "+n.path("root")+"/")
}

// showLogs is of no use before anything was started, and then shows nothing.
func showLogs() {
	for _, n := range nodes {
		log, err := os.ReadFile(n.path("agent.log"))
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(log)), "\n")
		fmt.Fprintln(os.Stderr, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
}

// ---- the runtime's control

func (n *node) ask(command string) map[string]any {
	answer, err := n.tryAsk(command)
	check(err)
	return answer
}

func (n *node) tryAsk(command string) (map[string]any, error) {
	connection, err := net.Dial("unix", n.path("control"))
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := connection.Write([]byte(command + "\n")); err != nil {
		return nil, err
	}
	line, err := bufio.NewReaderSize(connection, 1<<20).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, err
	}
	if answer["ok"] != true {
		return nil, fmt.Errorf("cri_sim says %s", line)
	}
	return answer, nil
}

// calls is how many calls the runtime has answered, by method.
func (n *node) calls() map[string]int {
	calls := map[string]int{}
	methods, _ := n.ask(`{"do":"counters"}`)["methods"].(map[string]any)
	for name, counts := range methods {
		one, _ := counts.(map[string]any)
		number, _ := one["calls"].(float64)
		calls[name] = int(number)
	}
	return calls
}

func sum(numbers map[string]int) int {
	all := 0
	for _, number := range numbers {
		all += number
	}
	return all
}

// changing is the number of calls that change something.
func changing(calls map[string]int) int {
	all := 0
	for _, method := range []string{"RunPodSandbox", "StopPodSandbox", "RemovePodSandbox", "CreateContainer", "StartContainer",
		"StopContainer", "RemoveContainer"} {
		all += calls[method]
	}
	return all
}
