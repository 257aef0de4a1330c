package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// state of a pod with one container, in the words of a trace.
func state(seconds float64, phase, ready, container string) State {
	return State{Seconds: seconds, Shows: []string{"phase " + phase, "Ready=" + ready, "container main: " + container}}
}

var (
	created  = state(0.1, "Pending", "False", "waiting ContainerCreating, restarts 0")
	running  = state(5, "Running", "True", "running, ready, started, restarts 0")
	crashed  = state(0.3, "Running", "False", "terminated 1 signal 0 Error, restarts 0")
	waiting  = state(9, "Running", "False", "waiting CrashLoopBackOff: back-off 10s, restarts 0")
	again    = state(5, "Running", "True", "running, ready, started, restarts 1")
	finished = state(3, "Succeeded", "False", "terminated 0 signal 0 Completed, restarts 1")
)

func trace(states ...State) *PodTrace {
	return &PodTrace{States: slices.Clone(states), Events: []string{"Normal Pulled", "Normal Created", "Normal Started"}}
}

func run(pod *PodTrace) Traces { return Traces{"row": {Pods: map[string]*PodTrace{"pod": pod}}} }

// upstream passes through crashed only now and then.
func upstream(t *testing.T, runs ...*PodTrace) map[string]*GoldenPod {
	t.Helper()
	if len(runs) == 0 {
		runs = []*PodTrace{trace(created, running, crashed, waiting, again, finished), trace(created, running, waiting, again, finished)}
	}
	var all []Traces
	for _, pod := range runs {
		all = append(all, run(pod))
	}
	golden, err := merge(all)
	if err != nil {
		t.Fatal(err)
	}
	return golden["row"]
}

func differences(t *testing.T, golden map[string]*GoldenPod, ours *PodTrace) []string {
	t.Helper()
	var found []string
	for _, difference := range compareRow("row", golden, run(ours)["row"]) {
		found = append(found, difference.headline())
	}
	return found
}

func expect(t *testing.T, found []string, wanted ...string) {
	t.Helper()
	fits := len(found) == len(wanted)
	for i := range wanted {
		fits = fits && strings.Contains(found[i], wanted[i])
	}
	if !fits {
		t.Errorf("found %q\nnot   %q", found, wanted)
	}
}

func TestEachOfUpstreamsRunsIsEqual(t *testing.T) {
	expect(t, differences(t, upstream(t), trace(created, running, crashed, waiting, again, finished)))
	expect(t, differences(t, upstream(t), trace(created, running, waiting, again, finished)))
}

func TestAStateThatDoesNotLastMayBeSkipped(t *testing.T) {
	short := crashed
	short.Shows = slices.Replace(slices.Clone(short.Shows), 1, 2, "Ready=True") // nobody can wait for it but by its container
	golden := upstream(t, trace(created, running, short, again, finished))
	expect(t, differences(t, golden, trace(created, running, again, finished)))
}

func TestASkippedStateIsNoticed(t *testing.T) {
	lasting := upstream(t)
	expect(t, differences(t, lasting, trace(created, running, again, finished)),
		"skipped state: phase Running, Ready=False", "skipped state: phase Running, Ready=False, container main: waiting CrashLoopBackOff")
	expect(t, differences(t, lasting, trace(running, waiting, again, finished)), "skipped state: phase Pending, Ready=False")
}

func TestAnAdditionalStateIsNoticed(t *testing.T) {
	odd := state(0, "Running", "Unknown", "running, ready, started, restarts 0")
	expect(t, differences(t, upstream(t), trace(created, odd, running, waiting, again, finished)), "additional state: state 1, phase Running, Ready=Unknown")
	worded := state(0, "Running", "False", "waiting CrashLoopBackOff: back-off 20s, restarts 0")
	expect(t, differences(t, upstream(t), trace(created, running, worded, waiting, again, finished)), "additional state: state 2")
}

func TestAReorderedStateIsNoticed(t *testing.T) {
	expect(t, differences(t, upstream(t), trace(created, waiting, running, again, finished)), "order of states: state 2")
	expect(t, differences(t, upstream(t), trace(created, running, waiting, crashed, again, finished)), "order of states: state 3")
}

func TestAStateThatComesBackIsNoticed(t *testing.T) {
	expect(t, differences(t, upstream(t), trace(created, running, waiting, running, again, finished)), "order of states: state 3")
}

func TestAnotherEndIsNoticed(t *testing.T) {
	expect(t, differences(t, upstream(t), trace(created, running, waiting, again)), "end state: phase Running, Ready=True", "skipped state: phase Succeeded",
		"skipped state: phase Succeeded")
	expect(t, differences(t, upstream(t), trace()), "end state: no state at all", "skipped", "skipped", "skipped", "skipped", "skipped", "skipped", "skipped")
}

func TestStatesThatAlternateMayAlternate(t *testing.T) {
	golden := upstream(t, trace(created, running, crashed, running, crashed))
	expect(t, differences(t, golden, trace(created, running, crashed, running, crashed, running, crashed)))
}

func TestEventsAreCompared(t *testing.T) {
	ours := trace(created, running, waiting, again, finished)
	ours.Events = []string{"Normal Created", "Normal Pulled", "Warning Odd"}
	expect(t, differences(t, upstream(t), ours), "additional event: Warning Odd", "missing event: Normal Started",
		`order of events: "Normal Created" before "Normal Pulled"`)
}

