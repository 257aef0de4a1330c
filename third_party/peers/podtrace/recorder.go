package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// recorder watches pods and events of all namespaces, and keeps a trace of each name. Steps wait for what it sees.
type recorder struct {
	client kubernetes.Interface
	words  words

	mutex   sync.Mutex
	changed chan struct{} // closed at each change, and made anew
	traces  map[string]*PodTrace
	since   map[string]time.Time // of the last state
	done    map[string]bool      // namespaces of which no more is recorded
}

func newRecorder(client kubernetes.Interface, w words) *recorder {
	return &recorder{client: client, words: w, changed: make(chan struct{}), traces: map[string]*PodTrace{},
		since: map[string]time.Time{}, done: map[string]bool{}}
}

// start begins to watch; what was there before is not seen.
func (r *recorder) start(ctx context.Context) error {
	pods := r.client.CoreV1().Pods(metav1.NamespaceAll)
	list, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	events := r.client.CoreV1().Events(metav1.NamespaceAll)
	go r.follow(ctx, list.ResourceVersion, pods.Watch, r.pod)
	go r.follow(ctx, list.ResourceVersion, events.Watch, r.event)
	return nil
}

type watcher func(context.Context, metav1.ListOptions) (watch.Interface, error)

// follow watches on where the server ended a watch. A gap would hide states, so it is the end.
func (r *recorder) follow(ctx context.Context, from string, open watcher, tell func(watch.Event)) {
	for ctx.Err() == nil {
		stream, err := open(ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true})
		if err != nil {
			if ctx.Err() == nil {
				fail(fmt.Sprintf("the watch cannot go on: %v", err))
			}
			return
		}
		for event := range stream.ResultChan() {
			object, is := event.Object.(metav1.Object)
			if !is {
				fail(fmt.Sprintf("the watch has a gap: %v", event.Object))
			}
			from = object.GetResourceVersion()
			if event.Type != watch.Bookmark {
				tell(event)
			}
		}
	}
}

func (r *recorder) pod(event watch.Event) {
	pod := event.Object.(*corev1.Pod)
	shows := gone
	if event.Type != watch.Deleted {
		shows = r.words.shows(pod)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	trace, key := r.traceOf(pod.Namespace, pod.Name)
	if trace == nil {
		return
	}
	r.measure(trace, key)
	if last := len(trace.States) - 1; last < 0 || !slices.Equal(trace.States[last].Shows, shows) {
		trace.States = append(trace.States, State{Shows: shows})
	}
	r.tellWaiters()
}

func (r *recorder) event(event watch.Event) {
	told := event.Object.(*corev1.Event)
	if event.Type == watch.Deleted || told.InvolvedObject.Kind != "Pod" {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	trace, _ := r.traceOf(told.InvolvedObject.Namespace, told.InvolvedObject.Name)
	if trace == nil {
		return
	}
	if text := r.words.told(told); !slices.Contains(trace.Events, text) {
		trace.Events = append(trace.Events, text)
		r.tellWaiters()
	}
}

// traceOf is nil for namespaces that are not watched any more. A mirror pod goes by the name of its manifest.
func (r *recorder) traceOf(namespace, name string) (*PodTrace, string) {
	if r.done[namespace] || !strings.HasPrefix(namespace, namespacePrefix) {
		return nil, ""
	}
	key := namespace + "/" + strings.TrimSuffix(name, "-"+r.words.node)
	if r.traces[key] == nil {
		r.traces[key] = &PodTrace{}
		r.since[key] = time.Now()
	}
	return r.traces[key], key
}

// measure adds the time that has gone by to the last state.
func (r *recorder) measure(trace *PodTrace, key string) {
	now := time.Now()
	if last := len(trace.States) - 1; last >= 0 {
		trace.States[last].Seconds += now.Sub(r.since[key]).Seconds()
	}
	r.since[key] = now
}

func (r *recorder) tellWaiters() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// until waits for a trace that the caller likes; false: it did not come in time.
func (r *recorder) until(ctx context.Context, namespace, name string, likes func(*PodTrace) bool) bool {
	for {
		r.mutex.Lock()
		trace, changed := r.traces[namespace+"/"+name], r.changed
		found := trace != nil && likes(trace)
		r.mutex.Unlock()
		if found {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// statesOf a pod: how many it has shown so far.
func (r *recorder) statesOf(namespace, name string) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if trace := r.traces[namespace+"/"+name]; trace != nil {
		return len(trace.States)
	}
	return 0
}

// end takes the traces of a namespace; what follows is not recorded.
func (r *recorder) end(namespace string) map[string]*PodTrace {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.done[namespace] = true
	pods := map[string]*PodTrace{}
	for key, trace := range r.traces {
		if name, mine := strings.CutPrefix(key, namespace+"/"); mine {
			r.measure(trace, key)
			pods[name] = trace
		}
	}
	return pods
}
