// Command watchbench follows the pods of a node with a client-go informer, as the kubelet's client is set up: protobuf,
// the list as initial events of a watch, a selector on the node. `./dev bench kube` runs it beside denselet's own client:
//
//	watchbench NODE PODS UPDATES
//
// It takes the API server from $KUBECONFIG. When all PODS are known it prints "listed", when UPDATES changes of them have
// come in "updated", each with its CPU time so far in seconds and its peak memory in bytes; then "ok", if all was as it
// should be.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if len(os.Args) != 4 {
		fail("usage: watchbench NODE PODS UPDATES")
	}
	node := os.Args[1]
	pods, updates := count(os.Args[2]), count(os.Args[3])

	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fail(err)
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	requests := &requestCounter{}
	config.Wrap(requests.wrap)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}

	listed, updated := make(chan struct{}), make(chan struct{})
	var added, changed int // of the one goroutine that calls handlers
	selector := fields.OneTermEqualSelector("spec.nodeName", node)
	informer := cache.NewSharedIndexInformer(
		cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, selector),
		&corev1.Pod{}, 0, cache.Indexers{})
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) {
			if added++; added == pods {
				close(listed)
			}
		},
		UpdateFunc: func(before, after any) {
			// A watch that the server ended may be taken up by a new list, which tells of all pods again.
			if before.(*corev1.Pod).ResourceVersion == after.(*corev1.Pod).ResourceVersion {
				return
			}
			if changed++; changed == updates {
				close(updated)
			}
		},
	})
	if err != nil {
		fail(err)
	}
	go informer.Run(make(chan struct{}))

	await(listed, "the list")
	tell("listed")
	if updates > 0 {
		await(updated, "the updates")
		tell("updated")
	}
	if len(informer.GetStore().ListKeys()) != pods {
		fail("watchbench: not the pods that were asked for")
	}
	if requests.initialEvents.Load() == 0 || requests.lists.Load() != 0 {
		fail("watchbench: the list did not come as initial events of a watch")
	}
	fmt.Println("ok")
}

// requestCounter sees which kind of requests the informer sends.
type requestCounter struct {
	next                 http.RoundTripper
	initialEvents, lists atomic.Int32
}

func (c *requestCounter) wrap(next http.RoundTripper) http.RoundTripper {
	c.next = next
	return c
}

func (c *requestCounter) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if query.Get("sendInitialEvents") == "true" {
		c.initialEvents.Add(1)
	} else if query.Get("watch") != "true" {
		c.lists.Add(1)
	}
	return c.next.RoundTrip(request)
}

func await(done <-chan struct{}, what string) {
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		fail("watchbench: ", what, " did not come in time")
	}
}

func tell(what string) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	fmt.Printf("%s %f %d\n", what, cpu.Seconds(), peakBytes())
}

// peakBytes is the high-water mark of this program's own memory; rusage's would count what the parent had before exec.
func peakBytes() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kibibytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				fail(err)
			}
			return kibibytes << 10
		}
	}
	fail("watchbench: no VmHWM in /proc/self/status")
	return 0
}

func count(text string) int {
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		fail("watchbench: no count: ", text)
	}
	return number
}

func fail(why ...any) {
	fmt.Fprintln(os.Stderr, why...)
	os.Exit(1)
}
