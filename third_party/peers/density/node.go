package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
}

const clockTicks = 100 // of /proc/PID/stat, a second

func newNode(o options, kind agentKind, pods, qps int) *node {
	// In memory: what a file system takes to make a pod's directories is not what is measured.
	folder, err := os.MkdirTemp("/dev/shm", "density-")
	check(err)
	folders = append(folders, folder)
	n := &node{name: fmt.Sprintf("%s-%d-%d", kind.name, pods, qps), folder: folder, kind: kind}
	check(os.WriteFile(n.path("kubeconfig"), nodeKubeconfig(n.name), 0o600))
	check(os.Mkdir(n.path("manifests"), 0o755))
	check(os.WriteFile(n.path("config"), []byte(n.config(pods, qps)), 0o644))
	n.runtime = start(n.path("cri_sim.log"), o.criSim, "--socket", n.path("cri.sock"), "--control", n.path("control"),
		"--image-folder", folder, "--no-declared-ports")
	await("cri_sim", 30*time.Second, func() bool {
		_, err := n.tryAsk(`{"do":"state"}`)
		return err == nil
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

func (n *node) stop() {
	if n.agent != nil {
		n.agent.kill()
	}
	n.runtime.kill()
	// The kubelet mounts its folder onto itself.
	_ = exec.Command("umount", "--recursive", n.path("root")).Run()
	_ = os.RemoveAll(n.folder)
}

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

func sum(calls map[string]int) int {
	all := 0
	for _, number := range calls {
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

// ---- processes

type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

var (
	startedMu sync.Mutex
	started   []*process
	folders   []string
)

func start(log, program string, args ...string) *process {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	check(err)
	defer file.Close()
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr = file, file
	// Ends with us, whatever happens to us.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(command.Start())
	p := &process{command: command, ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	startedMu.Lock()
	defer startedMu.Unlock()
	started = append(started, p)
	return p
}

func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

func (p *process) runs() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func stopAll() {
	startedMu.Lock()
	defer startedMu.Unlock()
	for _, p := range started {
		_ = p.command.Process.Kill()
	}
	for _, folder := range folders {
		if log, err := os.ReadFile(filepath.Join(folder, "agent.log")); err == nil {
			lines := strings.Split(strings.TrimSpace(string(log)), "\n")
			fmt.Fprintln(os.Stderr, strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
		_ = exec.Command("umount", "--recursive", filepath.Join(folder, "root")).Run()
		_ = os.RemoveAll(folder)
	}
}

// cpu is what the process has used so far, in seconds.
func (p *process) cpu() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		fail("the agent is gone")
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return float64(user+system) / clockTicks
}

func (p *process) rssMB() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	check(err)
	for _, line := range strings.Split(string(text), "\n") {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			check(err)
			return float64(kib) * 1024 / 1e6
		}
	}
	check(errors.New("no VmRSS"))
	return 0
}

// await asks often until it is so.
func await(what string, limit time.Duration, done func() bool) {
	for end := time.Now().Add(limit); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			fail(what + " did not come about in " + limit.String())
		}
	}
}
