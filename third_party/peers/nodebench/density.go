package main

import (
	"fmt"
	"slices"
	"time"
)

// The density plan: how an agent does as the number of its pods grows. The pods have no volumes and no probes.
var densityPlan = plan{
	name:  "density",
	title: "Density",
	sizes: "100,500,1000",
	more:  "2500,5000,10000",
	qps:   "50,1000",
	columns: []column{
		{"start_s", "until all are Running in the API, s", "%.2f"},
		{"created_s", "(of that, until all were made, s)", "%.2f"},
		{"start_after_s", "(after the last was made, s)", "%.2f"},
		{"start_cpu_ms", "CPU of a pod's start, ms", "%.2f"},
		{"start_requests", "API requests of a start", "%.2f"},
		{"start_patches", "(of those, patches of its status)", "%.2f"},
		{"start_calls", "CRI calls of a start", "%.1f"},
		{"idle_cpu_pct", "CPU idle, %", "%.2f"},
		{"idle_calls_per_minute", "CRI calls in an idle minute", "%.0f"},
		{"rss_mb", "memory, MB", "%.0f"},
		{"empty_rss_mb", "(without pods, MB)", "%.0f"},
		{"exit_visible_p50_ms", "exit to status in the API, p50, ms", "%.1f"},
		{"exit_visible_p99_ms", "p99, ms", "%.1f"},
		{"restart_s", "restart of the agent: until a pod made meanwhile runs, s", "%.2f"},
		{"restart_cpu_s", "CPU of it, s", "%.2f"},
		{"restart_flips", "pods that flipped meanwhile", "%.0f"},
		{"restart_changes", "calls that changed something", "%.0f"},
		{"delete_s", "deletion of all, s", "%.2f"},
		{"delete_requests", "API requests of a deletion", "%.2f"},
	},
	plots: []plot{
		{"start_s", "until all are Running, s"},
		{"start_cpu_ms", "CPU of a pod's start, ms"},
		{"idle_cpu_pct", "CPU idle, % of one core"},
		{"rss_mb", "memory, MB"},
		{"exit_visible_p99_ms", "exit to status in the API, p99, ms"},
		{"restart_s", "restart of the agent, s"},
		{"delete_s", "deletion of all, s"},
	},
	podOf:   plainPod,
	prepare: func(*bench, int) {},
	measure: measureDensity,
	goals:   densityGoals,
}

func densityGoals(s *sheet) []goal {
	first, last := s.qps[0], s.qps[len(s.qps)-1]
	var goals []goal
	if ours, theirs := s.find("denselet", 1000, first), s.find("kubelet", 1000, first); ours != nil && theirs != nil {
		ratio := func(key, what, column string, limit float64) {
			goals = append(goals, goal{key, what, ours.values[column], theirs.values[column], limit})
		}
		ratio("idle_cpu_ratio_1000", "CPU idle, %", "idle_cpu_pct", 1.0/20)
		ratio("rss_ratio_1000", "memory, MB", "rss_mb", 1.0/5)
		ratio("start_cpu_ratio_1000", "CPU of a start, ms", "start_cpu_ms", 1.0/10)
		ratio("start_wall_ratio_1000", fmt.Sprintf("until all are Running at kubeAPIQPS %d, s", first), "start_s", 1.0/5)
		ratio("exit_visible_p99_ratio_1000", "exit to status, p99, ms", "exit_visible_p99_ms", 1.0/20)
		ratio("delete_ratio_1000", "deletion of all, s", "delete_s", 0)
		goals = append(goals, goal{"status_patches_per_start", "status patches of a start, against one", ours.values["start_patches"], 1, 1.01})
	}
	if ours, theirs := s.find("denselet", 1000, last), s.find("kubelet", 1000, last); first != last && ours != nil && theirs != nil {
		goals = append(goals,
			goal{"start_wall_raised_ratio_1000", fmt.Sprintf("until all are Running at kubeAPIQPS %d, s", last),
				ours.values["start_s"], theirs.values["start_s"], 1.0 / 10},
			goal{"start_after_raised_ratio_1000", "of that, after the last was made, s", ours.values["start_after_s"], theirs.values["start_after_s"], 0},
			goal{"start_cpu_raised_ratio_1000", fmt.Sprintf("CPU of a start at kubeAPIQPS %d, ms", last),
				ours.values["start_cpu_ms"], theirs.values["start_cpu_ms"], 0})
	}
	if small, large := s.find("denselet", 1000, last), s.find("denselet", 10000, last); small != nil && large != nil {
		perPod := func(r *round) float64 { return (r.values["rss_mb"] - r.values["empty_rss_mb"]) * 1e3 / float64(r.pods) }
		goals = append(goals,
			goal{"growth_cpu_10k_vs_1k", "CPU of a start, ms: 10 000 pods against 1000", large.values["start_cpu_ms"], small.values["start_cpu_ms"], 1.2},
			goal{"growth_rss_10k_vs_1k", "memory of a pod, kB: 10 000 pods against 1000", perPod(large), perPod(small), 1.2})
	}
	return goals
}

func measureDensity(b *bench, n *node, r *round) {
	w := b.cluster.watch(n.name)
	defer close(w.stop)
	names := namesOf(n, r.pods)
	r.start(b, n, w, names)
	r.idle(b, n)
	r.exit(n, w, names)
	r.restart(b, n, w)
	r.delete(b, n, w, append(names, markerOf(n)))
}

const exits = 200

// One container after the other ends by itself, and is started again.
func (r *round) exit(n *node, w *watcher, names []string) {
	stage("exits")
	w.history()
	some := names[:min(exits, len(names))]
	ends := map[string]time.Time{}
	for _, name := range some {
		ends[name] = time.Now()
		n.ask(fmt.Sprintf(`{"do":"exit","pod":"%s/%s","container":"main","code":1}`, namespace, name))
		time.Sleep(50 * time.Millisecond)
	}
	hasEnded := func(one change) bool { return one.ended }
	n.await("ends that show", 5*time.Minute, func() (int, int) { return w.count(hasEnded), len(some) })
	n.await("pods that run again", 5*time.Minute, func() (int, int) { return w.count(isUp), len(names) })
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
	r.values["exit_visible_p50_ms"], r.values["exit_visible_p99_ms"] = took[len(took)/2], took[(len(took)-1)*99/100]
}

func markerOf(n *node) string { return n.name + "-marker" }

// The agent is killed; a pod is made while it is away, and shows when it has caught up.
func (r *round) restart(b *bench, n *node, w *watcher) {
	stage("restart")
	n.settle()
	n.agent.kill()
	w.history()
	calls := n.calls()
	_, err := b.cluster.create(n.name, []string{markerOf(n)})
	check(err)
	began := time.Now()
	n.startAgent()
	n.await("a pod made while the agent was away", 10*time.Minute, func() (int, int) { return w.count(isUp), r.pods + 1 })
	known := time.Now()
	r.values["restart_s"] = known.Sub(began).Seconds()
	cpu := n.agent.cpu()
	n.settle()
	time.Sleep(10 * time.Second) // flips come with the first reports
	r.values["restart_cpu_s"] = cpu + r.beyondIdle(n.agent.cpu()-cpu, time.Since(known).Seconds())
	for name, changes := range w.history() {
		flipped := name != markerOf(n) && slices.ContainsFunc(changes, func(one change) bool { return !isUp(one) })
		if flipped {
			r.values["restart_flips"]++
		}
	}
	const changesOfOneStart = 3
	r.values["restart_changes"] = float64(changing(n.calls()) - changing(calls) - changesOfOneStart)
}
