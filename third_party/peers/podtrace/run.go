package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

const (
	// Rows that run at the same time. More would delay each other's states on a machine with two cores.
	sideBySideMax = 8
	// A step that takes longer is stuck; machines that build beside it need a while.
	stepSecondsMax = 180
)

type runner struct {
	*recorder
	node, manifests string
}

func runVerb(arguments []string) error {
	file, node, manifests, out := arguments[0], arguments[1], arguments[2], arguments[3]
	rows, err := readRows(file, arguments[4:])
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 1000, 1000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx := context.Background()
	nodeIP, err := untilReady(ctx, client, node)
	if err != nil {
		return err
	}
	r := &runner{newRecorder(client, words{node, nodeIP}), node, manifests}
	if err := r.start(ctx); err != nil {
		return err
	}
	traces, err := r.rows(ctx, rows)
	if err != nil {
		return err
	}
	output, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(write(output, traces), output.Close())
}

// untilReady gives the address of the node.
func untilReady(ctx context.Context, client kubernetes.Interface, name string) (string, error) {
	end := time.Now().Add(stepSecondsMax * time.Second)
	for {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		ready := err == nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		if ready {
			for _, address := range node.Status.Addresses {
				if address.Type == corev1.NodeInternalIP {
					return address.Address, nil
				}
			}
			return "", fmt.Errorf("node %s has no address", name)
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("node %s did not become ready (%v)", name, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// rows runs them side by side, in the order of the table.
func (r *runner) rows(ctx context.Context, rows []Row) (Traces, error) {
	traces, begun := Traces{}, time.Now()
	var mutex sync.Mutex
	var all sync.WaitGroup
	var failures error
	places := make(chan struct{}, sideBySideMax)
	for _, row := range rows {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			from := time.Now()
			trace, err := r.row(ctx, row)
			mutex.Lock()
			defer mutex.Unlock()
			traces[row.Name] = trace
			if err != nil {
				failures = errors.Join(failures, fmt.Errorf("row %s: %w", row.Name, err))
			}
			fmt.Printf("%-28s %3.0f to %3.0f s %s\n", row.Name, from.Sub(begun).Seconds(), time.Since(begun).Seconds(), trace.Stuck)
		})
	}
	all.Wait()
	return traces, failures
}

// row runs its steps; an error is the table's fault, a step that does not end the node's.
func (r *runner) row(ctx context.Context, row Row) (RowTrace, error) {
	trace := RowTrace{}
	if err := r.makeNamespace(ctx, row.namespace()); err != nil {
		return trace, err
	}
	defer r.clear(ctx, row)
	acted := map[string]int{} // pod to how many states it had shown when something was last done to it
	for _, text := range row.Steps {
		parsed, err := parseStep(text)
		if err != nil {
			return trace, err
		}
		limited, cancel := context.WithTimeout(ctx, stepSecondsMax*time.Second)
		err = r.step(limited, row, parsed, acted)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			trace.Stuck = text
			break
		}
		if err != nil {
			return trace, fmt.Errorf("step %q: %w", text, err)
		}
	}
	trace.Pods = r.end(row.namespace())
	return trace, nil
}

func (r *runner) step(ctx context.Context, row Row, s step, acted map[string]int) error {
	namespace := row.namespace()
	if s.isAct() {
		acted[s.pod] = r.statesOf(namespace, s.pod)
	}
	pods := r.client.CoreV1().Pods(namespace)
	switch s.verb {
	case "create":
		_, err := pods.Create(ctx, r.podOf(row, s.pod), metav1.CreateOptions{})
		return err
	case "write", "rewrite":
		from := s.pod
		if s.verb == "rewrite" {
			from = s.rest
		}
		return r.writeManifest(row, s.pod, from)
	case "unlink":
		return os.Remove(r.manifest(row, s.pod))
	case "delete", "force":
		grace, err := strconv.ParseInt("0"+s.rest, 10, 64)
		if err != nil {
			return err
		}
		return pods.Delete(ctx, r.nameOf(row, s.pod), metav1.DeleteOptions{GracePeriodSeconds: &grace})
	case "condition":
		kind, status, _ := strings.Cut(s.rest, "=")
		patch := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q}]}}`, kind, status)
		_, err := pods.Patch(ctx, s.pod, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		return err
	case "hold":
		length, err := time.ParseDuration(s.pod)
		if err == nil {
			time.Sleep(length)
		}
		return err
	}
	if !r.until(ctx, namespace, s.pod, func(trace *PodTrace) bool { return s.isSeen(trace, acted[s.pod]) }) {
		return ctx.Err()
	}
	return nil
}

func (s step) isAct() bool {
	return !slices.Contains([]string{"until", "told", "gone", "hold"}, s.verb)
}

// isSeen looks at what a pod shows now. But who is gone may be back at once: any end since the last act counts.
func (s step) isSeen(trace *PodTrace, acted int) bool {
	if s.verb == "gone" {
		return slices.ContainsFunc(trace.States[acted:], func(state State) bool { return slices.Equal(state.Shows, gone) })
	}
	lines := trace.Events
	if s.verb != "told" {
		if len(trace.States) == 0 {
			return false
		}
		lines = trace.States[len(trace.States)-1].Shows
	}
	return slices.ContainsFunc(lines, s.pattern.MatchString)
}

func (r *runner) podOf(row Row, name string) *corev1.Pod {
	spec, known := row.Pods[name]
	if !known {
		fail(fmt.Sprintf("row %s has no pod %s", row.Name, name))
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: row.namespace()},
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: completed(spec, r.node)}
}

func (r *runner) manifest(row Row, name string) string {
	return filepath.Join(r.manifests, row.Name+"-"+name+".yaml")
}

// nameOf a pod in the API: a static one has its mirror there.
func (r *runner) nameOf(row Row, name string) string {
	if _, err := os.Stat(r.manifest(row, name)); err == nil {
		return name + "-" + r.node
	}
	return name
}

// writeManifest of pod NAME with the contents of another one in the table, at once.
func (r *runner) writeManifest(row Row, name, from string) error {
	pod := r.podOf(row, from)
	pod.Name, pod.Spec.NodeName = name, ""
	text, err := yaml.Marshal(pod)
	if err != nil {
		return err
	}
	hidden := filepath.Join(r.manifests, "."+row.Name+".new")
	if err := os.WriteFile(hidden, text, 0o600); err != nil {
		return err
	}
	return os.Rename(hidden, r.manifest(row, name))
}

// makeNamespace with the service account that a controller would make.
func (r *runner) makeNamespace(ctx context.Context, name string) error {
	core := r.client.CoreV1()
	_, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err = core.ServiceAccounts(name).Create(ctx, account, metav1.CreateOptions{})
	return err
}

// clear makes room for the rows that follow; nobody looks at how.
func (r *runner) clear(ctx context.Context, row Row) {
	for name := range row.Pods {
		_ = os.Remove(r.manifest(row, name))
	}
	grace := int64(1)
	_ = r.client.CoreV1().Pods(row.namespace()).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &grace}, metav1.ListOptions{})
}
