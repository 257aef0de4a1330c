package main

import (
	"slices"
	"strings"
)

// number of a state, or -1.
func (g *GoldenPod) number(shows []string) int {
	return slices.IndexFunc(g.States, func(s GoldenState) bool { return slices.Equal(s.Shows, shows) })
}

// reachable says for two states whether upstream passes through the second at some time after the first, if not in one run
// then by way of a state that two runs have in common.
func (g *GoldenPod) reachable() [][]bool {
	reaches := make([][]bool, len(g.States))
	for i := range reaches {
		reaches[i] = make([]bool, len(g.States))
	}
	for _, path := range g.Paths {
		path := numbers(path)
		for i := 1; i < len(path); i++ {
			reaches[path[i-1]][path[i]] = true
		}
	}
	for by := range reaches {
		for from := range reaches {
			for to := range reaches {
				reaches[from][to] = reaches[from][to] || (reaches[from][by] && reaches[by][to])
			}
		}
	}
	return reaches
}

// nearest state to one that upstream does not have, and what is different.
func (g *GoldenPod) nearest(shows []string) (int, string) {
	best, text := -1, ""
	for i, state := range g.States {
		found := changes(state.Shows, shows)
		if best < 0 || strings.Count(found, "\n") < strings.Count(text, "\n") {
			best, text = i, found
		}
	}
	return best, text
}

func (g *GoldenPod) always(state int) bool { return inAll(g.Paths, state) }

func (g *GoldenPod) alwaysTold(event int) bool { return inAll(g.EventPaths, event) }

func inAll(paths []string, number int) bool {
	for _, path := range paths {
		if !slices.Contains(numbers(path), number) {
			return false
		}
	}
	return true
}

func (g *GoldenPod) alwaysBefore(first, second int) bool {
	for _, path := range g.EventPaths {
		path := numbers(path)
		if slices.Index(path, second) < slices.Index(path, first) {
			return false
		}
	}
	return true
}
