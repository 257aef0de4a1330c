package main

import (
	"fmt"
	"math"
	"strings"
)

// plot is one figure over the number of pods, both axes logarithmic.
type plot struct {
	key, title string
	of         func(figures) float64
}

var plots = []plot{
	{"start", "all running, s", func(f figures) float64 { return f.StartSeconds }},
	{"start-cpu", "CPU a start, ms", func(f figures) float64 { return f.StartCPU }},
	{"idle-cpu", "idle CPU, % of one core", func(f figures) float64 { return f.IdleCPU }},
	{"rss", "RSS, MB", func(f figures) float64 { return f.RSS }},
	{"exit", "exit visible p99, ms", func(f figures) float64 { return f.ExitP99 }},
}

const (
	plotWidth, plotHeight = 560.0, 340.0
	plotLeft, plotBottom  = 60.0, 40.0
	plotTop, plotRight    = 30.0, 150.0
)

type scale struct{ low, high, from, to float64 }

func (s scale) at(value float64) float64 {
	return s.from + (math.Log10(value)-s.low)/(s.high-s.low)*(s.to-s.from)
}

func (p plot) draw(rounds []figures, qps []int) string {
	xs := scale{math.Inf(1), math.Inf(-1), plotLeft, plotWidth - plotRight}
	ys := scale{math.Inf(1), math.Inf(-1), plotHeight - plotBottom, plotTop}
	for _, f := range rounds {
		x, y := math.Log10(float64(f.pods)), math.Log10(max(p.of(f), 0.001))
		xs.low, xs.high = min(xs.low, x), max(xs.high, x)
		ys.low, ys.high = min(ys.low, math.Floor(y)), max(ys.high, math.Ceil(y))
	}
	if xs.high == xs.low {
		xs.high++
	}
	if ys.high == ys.low {
		ys.high++
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" fill="white"/><text x="%g" y="18">%s</text>`+"\n", plotLeft, p.title)
	for power := ys.low; power <= ys.high; power++ {
		y := ys.at(math.Pow(10, power))
		fmt.Fprintf(&out, `<path d="M%g %gH%g" stroke="#ccc"/><text x="%g" y="%g" text-anchor="end">%g</text>`+"\n",
			plotLeft, y, plotWidth-plotRight, plotLeft-6, y+4, math.Pow(10, power))
	}
	seen := map[int]bool{}
	for _, f := range rounds {
		if !seen[f.pods] {
			fmt.Fprintf(&out, `<text x="%g" y="%g" text-anchor="middle">%d</text>`+"\n", xs.at(float64(f.pods)), plotHeight-plotBottom+18, f.pods)
		}
		seen[f.pods] = true
	}
	colours := map[string]string{"kubelet": "#c44", "denselet": "#27a"}
	line := 0
	for _, agent := range []string{"kubelet", "denselet"} {
		for i, rate := range qps {
			var points []string
			for _, f := range rounds {
				if f.agent == agent && f.qps == rate {
					points = append(points, fmt.Sprintf("%.1f,%.1f", xs.at(float64(f.pods)), ys.at(max(p.of(f), 0.001))))
				}
			}
			if len(points) == 0 {
				continue
			}
			dash := ""
			if i > 0 {
				dash = ` stroke-dasharray="6 3"`
			}
			fmt.Fprintf(&out, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(points, " "), colours[agent], dash)
			y := plotTop + 16*float64(line)
			fmt.Fprintf(&out, `<text x="%g" y="%g" fill="%s">%s, QPS %d%s</text>`+"\n", plotWidth-plotRight+8, y+4, colours[agent], agent, rate,
				map[bool]string{true: " (dashed)"}[i > 0])
			line++
		}
	}
	out.WriteString("</svg>\n")
	return out.String()
}
