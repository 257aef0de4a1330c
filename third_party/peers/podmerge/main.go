// Prints what the real kubelet makes of every change from one version of a pod to another:
//
//	cd third_party/peers && go run ./podmerge > ../../tests/sync/sources/golden/merges.txt
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
)

type observer struct{}

func (observer) ObservedPodOnWatch(*v1.Pod, time.Time) {}

type variant struct {
	name   string
	change func(*v1.Pod)
}

func later(seconds int64) *metav1.Time {
	t := metav1.Unix(1700000000+seconds, 0)
	return &t
}

func grace(seconds int64) *int64 { return &seconds }

func deleting(change func(*v1.Pod)) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.DeletionTimestamp = later(0)
		p.DeletionGracePeriodSeconds = grace(30)
		change(p)
	}
}

var variants = []variant{
	{"base", func(*v1.Pod) {}},
	{"spec", func(p *v1.Pod) { p.Spec.Containers[0].Image = "app:2" }},
	{"spec-pointer-to-zero", func(p *v1.Pod) { p.Spec.ActiveDeadlineSeconds = grace(0) }},
	{"label-changed", func(p *v1.Pod) { p.Labels["app"] = "b" }},
	{"label-added", func(p *v1.Pod) { p.Labels["tier"] = "x" }},
	{"no-labels", func(p *v1.Pod) { p.Labels = nil }},
	{"annotation-changed", func(p *v1.Pod) { p.Annotations["note"] = "two" }},
	{"annotation-added", func(p *v1.Pod) { p.Annotations["more"] = "" }},
	{"annotation-gone", func(p *v1.Pod) { delete(p.Annotations, "note") }},
	{"source-annotation", func(p *v1.Pod) { p.Annotations[kubetypes.ConfigSourceAnnotationKey] = "file" }},
	{"seen-annotation", func(p *v1.Pod) { p.Annotations[kubetypes.ConfigFirstSeenAnnotationKey] = "long ago" }},
	{"mirror-annotation", func(p *v1.Pod) { p.Annotations[kubetypes.ConfigMirrorAnnotationKey] = "1111" }},
	{"mirror-annotation-other", func(p *v1.Pod) { p.Annotations[kubetypes.ConfigMirrorAnnotationKey] = "2222" }},
	{"mirror-and-spec", func(p *v1.Pod) {
		p.Annotations[kubetypes.ConfigMirrorAnnotationKey] = "3333"
		p.Spec.Containers[0].Image = "app:3"
	}},
	{"hash-annotation", func(p *v1.Pod) { p.Annotations[kubetypes.ConfigHashAnnotationKey] = "abcd" }},
	{"status", func(p *v1.Pod) { p.Status.Phase = v1.PodRunning }},
	{"status-conditions", func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}
	}},
	{"spec-and-status", func(p *v1.Pod) {
		p.Spec.Containers[0].Image = "app:2"
		p.Status.Phase = v1.PodRunning
	}},
	{"deleting", deleting(func(*v1.Pod) {})},
	{"deleting-later", deleting(func(p *v1.Pod) { p.DeletionTimestamp = later(30) })},
	{"deleting-at-once", deleting(func(p *v1.Pod) { p.DeletionGracePeriodSeconds = grace(0) })},
	{"deleting-and-spec", deleting(func(p *v1.Pod) { p.Spec.Containers[0].Image = "app:2" })},
	{"deleting-and-status", deleting(func(p *v1.Pod) { p.Status.Phase = v1.PodRunning })},
	{"version", func(p *v1.Pod) { p.ResourceVersion = "99" }},
	{"owner", func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}
	}},
	{"finalizer", func(p *v1.Pod) { p.Finalizers = []string{"example.com/wait"} }},
	{"generation", func(p *v1.Pod) { p.Generation = 7 }},
}

func make1(v variant) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "default", UID: "uid-1", ResourceVersion: "1", Generation: 1,
			Labels:      map[string]string{"app": "a"},
			Annotations: map[string]string{"note": "one"},
		},
		Spec: v1.PodSpec{
			NodeName:   "node",
			Containers: []v1.Container{{Name: "app", Image: "app:1"}},
		},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
	v.change(pod)
	return pod
}

func opName(op kubetypes.PodOperation) string {
	switch op {
	case kubetypes.ADD:
		return "ADD"
	case kubetypes.DELETE:
		return "DELETE"
	case kubetypes.REMOVE:
		return "REMOVE"
	case kubetypes.UPDATE:
		return "UPDATE"
	case kubetypes.RECONCILE:
		return "RECONCILE"
	}
	return "?"
}

func text(value any) string {
	bytes, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return strconv.QuoteToASCII(string(bytes))
}

// The type of an update has no name outside of its package.
func send(channel any, pods []*v1.Pod) {
	value := reflect.ValueOf(channel)
	update := reflect.New(value.Type().Elem()).Elem()
	update.FieldByName("Pods").Set(reflect.ValueOf(pods))
	value.Send(update)
}

func merge(before, after []*v1.Pod) []kubetypes.PodUpdate {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pods := config.NewPodConfig(record.NewFakeRecorder(100), observer{})
	channel := pods.Channel(ctx, kubetypes.ApiserverSource)
	send(channel, before)
	send(channel, after)
	// Received only after the one before was merged; itself it changes nothing.
	var again []*v1.Pod
	for _, pod := range after {
		again = append(again, pod.DeepCopy())
	}
	send(channel, again)
	// The first telling makes one update, also when it is empty.
	<-pods.Updates()
	var updates []kubetypes.PodUpdate
	for {
		select {
		case update := <-pods.Updates():
			updates = append(updates, update)
		default:
			return updates
		}
	}
}

func set(v *variant) []*v1.Pod {
	if v == nil {
		return []*v1.Pod{}
	}
	return []*v1.Pod{make1(*v)}
}

func name(v *variant) string {
	if v == nil {
		return "absent"
	}
	return v.name
}

func main() {
	fmt.Println("# Printed by third_party/peers/podmerge.")
	fmt.Println("# pod, name, JSON")
	all := []*variant{nil}
	for i := range variants {
		all = append(all, &variants[i])
		fmt.Printf("pod\t%s\t%s\n", variants[i].name, text(make1(variants[i])))
	}
	fmt.Println("# merge, before, after, operation, annotations of the result without config.seen")
	for _, before := range all {
		for _, after := range all {
			updates := merge(set(before), set(after))
			if len(updates) == 0 {
				fmt.Printf("merge\t%s\t%s\tnone\n", name(before), name(after))
				continue
			}
			if len(updates) != 1 || len(updates[0].Pods) != 1 {
				panic(fmt.Sprint(name(before), " ", name(after), " ", updates))
			}
			annotations := updates[0].Pods[0].Annotations
			delete(annotations, kubetypes.ConfigFirstSeenAnnotationKey)
			fmt.Printf("merge\t%s\t%s\t%s\t%s\n", name(before), name(after), opName(updates[0].Op), text(annotations))
		}
	}
}
