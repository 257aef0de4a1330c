package main

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

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
