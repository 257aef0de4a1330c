package main

import (
	"strconv"
	"time"
)

// round is what was measured of one agent with one number of pods. Values have the keys of the plan's columns.
type round struct {
	agent     string
	pods, qps int
	values    map[string]float64
	kinds     map[string]float64 // requests to the API server for each pod that starts, by kind

	startCPU, settleCPU, settleSeconds float64
}

func isUp(one change) bool { return one.running && one.ready }

func isGone(one change) bool { return one.gone }

func namesOf(n *node, pods int) []string {
	names := make([]string, pods)
	for i := range names {
		names[i] = n.name + "-" + strconv.Itoa(i)
	}
	return names
}

// start makes the pods, waits until all show as running and ready, and returns their uids.
func (r *round) start(b *bench, n *node, w *watcher, names []string) []string {
	stage("start")
	r.values["empty_rss_mb"] = n.agent.rssMB()
	n.audit.requests()
	cpu, calls := n.agent.cpu(), sum(n.calls())
	began := time.Now()
	uids, err := b.cluster.create(n.name, names)
	check(err)
	created := time.Since(began).Seconds()
	n.await("pods that run", 20*time.Minute, func() (int, int) { return w.count(isUp), len(names) })
	took := w.latest(isUp).Sub(began).Seconds()
	r.startCPU = n.agent.cpu() - cpu
	w.history()
	settling := time.Now()
	n.settle()
	r.settleSeconds = time.Since(settling).Seconds()
	r.settleCPU = n.agent.cpu() - cpu - r.startCPU

	each := float64(len(names))
	asked := n.audit.requests()
	for kind, number := range asked {
		r.kinds[kind] = float64(number) / each
	}
	r.values["created_s"], r.values["start_s"] = created, took
	r.values["start_after_s"] = max(took-created, 0)
	r.values["start_calls"] = float64(sum(n.calls())-calls) / each
	r.values["start_requests"] = float64(sum(asked)) / each
	r.values["start_patches"] = float64(asked["patch pods/status"]) / each
	return uids
}

// idle looks at a node on which nothing happens. What an agent always does is not counted as a part of the start's end.
func (r *round) idle(b *bench, n *node) {
	stage("idle")
	time.Sleep(10 * time.Second) // the rest of what a start leaves
	cpu, calls, began := n.agent.cpu(), sum(n.calls()), time.Now()
	time.Sleep(b.options.idle)
	took := time.Since(began)
	rate := (n.agent.cpu() - cpu) / took.Seconds()
	r.values["idle_cpu_pct"] = rate * 100
	r.values["idle_calls_per_minute"] = float64(sum(n.calls())-calls) / took.Minutes()
	r.values["rss_mb"] = n.agent.rssMB()
	r.values["watches"] = float64(r.watches(n))
	r.values["start_cpu_ms"] = (r.startCPU + r.beyondIdle(r.settleCPU, r.settleSeconds)) * 1e3 / float64(r.pods)
}

func (r *round) watches(n *node) int {
	n.audit.requests()
	return n.audit.watches()
}

// beyondIdle is what of some CPU time an idle agent would not have used.
func (r *round) beyondIdle(cpu, seconds float64) float64 {
	return max(cpu-r.values["idle_cpu_pct"]/100*seconds, 0)
}

func (r *round) delete(b *bench, n *node, w *watcher, names []string) {
	stage("deletion")
	n.audit.requests()
	began := time.Now()
	check(b.cluster.delete(names))
	n.await("pods that are gone", 20*time.Minute, func() (int, int) { return w.count(isGone), len(names) })
	r.values["delete_s"] = w.latest(isGone).Sub(began).Seconds()
	r.values["delete_requests"] = float64(sum(n.audit.requests())) / float64(len(names))
}
