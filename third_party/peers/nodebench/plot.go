package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// plot is one column over the number of pods, both axes logarithmic. No background, and greys and colours that can be read on a
// light page and on a dark one.
type plot struct {
	key, title string
}

const (
	plotWidth, plotHeight = 640.0, 360.0
	plotLeft, plotBottom  = 60.0, 40.0
	plotTop, plotRight    = 36.0, 170.0
	plotLeast             = 0.001 // what is less, or nothing, has no place on a logarithmic axis
	plotGrey              = "#808890"
)

type scale struct{ low, high, from, to float64 }

func newScale(from, to float64) scale { return scale{math.Inf(1), math.Inf(-1), from, to} }

func (s *scale) include(power float64) { s.low, s.high = min(s.low, power), max(s.high, power) }

func (s *scale) at(value float64) float64 {
	return s.from + (math.Log10(value)-s.low)/(s.high-s.low)*(s.to-s.from)
}

// curve is what one agent did with one kubeAPIQPS.
type curve struct {
	agent  string
	qps    int
	colour string
	dashed bool
	rounds []*round
}

func (s *sheet) curves() []curve {
	var all []curve
	for _, one := range []struct{ agent, colour string }{{"kubelet", "#d0553f"}, {"denselet", "#3b8fd6"}} {
		for i, qps := range s.qps {
			c := curve{agent: one.agent, qps: qps, colour: one.colour, dashed: i > 0}
			for _, r := range s.rounds {
				if r.agent == one.agent && r.qps == qps {
					c.rounds = append(c.rounds, r)
				}
			}
			if len(c.rounds) > 0 {
				slices.SortStableFunc(c.rounds, func(a, b *round) int { return a.pods - b.pods })
				all = append(all, c)
			}
		}
	}
	return all
}

// draw is empty where there is nothing to compare over: one size alone is no curve.
func (p plot) draw(s *sheet) string {
	value := func(r *round) float64 { return max(r.values[p.key], plotLeast) }
	xs, ys := newScale(plotLeft, plotWidth-plotRight), newScale(plotHeight-plotBottom, plotTop)
	var sizes []int
	for _, r := range s.rounds {
		xs.include(math.Log10(float64(r.pods)))
		power := math.Log10(value(r))
		ys.include(math.Floor(power))
		ys.include(math.Ceil(power))
		if !slices.Contains(sizes, r.pods) {
			sizes = append(sizes, r.pods)
		}
	}
	if len(sizes) < 2 {
		return ""
	}
	if ys.high == ys.low {
		ys.high++
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" font-family="sans-serif" font-size="12" fill="%s">`+"\n",
		plotWidth, plotHeight, plotWidth, plotHeight, plotGrey)
	fmt.Fprintf(&out, `<text x="%g" y="18" font-size="14" font-weight="bold">%s</text>`+"\n", plotLeft, p.title)
	for power := ys.low; power <= ys.high; power++ {
		y := ys.at(math.Pow(10, power))
		fmt.Fprintf(&out, `<path d="M%g %.1fH%g" stroke="%s" stroke-opacity="0.4"/><text x="%g" y="%.1f" text-anchor="end">%g</text>`+"\n",
			plotLeft, y, plotWidth-plotRight, plotGrey, plotLeft-6, y+4, math.Pow(10, power))
	}
	for _, size := range sizes {
		fmt.Fprintf(&out, `<text x="%.1f" y="%g" text-anchor="middle">%d</text>`+"\n", xs.at(float64(size)), plotHeight-plotBottom+18, size)
	}
	fmt.Fprintf(&out, `<text x="%g" y="%g" text-anchor="end">pods</text>`+"\n", plotWidth-plotRight, plotHeight-6)
	for i, c := range s.curves() {
		var points, dots []string
		for _, r := range c.rounds {
			x, y := xs.at(float64(r.pods)), ys.at(value(r))
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
			dots = append(dots, fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="3"><title>%s, %d pods, kubeAPIQPS %d: %.4g</title></circle>`,
				x, y, c.agent, r.pods, c.qps, r.values[p.key]))
		}
		dash := map[bool]string{true: ` stroke-dasharray="6 3"`}[c.dashed]
		y := plotTop + 4 + 18*float64(i)
		fmt.Fprintf(&out, `<g fill="%s" stroke="none"><polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>%s`+"\n",
			c.colour, strings.Join(points, " "), c.colour, dash, strings.Join(dots, ""))
		fmt.Fprintf(&out, `<path d="M%g %gh24" stroke="%s" stroke-width="2"%s/><text x="%g" y="%g">%s, QPS %d</text></g>`+"\n",
			plotWidth-plotRight+8, y, c.colour, dash, plotWidth-plotRight+38, y+4, c.agent, c.qps)
	}
	out.WriteString("</svg>\n")
	return out.String()
}
