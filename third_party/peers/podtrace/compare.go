package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Difference of one pod's trace from upstream's.
type Difference struct {
	Row, Pod, Kind string
	// Is what differs: a state, an event, or two; Detail helps who reads.
	Is, Detail string

	because string // of the exception that explains it
}

// Kinds of differences.
const (
	kindTable      = "table"            // a row or pod that the other side does not have
	kindStuck      = "stuck"            // a step that did not come to its end
	kindAdditional = "additional state" // that upstream does not pass through
	kindOrder      = "order of states"  // upstream never passes through the second after the first
	kindSkipped    = "skipped state"    // that a user can wait for
	kindEnd        = "end state"
	kindEvent      = "additional event"
	kindNoEvent    = "missing event"
	kindEventOrder = "order of events"
)

func (d Difference) headline() string { return d.Kind + ": " + d.Is }

func (d Difference) String() string {
	if d.Detail == "" {
		return d.headline()
	}
	return d.headline() + "\n" + d.Detail
}

// compareRow: every state of ours is one that upstream passes through, in the same order; the ends are equal; none is skipped
// that a user can wait for. Events likewise, as a set, and in order where upstream always has the same.
func compareRow(row string, upstream map[string]*GoldenPod, ours RowTrace) []Difference {
	var all []Difference
	if ours.Stuck != "" {
		all = append(all, Difference{Row: row, Kind: kindStuck, Is: ours.Stuck})
	}
	if upstream == nil {
		return append(all, Difference{Row: row, Kind: kindTable, Is: "upstream has no such row"})
	}
	for _, pod := range sortedKeys(ours.Pods) {
		if upstream[pod] == nil {
			all = append(all, Difference{Row: row, Pod: pod, Kind: kindTable, Is: "upstream has no such pod"})
		}
	}
	for _, pod := range sortedKeys(upstream) {
		trace := ours.Pods[pod]
		if trace == nil {
			all = append(all, Difference{Row: row, Pod: pod, Kind: kindTable, Is: "there was no such pod"})
			continue
		}
		c := comparison{upstream: upstream[pod], ours: trace}
		c.compareStates()
		c.compareEvents()
		for _, difference := range c.found {
			difference.Row, difference.Pod = row, pod
			all = append(all, difference)
		}
	}
	return all
}

type comparison struct {
	upstream *GoldenPod
	ours     *PodTrace
	found    []Difference
}

func (c *comparison) add(kind, is, detail string) {
	c.found = append(c.found, Difference{Kind: kind, Is: is, Detail: detail})
}

func (c *comparison) compareStates() {
	reaches := c.upstream.reachable()
	before, beforeNumber := -1, -1 // the last state of ours that upstream knows, and its number there
	for i, state := range c.ours.States {
		number := c.upstream.number(state.Shows)
		if number < 0 {
			nearest, changes := c.upstream.nearest(state.Shows)
			c.add(kindAdditional, fmt.Sprintf("state %d, %s", i, summary(state.Shows)),
				fmt.Sprintf("from upstream's state %d:\n%s", nearest, changes))
			continue
		}
		if beforeNumber >= 0 && beforeNumber != number && !reaches[beforeNumber][number] {
			c.add(kindOrder, fmt.Sprintf("state %d, %s, after state %d, %s", i, summary(state.Shows), before,
				summary(c.ours.States[before].Shows)), changes(c.ours.States[before].Shows, state.Shows))
		}
		before, beforeNumber = i, number
	}
	c.compareEnd()
	c.findSkipped()
}

func (c *comparison) compareEnd() {
	if len(c.ours.States) == 0 {
		c.add(kindEnd, "no state at all", "")
		return
	}
	last := c.ours.States[len(c.ours.States)-1].Shows
	nearest := ""
	for _, path := range c.upstream.Paths {
		path := numbers(path)
		end := c.upstream.States[path[len(path)-1]].Shows
		if slices.Equal(end, last) {
			return
		}
		if found := changes(end, last); nearest == "" || len(found) < len(nearest) {
			nearest = found
		}
	}
	c.add(kindEnd, summary(last), "from upstream's:\n"+nearest)
}

// findSkipped: what users wait for is a phase, readiness, a deletion, however short; and how it is with the containers where
// that lasts.
func (c *comparison) findSkipped() {
	has := map[string]bool{}
	for _, state := range c.ours.States {
		has[strings.Join(coarse(state.Shows), ", ")] = true
		has[summary(state.Shows)] = true
	}
	told := map[string]bool{}
	for i, state := range c.upstream.States {
		if !c.upstream.always(i) {
			continue
		}
		for _, wanted := range []string{strings.Join(coarse(state.Shows), ", "), summary(state.Shows)} {
			if !has[wanted] && !told[wanted] && (state.Lasts || wanted != summary(state.Shows)) {
				told[wanted] = true
				c.add(kindSkipped, wanted, fmt.Sprintf("upstream's state %d", i))
			}
		}
	}
}

var ofContainer = regexp.MustCompile(`^(init|container|ephemeral) \S+: (waiting( \w+)?|running|terminated \d+ signal \d+( \w+)?)`)

// coarse is what users wait for of a pod as a whole.
func coarse(shows []string) []string {
	var lines []string
	for _, line := range shows {
		if strings.HasPrefix(line, "phase ") || strings.HasPrefix(line, "Ready=") {
			line, _, _ = strings.Cut(line, ":")
			lines = append(lines, line)
		} else if line == "deleting" || line == "gone" {
			lines = append(lines, line)
		}
	}
	return lines
}

// summary is that and how it is with its containers, without words.
func summary(shows []string) string {
	lines := coarse(shows)
	for _, line := range shows {
		if found := ofContainer.FindString(line); found != "" {
			lines = append(lines, found)
		}
	}
	return strings.Join(lines, ", ")
}

func (c *comparison) compareEvents() {
	for _, event := range c.ours.Events {
		if !slices.Contains(c.upstream.Events, event) {
			c.add(kindEvent, event, "")
		}
	}
	var always []int
	for i, event := range c.upstream.Events {
		if c.upstream.alwaysTold(i) {
			always = append(always, i)
			if !slices.Contains(c.ours.Events, event) {
				c.add(kindNoEvent, event, "")
			}
		}
	}
	for _, first := range always {
		for _, second := range always {
			if first != second && c.upstream.alwaysBefore(first, second) {
				c.compareOrder(c.upstream.Events[first], c.upstream.Events[second])
			}
		}
	}
}

func (c *comparison) compareOrder(first, second string) {
	i, j := slices.Index(c.ours.Events, first), slices.Index(c.ours.Events, second)
	if i >= 0 && j >= 0 && j < i {
		c.add(kindEventOrder, fmt.Sprintf("%q before %q", second, first), "")
	}
}
