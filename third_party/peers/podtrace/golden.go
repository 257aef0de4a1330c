package main

import (
	"fmt"
	"slices"
	"strings"
)

// Golden is what upstream has shown in several runs, by row and pod.
type Golden map[string]map[string]*GoldenPod

// GoldenPod has each state and event once; a path is what one run passed through, as numbers of states. Runs that were alike
// are one path.
type GoldenPod struct {
	States     []GoldenState `json:"states"`
	Paths      []string      `json:"paths"`
	Events     []string      `json:"events"`
	EventPaths []string      `json:"eventPaths"`
}

// GoldenState lasts when it was longer than a second in every run.
type GoldenState struct {
	Shows []string `json:"shows"`
	Lasts bool     `json:"lasts,omitempty"`
}

const lastingSeconds = 1.0

func merge(runs []Traces) (Golden, error) {
	golden := Golden{}
	for number, run := range runs {
		if number > 0 && len(run) != len(runs[0]) {
			return nil, fmt.Errorf("run %d has %d rows, the first has %d", number, len(run), len(runs[0]))
		}
		for _, row := range sortedKeys(run) {
			if run[row].Stuck != "" {
				return nil, fmt.Errorf("run %d: row %s did not come beyond %q", number, row, run[row].Stuck)
			}
			if golden[row] == nil {
				golden[row] = map[string]*GoldenPod{}
			}
			for _, pod := range sortedKeys(run[row].Pods) {
				if golden[row][pod] == nil {
					golden[row][pod] = &GoldenPod{}
				}
				golden[row][pod].add(run[row].Pods[pod])
			}
		}
	}
	for row, pods := range golden {
		for name, pod := range pods {
			pod.markLasting(traces(runs, row, name))
		}
	}
	return golden, nil
}

func traces(runs []Traces, row, pod string) []*PodTrace {
	var all []*PodTrace
	for _, run := range runs {
		if trace := run[row].Pods[pod]; trace != nil {
			all = append(all, trace)
		}
	}
	return all
}

func (g *GoldenPod) add(trace *PodTrace) {
	var states, events []int
	for _, state := range trace.States {
		number := slices.IndexFunc(g.States, func(s GoldenState) bool { return slices.Equal(s.Shows, state.Shows) })
		if number < 0 {
			number = len(g.States)
			g.States = append(g.States, GoldenState{Shows: state.Shows})
		}
		states = append(states, number)
	}
	for _, event := range trace.Events {
		number := slices.Index(g.Events, event)
		if number < 0 {
			number = len(g.Events)
			g.Events = append(g.Events, event)
		}
		events = append(events, number)
	}
	g.Paths = withPath(g.Paths, states)
	g.EventPaths = withPath(g.EventPaths, events)
}

func withPath(paths []string, path []int) []string {
	text := strings.Trim(fmt.Sprint(path), "[]")
	if slices.Contains(paths, text) {
		return paths
	}
	return append(paths, text)
}

func (g *GoldenPod) markLasting(runs []*PodTrace) {
	for i := range g.States {
		lasting := true
		for _, run := range runs {
			longest := 0.0
			for _, state := range run.States {
				if slices.Equal(state.Shows, g.States[i].Shows) {
					longest = max(longest, state.Seconds)
				}
			}
			lasting = lasting && longest > lastingSeconds
		}
		g.States[i].Lasts = lasting
	}
}

// numbers of a path.
func numbers(path string) []int {
	var all []int
	for _, word := range strings.Fields(path) {
		var number int
		if _, err := fmt.Sscan(word, &number); err != nil {
			fail(fmt.Sprintf("path %q: %v", path, err))
		}
		all = append(all, number)
	}
	return all
}
