package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWatchCountsOnceAndIsOpenUntilItEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	a := &audit{path: path, user: "system:node:a", watching: map[string]bool{}}
	line := func(id, stage, verb, node, subresource string) string {
		return `{"auditID":"` + id + `","stage":"` + stage + `","verb":"` + verb + `","user":{"username":"system:node:` + node +
			`"},"objectRef":{"resource":"pods","subresource":"` + subresource + `"}}` + "\n"
	}
	write := func(text string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(line("1", "ResponseStarted", "watch", "a", "") + line("2", "ResponseComplete", "patch", "a", "status") +
		line("3", "ResponseStarted", "watch", "b", "") + line("4", "ResponseComplete", "watch", "a", "") + `{"auditID":"5","sta`)
	got := a.requests()
	if len(got) != 2 || got["watch pods"] != 2 || got["patch pods/status"] != 1 || a.watches() != 1 {
		t.Errorf("got %v, %d watches", got, a.watches())
	}
	write("") // the unfinished line is left alone
	if got := a.requests(); len(got) != 0 {
		t.Errorf("got %v of half a line", got)
	}
	write(`ge":"x"}` + "\n" + line("1", "ResponseComplete", "watch", "a", ""))
	if got := a.requests(); len(got) != 0 || a.watches() != 0 {
		t.Errorf("got %v, %d watches after the end of one", got, a.watches())
	}
}

// A sheet of 1000 and 10 000 pods, in which denselet takes `ours` where the kubelet takes 10.
func sheetOf(ours float64) *sheet {
	s := &sheet{plan: &densityPlan, qps: []int{50, 1000}}
	add := func(agent string, pods, qps int, value float64) {
		r := &round{agent: agent, pods: pods, qps: qps, values: map[string]float64{}, kinds: map[string]float64{"patch pods/status": 1}}
		for _, c := range densityPlan.columns {
			r.values[c.key] = value
		}
		r.values["start_patches"] = 1
		r.values["empty_rss_mb"] = 0
		s.rounds = append(s.rounds, r)
	}
	for _, qps := range s.qps {
		add("kubelet", 1000, qps, 10)
		add("denselet", 1000, qps, ours)
	}
	add("denselet", 10000, 1000, 10*ours)
	return s
}

func TestGoalsAreToldByTheirNamesAndAsMissed(t *testing.T) {
	good, bad := sheetOf(0.5), sheetOf(5)
	for _, key := range []string{"idle_cpu_ratio_1000", "rss_ratio_1000", "start_cpu_ratio_1000", "start_wall_ratio_1000",
		"start_wall_raised_ratio_1000", "exit_visible_p99_ratio_1000"} {
		if got := good.numbers()[key]; got != 0.05 {
			t.Errorf("%s is %v", key, got)
		}
		if got := bad.numbers()[key]; got != 0.5 {
			t.Errorf("%s is %v", key, got)
		}
	}
	// Ten times the pods in ten times the memory; but ten times the CPU for each is growth.
	if got := good.numbers()["growth_rss_10k_vs_1k"]; got < 0.999 || got > 1.001 {
		t.Errorf("growth_rss_10k_vs_1k is %v", got)
	}
	if got := good.numbers()["growth_cpu_10k_vs_1k"]; got != 10 {
		t.Errorf("growth_cpu_10k_vs_1k is %v", got)
	}
	if n := strings.Count(good.text(), "MISSED"); n != 1 {
		t.Errorf("%d goals are missed of\n%s", n, good.text())
	}
	if n := strings.Count(bad.text(), "MISSED"); n != 7 || !bad.missed() {
		t.Errorf("%d goals are missed of\n%s", n, bad.text())
	}
}

func TestPlotsAreXMLAndHaveACurveForEachAgentAndRate(t *testing.T) {
	for _, p := range densityPlan.plots {
		text := p.draw(sheetOf(0))
		decoder := xml.NewDecoder(strings.NewReader(text))
		curves := 0
		for {
			token, err := decoder.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in %s", p.key, err, text)
			}
			if element, ok := token.(xml.StartElement); ok && element.Name.Local == "polyline" {
				curves++
			}
		}
		if curves != 4 || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s has %d curves: %s", p.key, curves, text)
		}
	}
}
