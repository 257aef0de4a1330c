// Command density measures a node agent at growing numbers of pods: denselet and the upstream kubelet one after the other,
// on the same simulated runtime, the same API server, the same pods and the same configuration.
//
//	density --denselet PROGRAM --kubelet PROGRAM --cri-sim PROGRAM --out FOLDER [--results FOLDER]
//	        [--pods 100,500,1000] [--more 2500,5000,10000] [--qps 50,1000] [--idle 30s]
//
// `./dev bench density` runs it in network and mount namespaces of its own, inside of tests/e2e/control_plane.sh. It prints
// a table and writes density.json (metric to number) to --out; with --results also the table, the numbers and plots.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

type options struct {
	denselet, kubelet, criSim, out, results string
	pods, more, qps                         []int
	idle                                    time.Duration
}

func main() {
	o := parseFlags()
	cluster, err := newCluster()
	check(err)
	sheet := newSheet()
	for _, qps := range o.qps {
		for _, n := range o.pods {
			for _, program := range []agentKind{{"kubelet", o.kubelet}, {"denselet", o.denselet}} {
				sheet.add(measure(cluster, o, program, n, qps))
			}
		}
	}
	raised := o.qps[len(o.qps)-1]
	for _, n := range o.more {
		sheet.add(measure(cluster, o, agentKind{"denselet", o.denselet}, n, raised))
	}
	report := sheet.judge(o.qps)
	fmt.Print(report.table)
	check(report.write(o))
	if report.missed {
		fmt.Println("Some goals were missed; bench/README.md says why.")
	}
}

func parseFlags() options {
	var o options
	var pods, more, qps string
	flag.StringVar(&o.denselet, "denselet", "", "denselet's program")
	flag.StringVar(&o.kubelet, "kubelet", "", "the upstream kubelet's program")
	flag.StringVar(&o.criSim, "cri-sim", "", "cri_sim's program")
	flag.StringVar(&o.out, "out", "", "folder of density.json")
	flag.StringVar(&o.results, "results", "", "folder of table and plots")
	flag.StringVar(&pods, "pods", "100,500,1000", "numbers of pods, for both agents")
	flag.StringVar(&more, "more", "2500,5000,10000", "further ones, for denselet alone, at the last of --qps")
	flag.StringVar(&qps, "qps", "50,1000", "values of kubeAPIQPS")
	flag.DurationVar(&o.idle, "idle", 30*time.Second, "how long an idle node is looked at")
	flag.Parse()
	if o.denselet == "" || o.kubelet == "" || o.criSim == "" || o.out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	o.pods, o.more, o.qps = numbers(pods), numbers(more), numbers(qps)
	if len(o.pods) == 0 || len(o.qps) == 0 {
		fail("--pods and --qps each need a number")
	}
	return o
}

func numbers(text string) []int {
	var all []int
	for _, one := range strings.Split(text, ",") {
		if one == "" {
			continue
		}
		n, err := strconv.Atoi(one)
		if err != nil || n <= 0 {
			fail("not a number above 0: " + one)
		}
		all = append(all, n)
	}
	return all
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

// Whatever is still running is stopped by then: fail ends the process, and what it started dies with it.
func fail(why any) {
	fmt.Fprintln(os.Stderr, "density:", why)
	stopAll()
	os.Exit(1)
}
