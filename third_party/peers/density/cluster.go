package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "density"

// cluster is the control plane, as its administrator sees it.
type cluster struct {
	client *kubernetes.Clientset
}

func newCluster() (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS, config.Burst = 10000, 10000 // what is measured is the agent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &cluster{client: client}
	ctx := context.Background()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	return c, nil
}

func podOf(node, name string) *corev1.Pod {
	no, grace := false, int64(1)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "density"}},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			AutomountServiceAccountToken:  &no,
			TerminationGracePeriodSeconds: &grace,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name:    "main",
				Image:   "example.org/main:1",
				Command: []string{"sh", "-c", "sleep inf"},
			}},
		},
	}
}

// create makes pods on a node, some at a time.
func (c *cluster) create(node string, names []string) error {
	return inParallel(names, func(name string) error {
		_, err := c.client.CoreV1().Pods(namespace).Create(context.Background(), podOf(node, name), metav1.CreateOptions{})
		return err
	})
}

func (c *cluster) delete(names []string) error {
	return inParallel(names, func(name string) error {
		err := c.client.CoreV1().Pods(namespace).Delete(context.Background(), name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

func (c *cluster) nodeIsReady(name string) bool {
	node, err := c.client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// forget removes a node that is measured to the end.
func (c *cluster) forget(node string) {
	_ = c.client.CoreV1().Nodes().Delete(context.Background(), node, metav1.DeleteOptions{})
}

func inParallel(names []string, do func(string) error) error {
	const workers = 16
	queue := make(chan string)
	failed := make(chan error, workers)
	var all sync.WaitGroup
	for range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for name := range queue {
				if err := do(name); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		}()
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// change is what the watcher keeps of each version of a pod that it sees.
type change struct {
	at      time.Time
	running bool
	ready   bool
	ended   bool // a container of it has ended, now or before
	gone    bool
}

// watcher follows the pods of one node as the API server shows them.
type watcher struct {
	stop chan struct{}
	mu   sync.Mutex
	last map[string]change
	seen map[string][]change // since the last call of forget
}

func (c *cluster) watch(node string) *watcher {
	w := &watcher{stop: make(chan struct{}), last: map[string]change{}, seen: map[string][]change{}}
	selector := fields.OneTermEqualSelector("spec.nodeName", node)
	informer := cache.NewSharedIndexInformer(
		cache.NewListWatchFromClient(c.client.CoreV1().RESTClient(), "pods", namespace, selector), &corev1.Pod{}, 0, cache.Indexers{})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { w.note(pod.(*corev1.Pod), false) },
		UpdateFunc: func(_, pod any) { w.note(pod.(*corev1.Pod), false) },
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			w.note(object.(*corev1.Pod), true)
		},
	})
	check(err)
	go informer.Run(w.stop)
	if !cache.WaitForCacheSync(w.stop, informer.HasSynced) {
		fail("the watch of pods did not begin")
	}
	return w
}

func (w *watcher) note(pod *corev1.Pod, gone bool) {
	one := change{at: time.Now(), running: pod.Status.Phase == corev1.PodRunning, gone: gone}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			one.ready = condition.Status == corev1.ConditionTrue
		}
	}
	for _, container := range pod.Status.ContainerStatuses {
		one.ended = one.ended || container.State.Terminated != nil || container.LastTerminationState.Terminated != nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[pod.Name] = one
	w.seen[pod.Name] = append(w.seen[pod.Name], one)
}

// history is what was seen since the last call; what comes later begins anew.
func (w *watcher) history() map[string][]change {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = map[string][]change{}
	return seen
}

// count is of the pods that are so now.
func (w *watcher) count(is func(change) bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, one := range w.last {
		if is(one) {
			n++
		}
	}
	return n
}

// latest is when the last of them became so.
func (w *watcher) latest(is func(change) bool) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at time.Time
	for _, changes := range w.seen {
		for _, one := range changes {
			if is(one) {
				if one.at.After(at) {
					at = one.at
				}
				break
			}
		}
	}
	return at
}

// audit reads what nodes have asked the API server, from where it stopped the last time.
type audit struct {
	path   string
	offset int64
}

func newAudit() *audit {
	a := &audit{path: filepath.Join(os.Getenv("DENSELET_CONTROL_PLANE"), "node-audit.jsonl")}
	a.requests("")
	return a
}

type requests struct {
	all, statusPatches int
}

func (a *audit) requests(node string) requests {
	var r requests
	file, err := os.Open(a.path)
	check(err)
	defer file.Close()
	_, err = file.Seek(a.offset, io.SeekStart)
	check(err)
	reader := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return r // an unfinished line is read the next time
		}
		a.offset += int64(len(line))
		var entry struct {
			Verb      string
			User      struct{ Username string }
			ObjectRef struct{ Resource, Subresource string }
		}
		if json.Unmarshal(line, &entry) != nil || entry.User.Username != "system:node:"+node {
			continue
		}
		r.all++
		if entry.Verb == "patch" && entry.ObjectRef.Resource == "pods" && entry.ObjectRef.Subresource == "status" {
			r.statusPatches++
		}
	}
}

func nodeKubeconfig(node string) []byte {
	text, err := exec.Command("control_plane.sh", "node-kubeconfig", node).Output()
	if err != nil {
		fail(fmt.Errorf("control_plane.sh node-kubeconfig: %w", err))
	}
	return text
}
