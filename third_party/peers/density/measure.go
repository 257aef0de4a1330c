package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// figures is what one round measured.
type figures struct {
	agent     string
	pods, qps int

	EmptyRSS       float64 // MB, before there are pods
	CreatedSeconds float64 // how long it took to make the pods; agents cannot be faster
	StartSeconds   float64 // from the first pod made until all show as running and ready
	StartCPU       float64 // ms of the agent for each pod, until it has settled
	StartRequests  float64 // to the API server, for each pod
	StartPatches   float64 // of those: of statuses
	StartCalls     float64 // of the runtime, for each pod
	IdleCPU        float64 // % of one core
	IdleCalls      float64 // of the runtime, a minute
	RSS            float64 // MB, idle with all pods
	ExitP50        float64 // ms from a container's end until it shows
	ExitP99        float64
	RestartSeconds float64 // from the start of a killed agent until a pod made meanwhile shows as running
	RestartCPU     float64 // s
	RestartFlips   float64 // pods that showed as not ready, or another container, because of it
	RestartChanges float64 // calls that change something, beyond those of the pod made meanwhile
	DeleteSeconds  float64 // until all are gone
}

const exits = 200

func measure(c *cluster, o options, kind agentKind, pods, qps int) figures {
	fmt.Printf("%s: %s, %d pods, kubeAPIQPS %d\n", time.Now().Format("15:04:05"), kind.name, pods, qps)
	f := figures{agent: kind.name, pods: pods, qps: qps}
	n := newNode(o, kind, pods, qps)
	defer n.stop()
	n.startAgent()
	await("a node that is ready", 2*time.Minute, func() bool { return n.alive() && c.nodeIsReady(n.name) })
	settle(n)
	f.EmptyRSS = n.agent.rssMB()
	w := c.watch(n.name)
	defer close(w.stop)

	names := make([]string, pods)
	for i := range names {
		names[i] = n.name + "-" + strconv.Itoa(i)
	}
	f.start(c, n, w, names)
	f.idle(n, o.idle)
	f.exit(n, w, names)
	f.restart(c, n, w, pods)
	f.delete(c, n, w, append(names, markerOf(n)))
	c.forget(n.name)
	return f
}

func (n *node) alive() bool {
	if !n.agent.runs() {
		fail(n.kind.name + " has ended")
	}
	return true
}

func isUp(one change) bool { return one.running && one.ready }

// settle waits until the agent does nothing more than an idle one: less than a tenth of a core for three seconds.
func settle(n *node) {
	const window = 3 * time.Second
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		before := n.agent.cpu()
		time.Sleep(window)
		if n.agent.cpu()-before < 0.1*window.Seconds() {
			return
		}
	}
	// An agent that is never that calm has settled as far as it ever does.
}

func (f *figures) start(c *cluster, n *node, w *watcher, names []string) {
	log := newAudit()
	cpu, calls := n.agent.cpu(), sum(n.calls())
	began := time.Now()
	check(c.create(n.name, names))
	f.CreatedSeconds = time.Since(began).Seconds()
	await("pods that run", 20*time.Minute, func() bool { return n.alive() && w.count(isUp) == len(names) })
	f.StartSeconds = w.latest(isUp).Sub(began).Seconds()
	w.history()
	settle(n)
	each := float64(len(names))
	f.StartCPU = (n.agent.cpu() - cpu) * 1e3 / each
	f.StartCalls = float64(sum(n.calls())-calls) / each
	asked := log.requests(n.name)
	f.StartRequests, f.StartPatches = float64(asked.all)/each, float64(asked.statusPatches)/each
}

func (f *figures) idle(n *node, window time.Duration) {
	time.Sleep(10 * time.Second) // the rest of what a start leaves
	cpu, calls, began := n.agent.cpu(), sum(n.calls()), time.Now()
	time.Sleep(window)
	took := time.Since(began)
	f.IdleCPU = (n.agent.cpu() - cpu) / took.Seconds() * 100
	f.IdleCalls = float64(sum(n.calls())-calls) / took.Minutes()
	f.RSS = n.agent.rssMB()
}

// One container after the other ends by itself, and is started again.
func (f *figures) exit(n *node, w *watcher, names []string) {
	w.history()
	some := names[:min(exits, len(names))]
	ends := map[string]time.Time{}
	for _, name := range some {
		ends[name] = time.Now()
		n.ask(fmt.Sprintf(`{"do":"exit","pod":"%s/%s","container":"main","code":1}`, namespace, name))
		time.Sleep(50 * time.Millisecond)
	}
	hasEnded := func(one change) bool { return one.ended }
	await("ends that show", 5*time.Minute, func() bool { return n.alive() && w.count(hasEnded) >= len(some) })
	await("pods that run again", 5*time.Minute, func() bool { return w.count(isUp) == len(names) })
	var took []float64
	for name, changes := range w.history() {
		for _, one := range changes {
			if at, ours := ends[name]; ours && one.ended {
				took = append(took, float64(one.at.Sub(at).Microseconds())/1e3)
				break
			}
		}
	}
	if len(took) != len(some) {
		fail(fmt.Sprintf("%d of %d ends were seen", len(took), len(some)))
	}
	slices.Sort(took)
	f.ExitP50, f.ExitP99 = took[len(took)/2], took[(len(took)-1)*99/100]
}

func markerOf(n *node) string { return n.name + "-marker" }

// The agent is killed; a pod is made while it is away, and shows when it has caught up.
func (f *figures) restart(c *cluster, n *node, w *watcher, pods int) {
	settle(n)
	n.agent.kill()
	w.history()
	calls := n.calls()
	check(c.create(n.name, []string{markerOf(n)}))
	began := time.Now()
	n.startAgent()
	await("a pod made while the agent was away", 10*time.Minute, func() bool { return n.alive() && w.count(isUp) == pods+1 })
	f.RestartSeconds = time.Since(began).Seconds()
	settle(n)
	time.Sleep(10 * time.Second) // flips come with the first reports
	f.RestartCPU = n.agent.cpu()
	for name, changes := range w.history() {
		flipped := name != markerOf(n) && slices.ContainsFunc(changes, func(one change) bool { return !isUp(one) })
		if flipped {
			f.RestartFlips++
		}
	}
	const changesOfOneStart = 3
	f.RestartChanges = float64(changing(n.calls()) - changing(calls) - changesOfOneStart)
}

func (f *figures) delete(c *cluster, n *node, w *watcher, names []string) {
	began := time.Now()
	check(c.delete(names))
	gone := func(one change) bool { return one.gone }
	await("pods that are gone", 20*time.Minute, func() bool { return n.alive() && w.count(gone) == len(names) })
	f.DeleteSeconds = w.latest(gone).Sub(began).Seconds()
}
