// Command nodebench measures node agents: denselet and the upstream kubelet one after the other in one run, on the same
// simulated runtime, the same API server, the same pods and the same configuration.
//
//	nodebench density --denselet PROGRAM --kubelet PROGRAM --cri-sim PROGRAM --out FOLDER [--results FOLDER]
//	          [--sizes 100,500,1000] [--more 2500,5000,10000] [--qps 50,1000] [--agents kubelet,denselet] [--idle 30s]
//	nodebench pods ...    ordinary pods, each with a token, a configMap, a secret and an emptyDir
//
// `./dev bench density` and `./dev bench pods` run it in network and mount namespaces of its own, inside of
// tests/e2e/control_plane.sh. It prints a table and writes NAME.json (metric to number) to --out, after each round what there
// is by then; with --results also the table, the numbers and plots.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plan is one of the benchmarks: what is done with a node, what is measured of it, and what is hoped for.
type plan struct {
	name, title      string
	sizes, more, qps string // defaults
	columns          []column
	plots            []plot
	measure          func(*bench, *node, *round)
	goals            func(*sheet) []goal
	prepare          func(*bench, int)
	podOf            podMaker
}

var plans = map[string]*plan{"density": &densityPlan, "pods": &podsPlan}

type options struct {
	denselet, kubelet, criSim, out, results, commit, logs string
	sizes, more, qps                                      []int
	agents                                                []string
	idle                                                  time.Duration
}

// bench is one run.
type bench struct {
	plan    *plan
	options options
	cluster *cluster
}

func main() {
	if len(os.Args) < 2 || plans[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: nodebench density|pods FLAGS (--help lists them)")
		os.Exit(2)
	}
	b := &bench{plan: plans[os.Args[1]]}
	b.options = parseFlags(b.plan, os.Args[2:])
	var err error
	b.cluster, err = newCluster(b.plan.podOf)
	check(err)
	o := b.options
	sheet := &sheet{plan: b.plan, qps: o.qps}
	began := time.Now()
	run := func(agent string, pods, qps int) {
		sheet.add(b.round(agent, pods, qps), time.Since(began))
		check(sheet.writeNumbers(o.out))
	}
	for _, qps := range o.qps {
		for _, n := range o.sizes {
			for _, agent := range o.agents {
				run(agent, n, qps)
			}
		}
	}
	for _, n := range o.more {
		run("denselet", n, o.qps[len(o.qps)-1])
	}
	text := sheet.text()
	fmt.Print(text)
	check(sheet.writeNumbers(o.out))
	if o.results != "" {
		check(sheet.writeResults(o, text))
	}
	if sheet.missed() {
		fmt.Println("Some goals were missed; bench/README.md says why.")
	}
	fmt.Printf("This took %s.\n", time.Since(began).Round(time.Second))
}

// round measures one agent with one number of pods.
func (b *bench) round(agent string, pods, qps int) *round {
	fmt.Printf("%s: %s, %d pods, kubeAPIQPS %d\n", time.Now().Format("15:04:05"), agent, pods, qps)
	program := map[string]string{"kubelet": b.options.kubelet, "denselet": b.options.denselet}[agent]
	r := &round{agent: agent, pods: pods, qps: qps, values: map[string]float64{}, kinds: map[string]float64{}}
	b.plan.prepare(b, pods)
	n := newNode(b, agentKind{agent, program}, pods, qps)
	n.startAgent()
	n.await("a node that is ready", 2*time.Minute, func() (int, int) { return count(b.cluster.nodeIsReady(n.name)), 1 })
	n.settle()
	b.plan.measure(b, n, r)
	n.stop(b.options.logs)
	b.cluster.forget(n.name)
	return r
}

func parseFlags(p *plan, args []string) options {
	var o options
	var sizes, more, qps, agents string
	flags := flag.NewFlagSet("nodebench "+p.name, flag.ExitOnError)
	flags.StringVar(&o.denselet, "denselet", "", "denselet's program")
	flags.StringVar(&o.kubelet, "kubelet", "", "the upstream kubelet's program")
	flags.StringVar(&o.criSim, "cri-sim", "", "cri_sim's program")
	flags.StringVar(&o.out, "out", "", "folder of "+p.name+".json")
	flags.StringVar(&o.results, "results", "", "folder of table and plots")
	flags.StringVar(&o.commit, "commit", "unknown", "what denselet was built from")
	flags.StringVar(&o.logs, "logs", "", "folder in which agents' logs are kept")
	flags.StringVar(&sizes, "sizes", p.sizes, "numbers of pods, for each agent")
	flags.StringVar(&more, "more", p.more, "further ones, for denselet alone, at the last of --qps; none where --sizes is given alone")
	flags.StringVar(&qps, "qps", p.qps, "values of kubeAPIQPS")
	flags.StringVar(&agents, "agents", "kubelet,denselet", "who is measured")
	flags.DurationVar(&o.idle, "idle", 30*time.Second, "how long an idle node is looked at")
	check(flags.Parse(args))
	if o.denselet == "" || o.kubelet == "" || o.criSim == "" || o.out == "" || flags.NArg() > 0 {
		flags.Usage()
		os.Exit(2)
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["sizes"] && !given["more"] {
		more = ""
	}
	o.sizes, o.more, o.qps, o.agents = numbers(sizes), numbers(more), numbers(qps), strings.Split(agents, ",")
	for _, agent := range o.agents {
		if !slices.Contains(allAgents, agent) {
			fail("no such agent: " + agent)
		}
	}
	if len(o.sizes)+len(o.more) == 0 || len(o.qps) == 0 {
		fail("--sizes or --more, and --qps, need a number")
	}
	return o
}

var allAgents = []string{"kubelet", "denselet"}

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

// What was started ends with this process; what was mounted goes with the mount namespace.
func fail(why any) {
	fmt.Fprintln(os.Stderr, "nodebench:", why)
	showLogs()
	os.Exit(1)
}
