// Command cribench lists the sandboxes and containers of a container runtime with Go's gRPC, as the kubelet's client is set
// up, but for the size of messages. `./dev bench cri` runs it beside denselet's own client:
//
//	cribench SOCKET plain|stream COUNT PODS
//
// It lists a few times to warm up and then COUNT times, and prints "took", the CPU time of one list and its duration, both in
// milliseconds, and the peak memory of the process in bytes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	warmUp          = 3
	messageBytesMax = 64 << 20
)

func main() {
	if len(os.Args) != 5 {
		fail("usage: cribench SOCKET plain|stream COUNT PODS")
	}
	socket, form := os.Args[1], os.Args[2]
	rounds, pods := count(os.Args[3]), count(os.Args[4])
	connection, err := grpc.NewClient("passthrough:///"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithAuthority("localhost"),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", address)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)))
	if err != nil {
		fail(err)
	}
	client := runtimeapi.NewRuntimeServiceClient(connection)
	list := listPlain
	if form == "stream" {
		list = listStream
	}
	var cpu time.Duration
	var begun time.Time
	for round := range warmUp + rounds {
		if round == warmUp {
			cpu, begun = cpuTime(), time.Now()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		sandboxes, containers, err := list(ctx, client)
		cancel()
		if err != nil {
			fail(err)
		}
		if len(sandboxes) != pods || len(containers) != 2*pods {
			fail("cribench: not what was asked for: ", len(sandboxes), " sandboxes, ", len(containers), " containers")
		}
	}
	each := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(rounds) }
	fmt.Printf("took %f %f %d\n", each(cpuTime()-cpu), each(time.Since(begun)), peakBytes())
}

func listPlain(ctx context.Context, client runtimeapi.RuntimeServiceClient) ([]*runtimeapi.PodSandbox, []*runtimeapi.Container, error) {
	sandboxes, err := client.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		return nil, nil, err
	}
	containers, err := client.ListContainers(ctx, &runtimeapi.ListContainersRequest{})
	if err != nil {
		return nil, nil, err
	}
	return sandboxes.Items, containers.Containers, nil
}

func listStream(ctx context.Context, client runtimeapi.RuntimeServiceClient) ([]*runtimeapi.PodSandbox, []*runtimeapi.Container, error) {
	var sandboxes []*runtimeapi.PodSandbox
	var containers []*runtimeapi.Container
	sandboxStream, err := client.StreamPodSandboxes(ctx, &runtimeapi.StreamPodSandboxesRequest{})
	if err != nil {
		return nil, nil, err
	}
	for {
		part, err := sandboxStream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		sandboxes = append(sandboxes, part.PodSandboxes...)
	}
	containerStream, err := client.StreamContainers(ctx, &runtimeapi.StreamContainersRequest{})
	if err != nil {
		return nil, nil, err
	}
	for {
		part, err := containerStream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		containers = append(containers, part.Containers...)
	}
	return sandboxes, containers, nil
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
	fail("cribench: no VmHWM in /proc/self/status")
	return 0
}

func count(text string) int {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		fail("cribench: no count: ", text)
	}
	return number
}

func fail(why ...any) {
	fmt.Fprintln(os.Stderr, why...)
	os.Exit(1)
}
