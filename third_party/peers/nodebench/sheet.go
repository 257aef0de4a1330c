package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type column struct {
	key, title, format string
}

// goal is a limit from above for a ratio of two numbers of this run. Without a limit it is only told.
type goal struct {
	key, what           string
	ours, theirs, limit float64
}

func (g goal) ratio() float64 { return g.ours / g.theirs }

func (g goal) missed() bool { return g.limit > 0 && g.ratio() > g.limit }

// sheet has what was measured, and turns it into text and numbers.
type sheet struct {
	plan   *plan
	qps    []int
	rounds []*round
}

func (s *sheet) add(r *round, since time.Duration) {
	s.rounds = append(s.rounds, r)
	fmt.Print(" ")
	for _, c := range s.plan.columns {
		fmt.Printf(" %s="+c.format, c.key, r.values[c.key])
	}
	fmt.Print("\n  requests of a start:")
	for i, kind := range kindsOf(r) {
		fmt.Printf("%s %.2f %s", map[bool]string{true: ","}[i > 0], r.kinds[kind], kind)
	}
	fmt.Printf("\n  (%s since the beginning)\n", since.Round(time.Second))
}

// kindsOf are those that count, the most frequent first.
func kindsOf(r *round) []string {
	var kinds []string
	for kind, number := range r.kinds {
		if number >= 0.01 {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if r.kinds[a] != r.kinds[b] {
			return int((r.kinds[b] - r.kinds[a]) * 1e6)
		}
		return strings.Compare(a, b)
	})
	return kinds
}

func (s *sheet) find(agent string, pods, qps int) *round {
	for _, r := range s.rounds {
		if r.agent == agent && r.pods == pods && r.qps == qps {
			return r
		}
	}
	return nil
}

func (s *sheet) goals() []goal {
	return slices.DeleteFunc(s.plan.goals(s), func(g goal) bool { return g.theirs <= 0 })
}

func (s *sheet) missed() bool { return slices.ContainsFunc(s.goals(), goal.missed) }

// numbers is flat: metric to number.
func (s *sheet) numbers() map[string]float64 {
	all := map[string]float64{}
	for _, r := range s.rounds {
		suffix := fmt.Sprintf("_%d_qps%d", r.pods, r.qps)
		for _, c := range s.plan.columns {
			all[r.agent+"_"+c.key+suffix] = r.values[c.key]
		}
		for _, kind := range kindsOf(r) {
			all[r.agent+"_start_requests_"+strings.NewReplacer(" ", "_", "/", "_").Replace(kind)+suffix] = r.kinds[kind]
		}
	}
	for _, g := range s.goals() {
		all[g.key] = g.ratio()
	}
	return all
}

// ---- text

func (s *sheet) text() string {
	var out strings.Builder
	for _, qps := range s.qps {
		s.writeTable(&out, qps)
	}
	s.writeRequests(&out)
	if goals := s.goals(); len(goals) > 0 {
		out.WriteString("\n| goals | denselet | reference | ratio | goal |\n|---|---|---|---|---|\n")
		for _, g := range goals {
			limit := ""
			if g.limit > 0 {
				limit = fmt.Sprintf("<= %.4g%s", g.limit, map[bool]string{true: " MISSED"}[g.missed()])
			}
			fmt.Fprintf(&out, "| %s (`%s`) | %.4g | %.4g | %.4f | %s |\n", g.what, g.key, g.ours, g.theirs, g.ratio(), limit)
		}
	}
	return out.String()
}

// A column for each round; behind one of denselet's the ratio to the kubelet's of the same size.
func (s *sheet) writeTable(out *strings.Builder, qps int) {
	var rounds []*round
	for _, r := range s.rounds {
		if r.qps == qps {
			rounds = append(rounds, r)
		}
	}
	if len(rounds) == 0 {
		return
	}
	peer := func(r *round) *round {
		if r.agent == "kubelet" {
			return nil
		}
		return s.find("kubelet", r.pods, qps)
	}
	fmt.Fprintf(out, "\n| kubeAPIQPS %d |", qps)
	columns := 1
	for _, r := range rounds {
		fmt.Fprintf(out, " %s, %d |", r.agent, r.pods)
		columns++
		if peer(r) != nil {
			out.WriteString(" ratio |")
			columns++
		}
	}
	out.WriteString("\n|" + strings.Repeat("---|", columns) + "\n")
	for _, c := range s.plan.columns {
		fmt.Fprintf(out, "| %s |", c.title)
		for _, r := range rounds {
			fmt.Fprintf(out, " "+c.format+" |", r.values[c.key])
			if other := peer(r); other != nil && other.values[c.key] > 0 {
				fmt.Fprintf(out, " %.3f |", r.values[c.key]/other.values[c.key])
			} else if other != nil {
				out.WriteString("  |")
			}
		}
		out.WriteString("\n")
	}
}

// Of the largest size that all were measured with.
func (s *sheet) writeRequests(out *strings.Builder) {
	out.WriteString("\n| API requests of a start | |\n|---|---|\n")
	for _, r := range s.rounds {
		var parts []string
		for _, kind := range kindsOf(r) {
			parts = append(parts, fmt.Sprintf("%.2f %s", r.kinds[kind], kind))
		}
		fmt.Fprintf(out, "| %s, %d, kubeAPIQPS %d | %s |\n", r.agent, r.pods, r.qps, strings.Join(parts, ", "))
	}
}

// ---- files

func (s *sheet) writeNumbers(folder string) error {
	text, err := json.MarshalIndent(s.numbers(), "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, s.plan.name+".json"), append(text, '\n'), 0o644)
}

func (s *sheet) writeResults(o options, table string) error {
	if err := os.MkdirAll(o.results, 0o755); err != nil {
		return err
	}
	if err := s.writeNumbers(o.results); err != nil {
		return err
	}
	text := fmt.Sprintf("# %s\n\nMade by `./dev bench %s`.\n\n%s%s\n", s.plan.title, s.plan.name, versions(o), table)
	for _, p := range s.plan.plots {
		drawn := p.draw(s)
		if drawn == "" {
			continue
		}
		name := s.plan.name + "-" + strings.ReplaceAll(p.key, "_", "-") + ".svg"
		if err := os.WriteFile(filepath.Join(o.results, name), []byte(drawn), 0o644); err != nil {
			return err
		}
		text += "![" + p.title + "](" + name + ")\n"
	}
	return os.WriteFile(filepath.Join(o.results, s.plan.name+".md"), []byte(text), 0o644)
}
