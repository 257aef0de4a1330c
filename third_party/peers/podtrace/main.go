// Command podtrace runs scenarios of pods on one node of a cluster, whoever its agent is, writes down what a watcher of the API
// server sees of them, and compares that with what was seen of the upstream kubelet:
//
//	podtrace run ROWS NODE MANIFESTS OUT [ROW...]    runs the rows of a table (all), side by side; OUT is one trace of each
//	podtrace merge OUT...                            prints what several runs of upstream have shown, for upstream.json
//	podtrace compare UPSTREAM EXCEPTIONS OUT [ROW...] prints every difference; fails when one has no explanation,
//	                                                 or, of all rows, when an explanation has no difference
//	podtrace print OUT [ROW...]                      prints traces to read, with times
//
// It takes the API server from $KUBECONFIG; MANIFESTS is the agent's folder of static pods. The table, what upstream showed and
// the exceptions are in tests/e2e/scenarios.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

const usage = `usage: podtrace run ROWS NODE MANIFESTS OUT [ROW...]
       podtrace merge OUT...
       podtrace compare UPSTREAM EXCEPTIONS OUT [ROW...]
       podtrace print OUT [ROW...]`

func main() {
	arguments := os.Args[1:]
	verbs := map[string]struct {
		least int
		run   func([]string) error
	}{
		"run": {4, runVerb}, "merge": {1, mergeVerb}, "compare": {3, compareVerb}, "print": {1, printVerb},
	}
	if len(arguments) == 0 {
		fail(usage)
	}
	verb, known := verbs[arguments[0]]
	if !known || len(arguments)-1 < verb.least {
		fail(usage)
	}
	if err := verb.run(arguments[1:]); err != nil {
		fail(err)
	}
}

func mergeVerb(files []string) error {
	var runs []Traces
	for _, file := range files {
		traces, err := read[Traces](file)
		if err != nil {
			return err
		}
		runs = append(runs, traces)
	}
	golden, err := merge(runs)
	if err != nil {
		return err
	}
	return write(os.Stdout, golden)
}

func compareVerb(files []string) error {
	upstream, err := read[Golden](files[0])
	if err != nil {
		return err
	}
	exceptions, err := readExceptions(files[1])
	if err != nil {
		return err
	}
	ours, err := read[Traces](files[2])
	if err != nil {
		return err
	}
	unexplained := 0
	for _, row := range rowsToCompare(upstream, ours, files[3:]) {
		excused, open := exceptions.sort(compareRow(row, upstream[row], ours[row]))
		unexplained += len(open)
		fmt.Printf("%-28s %s\n", row, verdict(len(excused), len(open)))
		for _, difference := range excused {
			fmt.Printf("    explained: %s: %s\n      because %s\n", difference.Pod, indented(difference.headline()), difference.because)
		}
		for _, difference := range open {
			fmt.Printf("    DIFFERS: %s: %s\n", difference.Pod, indented(difference.String()))
		}
	}
	if unexplained > 0 {
		return fmt.Errorf("%d differences from the upstream kubelet without an explanation", unexplained)
	}
	if len(files) > 3 {
		return nil // some rows alone do not need them all
	}
	unused := exceptions.unused()
	for _, exception := range unused {
		fmt.Printf("nothing needed the exception %s (%s)\n", exception.name(), exception.Because)
	}
	if len(unused) > 0 {
		return fmt.Errorf("%d exceptions explain nothing any more", len(unused))
	}
	return nil
}

// rowsToCompare are those that either side has, or the wanted ones.
func rowsToCompare(upstream Golden, ours Traces, wanted []string) []string {
	if len(wanted) > 0 {
		return wanted
	}
	rows := sortedKeys(upstream)
	for _, row := range sortedKeys(ours) {
		if upstream[row] == nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func verdict(explained, open int) string {
	switch {
	case open > 0:
		return fmt.Sprintf("DIFFERS (%d, and %d explained)", open, explained)
	case explained > 0:
		return fmt.Sprintf("as upstream, but for %d explained", explained)
	}
	return "as upstream"
}

func printVerb(arguments []string) error {
	traces, err := read[Traces](arguments[0])
	if err != nil {
		return err
	}
	for _, row := range sortedKeys(traces) {
		if len(arguments) > 1 && !slices.Contains(arguments[1:], row) {
			continue
		}
		fmt.Printf("=== %s %s\n", row, traces[row].Stuck)
		for _, pod := range sortedKeys(traces[row].Pods) {
			trace := traces[row].Pods[pod]
			var before []string
			for i, state := range trace.States {
				fmt.Printf("--- %s, state %d, %.1f s\n", pod, i, state.Seconds)
				fmt.Println(changes(before, state.Shows))
				before = state.Shows
			}
			for _, event := range trace.Events {
				fmt.Printf("    event %s\n", event)
			}
		}
	}
	return nil
}

func read[T any](file string) (T, error) {
	var value T
	text, err := os.ReadFile(file)
	if err != nil {
		return value, err
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return value, fmt.Errorf("%s: %w", file, err)
	}
	return value, nil
}

func write(file *os.File, value any) error {
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(value)
}

func sortedKeys[V any](of map[string]V) []string {
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n      ") }

func fail(why any) {
	fmt.Fprintln(os.Stderr, "podtrace:", why)
	os.Exit(1)
}
