package main

import "strings"

// Traces of one run, by the name of the row.
type Traces map[string]RowTrace

type RowTrace struct {
	// Stuck is the step that did not come to its end; empty when all did.
	Stuck string `json:"stuck,omitempty"`
	// Pods by the name that the table gives them.
	Pods map[string]*PodTrace `json:"pods"`
}

// PodTrace is what a watcher has seen of one name: the states in order, and each event that is new.
type PodTrace struct {
	States []State  `json:"states"`
	Events []string `json:"events"`
}

// State is what one object of the watch shows, in lines; Seconds is how long it was so.
type State struct {
	Shows   []string `json:"shows"`
	Seconds float64  `json:"seconds"`
}

func (s State) key() string { return strings.Join(s.Shows, "\n") }

// changes of a state from the one before, as lines with + and -.
func changes(before, after []string) string {
	had, has := map[string]bool{}, map[string]bool{}
	for _, line := range before {
		had[line] = true
	}
	for _, line := range after {
		has[line] = true
	}
	var lines []string
	for _, line := range before {
		if !has[line] {
			lines = append(lines, "  - "+line)
		}
	}
	for _, line := range after {
		if !had[line] {
			lines = append(lines, "  + "+line)
		}
	}
	return strings.Join(lines, "\n")
}
