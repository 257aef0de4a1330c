// Command events prints what upstream's recorder makes of sequences of events, as a table for
// tests/managers/events/golden: "events SEED ROWS" prints the chosen sequences and one random one of as many events.
//
// A row is "new" and the name of a sequence, which begins with nothing remembered; or an event (nanoseconds since the last
// one, kind, namespace, name, uid, field path, type, reason, message, and "sent" or "lost"), what becomes of it ("drop",
// "create", "patch"), the event as JSON and the patch.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/record/util"
	testclock "k8s.io/utils/clock/testing"
)

type occurrence struct {
	after                 time.Duration
	object                corev1.ObjectReference
	kind, reason, message string
	lost                  bool
}

var start = time.Date(2026, 1, 2, 15, 4, 5, 678, time.UTC)

type recorder struct {
	clock      *testclock.FakeClock
	correlator *record.EventCorrelator
	out        *bufio.Writer
}

func newRecorder(out *bufio.Writer, name string) *recorder {
	clock := testclock.NewFakeClock(start)
	fmt.Fprintf(out, "new\t%s\n", quote(name))
	return &recorder{clock, record.NewEventCorrelator(clock), out}
}

func quote(text string) string { return strconv.QuoteToASCII(text) }

func (r *recorder) tell(o occurrence) {
	r.clock.SetTime(r.clock.Now().Add(o.after))
	now := metav1.NewTime(r.clock.Now())
	namespace := o.object.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	event := &corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: util.GenerateEventName(o.object.Name, now.UnixNano()), Namespace: namespace},
		InvolvedObject:      o.object,
		Reason:              o.reason,
		Message:             o.message,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
		Type:                o.kind,
		Source:              corev1.EventSource{Component: "kubelet", Host: "node-1"},
		ReportingController: "kubelet",
		ReportingInstance:   "node-1",
	}
	result, err := r.correlator.EventCorrelate(event)
	if err != nil {
		panic(err)
	}
	fate := "sent"
	if o.lost {
		fate = "lost"
	}
	ref := o.object
	columns := []string{"event", fmt.Sprint(o.after.Nanoseconds()), quote(ref.Kind), quote(ref.Namespace), quote(ref.Name),
		quote(string(ref.UID)), quote(ref.FieldPath), o.kind, o.reason, quote(o.message), fate}
	if result.Skip {
		fmt.Fprintln(r.out, strings.Join(append(columns, "drop", "", ""), "\t"))
		return
	}
	verdict := "create"
	if result.Event.Count > 1 {
		verdict = "patch"
	}
	sent, err := json.Marshal(result.Event)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(r.out, strings.Join(append(columns, verdict, quote(string(sent)), quote(string(result.Patch))), "\t"))
	if !o.lost {
		r.correlator.UpdateState(result.Event)
	}
}

func pod(name, field string) corev1.ObjectReference {
	return corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: name, UID: "1b4e28ba", APIVersion: "v1", FieldPath: field}
}

func node() corev1.ObjectReference {
	return corev1.ObjectReference{Kind: "Node", Name: "node-1", APIVersion: "v1"}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: events SEED ROWS")
		os.Exit(2)
	}
	seed, seedErr := strconv.ParseInt(os.Args[1], 10, 64)
	rows, rowsErr := strconv.Atoi(os.Args[2])
	if seedErr != nil || rowsErr != nil {
		fmt.Fprintln(os.Stderr, "events: no number")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Printed by third_party/peers/events: events, and what upstream's recorder makes of them.")
	same(out)
	alike(out)
	spam(out)
	mixed(out, rand.New(rand.NewSource(seed)), rows)
}

// The same again and again, at several distances; with one whose sending fails.
func same(out *bufio.Writer) {
	r := newRecorder(out, "the same again")
	for i, after := range []time.Duration{0, time.Second, 0, time.Minute, time.Hour, 3 * time.Hour} {
		r.tell(occurrence{after, node(), "Normal", "NodeReady", "Node node-1 status is now: NodeReady", i == 3})
	}
	r.tell(occurrence{time.Second, node(), "Normal", "Starting", "", false})
	r.tell(occurrence{time.Second, node(), "Normal", "Starting", "", false})
	r.tell(occurrence{time.Second, pod("web", "spec.containers{a}"), "Warning", "BackOff", "quoted \"<&>\" é\n", false})
	r.tell(occurrence{time.Second, pod("web", "spec.containers{b}"), "Warning", "BackOff", "quoted \"<&>\" é\n", false})
	r.tell(occurrence{time.Second, pod("web", "spec.containers{a}"), "Warning", "BackOff", "quoted \"<&>\" é\n", false})
}

// Of one reason, each with another message: combined from the tenth on, and afresh after ten minutes of silence.
func alike(out *bufio.Writer) {
	r := newRecorder(out, "alike")
	for i := range 14 {
		r.tell(occurrence{time.Second, pod("web", ""), "Normal", "Pulled", fmt.Sprintf("message %d", i), false})
	}
	r.tell(occurrence{600 * time.Second, pod("web", ""), "Normal", "Pulled", "message 20", false})
	r.tell(occurrence{600*time.Second + 1, pod("web", ""), "Normal", "Pulled", "message 21", false})
	r.tell(occurrence{time.Second, pod("web", ""), "Normal", "Pulled", "message 22", false})
}

// More than the bucket holds, then waiting for a token.
func spam(out *bufio.Writer) {
	r := newRecorder(out, "spam")
	for range 30 {
		r.tell(occurrence{time.Second, pod("web", ""), "Warning", "Unhealthy", "probe failed", false})
	}
	for _, after := range []time.Duration{200 * time.Second, 100 * time.Second, 1, 299 * time.Second, 2 * time.Second, 2 * time.Hour} {
		r.tell(occurrence{after, pod("web", ""), "Warning", "Unhealthy", "probe failed", false})
	}
	r.tell(occurrence{0, pod("web", ""), "Normal", "Pulled", "another type has its own bucket", false})
	r.tell(occurrence{0, pod("other", ""), "Warning", "Unhealthy", "probe failed", false})
}

// A message that was combined does not come again: which one upstream forgets is random.
func mixed(out *bufio.Writer, random *rand.Rand, rows int) {
	r := newRecorder(out, "mixed")
	steps := []time.Duration{0, 1, time.Millisecond, time.Second, 20 * time.Second, 5 * time.Minute, 11 * time.Minute}
	kinds := []string{"Normal", "Warning"}
	for i := range rows {
		object := pod(fmt.Sprintf("p%d", random.Intn(3)), []string{"", "spec.containers{a}"}[random.Intn(2)])
		if random.Intn(5) == 0 {
			object = node()
		}
		reason, message := fmt.Sprintf("Few%d", random.Intn(2)), fmt.Sprintf("message %d", random.Intn(4))
		if random.Intn(2) == 0 {
			reason, message = "Fresh", fmt.Sprintf("fresh message %d", i)
		}
		r.tell(occurrence{steps[random.Intn(len(steps))], object, kinds[random.Intn(2)], reason, message, random.Intn(10) == 0})
	}
}
