package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

type column struct {
	key, title, format string
	of                 func(figures) float64
}

var columns = []column{
	{"start_s", "all running, s", "%.2f", func(f figures) float64 { return f.StartSeconds }},
	{"created_s", "(all made, s)", "%.2f", func(f figures) float64 { return f.CreatedSeconds }},
	{"start_cpu_ms", "CPU a start, ms", "%.2f", func(f figures) float64 { return f.StartCPU }},
	{"start_requests", "API requests a pod", "%.2f", func(f figures) float64 { return f.StartRequests }},
	{"start_patches", "status patches a pod", "%.2f", func(f figures) float64 { return f.StartPatches }},
	{"start_calls", "CRI calls a pod", "%.1f", func(f figures) float64 { return f.StartCalls }},
	{"idle_cpu_pct", "idle CPU, %", "%.2f", func(f figures) float64 { return f.IdleCPU }},
	{"idle_calls_per_minute", "idle CRI calls/min", "%.0f", func(f figures) float64 { return f.IdleCalls }},
	{"rss_mb", "RSS, MB", "%.0f", func(f figures) float64 { return f.RSS }},
	{"empty_rss_mb", "(without pods, MB)", "%.0f", func(f figures) float64 { return f.EmptyRSS }},
	{"exit_visible_p50_ms", "exit visible p50, ms", "%.1f", func(f figures) float64 { return f.ExitP50 }},
	{"exit_visible_p99_ms", "p99, ms", "%.1f", func(f figures) float64 { return f.ExitP99 }},
	{"restart_s", "restart, s", "%.2f", func(f figures) float64 { return f.RestartSeconds }},
	{"restart_cpu_s", "its CPU, s", "%.2f", func(f figures) float64 { return f.RestartCPU }},
	{"restart_flips", "flips", "%.0f", func(f figures) float64 { return f.RestartFlips }},
	{"restart_changes", "changes", "%.0f", func(f figures) float64 { return f.RestartChanges }},
	{"delete_s", "all deleted, s", "%.2f", func(f figures) float64 { return f.DeleteSeconds }},
}

type sheet struct {
	rounds []figures
}

func newSheet() *sheet { return &sheet{} }

func (s *sheet) add(f figures) {
	s.rounds = append(s.rounds, f)
	fmt.Print("  ")
	for _, c := range columns {
		fmt.Printf("%s="+c.format+" ", c.key, c.of(f))
	}
	fmt.Println()
}

func (s *sheet) find(agent string, pods, qps int) *figures {
	for i := range s.rounds {
		if f := &s.rounds[i]; f.agent == agent && f.pods == pods && f.qps == qps {
			return f
		}
	}
	return nil
}

type report struct {
	table   string
	numbers map[string]float64
	missed  bool
	rounds  []figures
}

// A goal is a limit from above for a ratio measured in this run.
func (r *report) goal(out *strings.Builder, key, what string, ours, theirs, limit float64) {
	if theirs == 0 {
		return
	}
	ratio := ours / theirs
	r.numbers[key] = ratio
	verdict := ""
	if ratio > limit {
		verdict, r.missed = "MISSED", true
	}
	fmt.Fprintf(out, "| %s | %.4g | %.4g | %.4f | <= %.4f %s |\n", what, ours, theirs, ratio, limit, verdict)
}

func (s *sheet) judge(qps []int) *report {
	r := &report{numbers: map[string]float64{}, rounds: s.rounds}
	var out strings.Builder
	out.WriteString("\n| agent | kubeAPIQPS | pods |")
	for _, c := range columns {
		out.WriteString(" " + c.title + " |")
	}
	out.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, f := range s.rounds {
		fmt.Fprintf(&out, "| %s | %d | %d |", f.agent, f.qps, f.pods)
		for _, c := range columns {
			value := c.of(f)
			fmt.Fprintf(&out, " "+c.format+" |", value)
			r.numbers[fmt.Sprintf("%s_%s_%d_qps%d", f.agent, c.key, f.pods, f.qps)] = value
		}
		out.WriteString("\n")
	}
	out.WriteString("\n| at 1000 pods | denselet | kubelet | ratio | goal |\n|---|---|---|---|---|\n")
	first, last := qps[0], qps[len(qps)-1]
	if ours, theirs := s.find("denselet", 1000, first), s.find("kubelet", 1000, first); ours != nil && theirs != nil {
		r.goal(&out, "idle_cpu_ratio_1000", "idle CPU, %", ours.IdleCPU, theirs.IdleCPU, 1.0/20)
		r.goal(&out, "rss_ratio_1000", "RSS, MB", ours.RSS, theirs.RSS, 1.0/5)
		r.goal(&out, "start_cpu_ratio_1000", "CPU a start, ms", ours.StartCPU, theirs.StartCPU, 1.0/10)
		r.goal(&out, "start_wall_ratio_1000", fmt.Sprintf("all running at kubeAPIQPS %d, s", first), ours.StartSeconds, theirs.StartSeconds, 1.0/5)
		r.goal(&out, "exit_visible_p99_ratio_1000", "exit visible p99, ms", ours.ExitP99, theirs.ExitP99, 1.0/20)
		r.goal(&out, "status_patches_per_start", "status patches for each start, against one", ours.StartPatches, 1, 1.01)
	}
	if ours, theirs := s.find("denselet", 1000, last), s.find("kubelet", 1000, last); first != last && ours != nil && theirs != nil {
		r.goal(&out, "start_wall_raised_ratio_1000", fmt.Sprintf("all running at kubeAPIQPS %d, s", last), ours.StartSeconds, theirs.StartSeconds, 1.0/10)
	}
	if small, large := s.find("denselet", 1000, last), s.find("denselet", 10000, last); small != nil && large != nil {
		r.goal(&out, "growth_cpu_10k_vs_1k", "CPU a start of 10 000 pods, against 1000", large.StartCPU, small.StartCPU, 1.2)
		r.goal(&out, "growth_rss_10k_vs_1k", "memory a pod, kB, of 10 000 against 1000",
			(large.RSS-large.EmptyRSS)/10, (small.RSS - small.EmptyRSS), 1.2)
	}
	r.table = out.String()
	return r
}

func (r *report) write(o options) error {
	numbers, err := json.MarshalIndent(r.numbers, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "density.json"), append(numbers, '\n'), 0o644); err != nil {
		return err
	}
	if o.results == "" {
		return nil
	}
	if err := os.MkdirAll(o.results, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.results, "density.json"), append(numbers, '\n'), 0o644); err != nil {
		return err
	}
	text := "# Density\n\nMade by `./dev bench density`.\n\n" + versions(o) + r.table + "\n"
	for _, p := range plots {
		name := "density-" + p.key + ".svg"
		if err := os.WriteFile(filepath.Join(o.results, name), []byte(p.draw(r.rounds, o.qps)), 0o644); err != nil {
			return err
		}
		text += "![" + p.title + "](" + name + ")\n"
	}
	return os.WriteFile(filepath.Join(o.results, "density.md"), []byte(text), 0o644)
}

func versions(o options) string {
	version := func(program string) string {
		text, err := exec.Command(program, "--version").Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0])
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("denselet: %s; kubelet: %s; Linux %s, %d CPUs.\n", version(o.denselet), version(o.kubelet),
		strings.TrimSpace(string(kernel)), runtime.NumCPU())
}