func TestAnEventOfSomeRunsIsOptional(t *testing.T) {
	with, without := trace(created, running), trace(created, running)
	with.Events = []string{"Normal Started", "Normal Pulled", "Warning Sometimes"}
	golden := upstream(t, with, without)
	expect(t, differences(t, golden, without))
	expect(t, differences(t, golden, with))
}

func TestRowsAndPodsThatOneSideHasAreNoticed(t *testing.T) {
	expect(t, differences(t, nil, trace(created)), "table: upstream has no such row")
	golden := upstream(t, trace(created))
	golden["other"] = golden["pod"]
	expect(t, differences(t, golden, trace(created)), "table: there was no such pod")
	delete(golden, "pod")
	expect(t, differences(t, golden, trace(created)), "table: upstream has no such pod", "table: there was no such pod")
}

func TestRowsOfBothSidesAreCompared(t *testing.T) {
	golden, ours := Golden{"a": nil, "both": upstream(t)}, Traces{"both": {}, "b": {}}
	if rows := rowsToCompare(golden, ours, nil); !slices.Equal(rows, []string{"a", "both", "b"}) {
		t.Errorf("rows %v", rows)
	}
	if rows := rowsToCompare(golden, ours, []string{"b"}); !slices.Equal(rows, []string{"b"}) {
		t.Errorf("rows %v", rows)
	}
}

func TestAStepThatDoesNotEndIsNoticed(t *testing.T) {
	ours := run(trace(created))["row"]
	ours.Stuck = "until pod Ready=True"
	found := compareRow("row", upstream(t, trace(created)), ours)
	if len(found) != 1 || found[0].Kind != kindStuck {
		t.Errorf("found %v", found)
	}
	if _, err := merge([]Traces{{"row": ours}}); err == nil {
		t.Error("a stuck run was taken for upstream's")
	}
}

func TestOnlyWhatAnExceptionNamesIsExplained(t *testing.T) {
	list := exceptionList{{Rows: "ro.", Kind: kindEvent, Like: "Odd", Because: "of a test"}}
	for _, exception := range list {
		if err := exception.compile(); err != nil {
			t.Fatal(err)
		}
	}
	all := []Difference{{Row: "row", Kind: kindEvent, Is: "Odd"}, {Row: "row", Kind: kindNoEvent, Is: "Odd"},
		{Row: "rows", Kind: kindEvent, Is: "Odd"}, {Row: "row", Kind: kindEvent, Is: "Even"}}
	explained, open := list.sort(all)
	if len(explained) != 1 || len(open) != 3 || explained[0].because != "of a test" {
		t.Errorf("explained %v, open %v", explained, open)
	}
	if (&Exception{Rows: ".*", Kind: kindEvent, Like: "."}).compile() == nil {
		t.Error("an exception needs a reason")
	}
}

func TestAnExceptionThatNothingNeedsIsNoticed(t *testing.T) {
	list := exceptionList{{Rows: "row", Kind: kindEvent, Like: "Odd", Because: "of a test"}, {Rows: "row", Kind: kindEvent, Like: "Even", Because: "of old"},
		{Rows: "row", Kind: kindEvent, Like: "Prime", Because: "of a race", Sometimes: true}}
	for _, exception := range list {
		if err := exception.compile(); err != nil {
			t.Fatal(err)
		}
	}
	list.sort([]Difference{{Row: "row", Kind: kindEvent, Is: "Odd"}})
	if unused := list.unused(); len(unused) != 1 || unused[0].Because != "of old" {
		t.Errorf("unused %v", unused)
	}
}

// All the way: what the exceptions of the table say is read, and what is not needed fails.
func TestAComparisonFailsForAnExceptionThatNothingNeeds(t *testing.T) {
	folder := t.TempDir()
	put := func(name string, value any) string {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if text, plain := value.(string); plain {
			_, err = file.WriteString(text)
		} else {
			err = write(file, value)
		}
		if err != nil {
			t.Fatal(err)
		}
		return file.Name()
	}
	ours := trace(created, running)
	golden := put("upstream", Golden{"row": upstream(t, ours)})
	traces := put("ours", run(ours))
	const exception = "exceptions: [{rows: .*, kind: missing event, like: Old, because: of old"
	if err := compareVerb([]string{golden, put("stale", exception+"}]"), traces}); err == nil {
		t.Error("nobody noticed that it is stale")
	}
	if err := compareVerb([]string{golden, put("racy", exception+", sometimes: true}]"), traces}); err != nil {
		t.Error(err)
	}
	if err := compareVerb([]string{golden, put("stale", exception+"}]"), traces, "row"}); err != nil {
		t.Errorf("of one row: %v", err)
	}
}

func TestWhatVariesIsTakenOut(t *testing.T) {
	w := words{node: "node-1", nodeIP: "10.99.0.1"}
	for text, wanted := range map[string]string{
		"back-off 10s restarting failed container=main pod=p_ns(8c3599eb-6cf5-4b00-816c-80f409853f79)": "back-off 10s restarting failed container=main pod=p_ns(<uid>)",
		`Successfully pulled image "x" in 1.2s (3m1.25s including waiting). Image size: 7 bytes.`:      `Successfully pulled image "x" in <duration> (<duration> including waiting). Image size: 7 bytes.`,
		"dial tcp [::1]:443: connect: connection refused":                                              "dial tcp <loopback>: connect: connection refused",
		"on node-1 at 10.99.0.1 with 198.18.0.7":                                                       "on <node> at <node ip> with <pod ip>",
	} {
		if found := w.plain(text); found != wanted {
			t.Errorf("%q became %q", text, found)
		}
	}
}
