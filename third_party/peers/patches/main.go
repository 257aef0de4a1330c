// Command patches prints what upstream makes of pairs of objects and of patches, as tables for tests/kube/api/patch/golden:
//
//	patches pairs SEED ROWS   type, old object, new object, the patch between them, what the patch makes of the old one
//	patches apply SEED ROWS   type, object, patch, and "ok" and the result or "error"; random ones were made for another object
//	patches status SEED ROWS  Pod or Node, old object, new object, the patch that a kubelet sends, or "none"
//
// The chosen pairs come first, then as many random ones.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	nodeutil "k8s.io/component-helpers/node/util"
	podutil "k8s.io/kubernetes/pkg/util/pod"
)

var kinds = map[string]any{
	"Pod": corev1.Pod{}, "Node": corev1.Node{}, "ServiceAccount": corev1.ServiceAccount{}, "Service": corev1.Service{},
	"PersistentVolumeClaim": corev1.PersistentVolumeClaim{}, "Event": corev1.Event{}, "ConfigMap": corev1.ConfigMap{},
	"ResourceClaim": resourcev1.ResourceClaim{}, "CSINode": storagev1.CSINode{},
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	seed, rows := int64(0), 0
	if len(os.Args) == 4 {
		seed, _ = strconv.ParseInt(os.Args[2], 10, 64)
		rows, _ = strconv.Atoi(os.Args[3])
	}
	random := rand.New(rand.NewSource(seed))
	switch {
	case len(os.Args) == 4 && os.Args[1] == "pairs":
		fmt.Fprintln(out, "# Printed by third_party/peers/patches: type, old object, new object, patch, patched object.")
		for _, p := range pairs {
			fmt.Fprintln(out, pairRow(p.kind, typed(p.kind, p.before), typed(p.kind, p.after)))
			fmt.Fprintln(out, pairRow(p.kind, typed(p.kind, p.after), typed(p.kind, p.before)))
		}
		for range rows {
			pod, node := randomPod(random), randomNode(random)
			fmt.Fprintln(out, pairRow("Pod", marshal(pod), marshal(changedPod(random, pod))))
			fmt.Fprintln(out, pairRow("Node", marshal(node), marshal(changedNode(random, node))))
		}
	case len(os.Args) == 4 && os.Args[1] == "apply":
		fmt.Fprintln(out, "# Printed by third_party/peers/patches: type, object, patch, what comes of it.")
		for _, a := range applies {
			fmt.Fprintln(out, applyRow(a.kind, a.before, a.after))
		}
		for range rows {
			pod, node := randomPod(random), randomNode(random)
			fmt.Fprintln(out, meanwhileRow("Pod", marshal(pod), marshal(changedPod(random, pod)), marshal(changedPod(random, pod))))
			fmt.Fprintln(out, meanwhileRow("Node", marshal(node), marshal(changedNode(random, node)), marshal(changedNode(random, node))))
		}
	case len(os.Args) == 4 && os.Args[1] == "status":
		fmt.Fprintln(out, "# Printed by third_party/peers/patches: Pod or Node, old object, new object, the patch of its status.")
		for _, p := range statusPairs {
			fmt.Fprintln(out, statusRow(p.kind, p.before, p.after))
			fmt.Fprintln(out, statusRow(p.kind, p.after, p.before))
		}
		for range rows {
			pod, node := randomPod(random), randomNode(random)
			fmt.Fprintln(out, statusRow("Pod", string(marshal(pod)), string(marshal(changedPod(random, pod)))))
			fmt.Fprintln(out, statusRow("Node", string(marshal(node)), string(marshal(changedNode(random, node)))))
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: patches pairs|apply|status SEED ROWS")
		os.Exit(2)
	}
}

func marshal(object any) []byte {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return text
}

// The text as the type writes it.
func typed(kind, text string) []byte {
	object := reflect.New(reflect.TypeOf(kinds[kind])).Interface()
	if err := json.Unmarshal([]byte(text), object); err != nil {
		panic(text + ": " + err.Error())
	}
	return marshal(object)
}

func quote(text []byte) string { return strconv.QuoteToASCII(string(text)) }

func pairRow(kind string, before, after []byte) string {
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, kinds[kind])
	if err != nil {
		return kind + "\t" + quote(before) + "\t" + quote(after) + "\terror"
	}
	patched, err := strategicpatch.StrategicMergePatch(before, patch, kinds[kind])
	if err != nil {
		panic(string(patch) + ": " + err.Error())
	}
	return kind + "\t" + quote(before) + "\t" + quote(after) + "\t" + quote(patch) + "\t" + quote(patched)
}

func applyRow(kind, object, patch string) string {
	row := kind + "\t" + strconv.QuoteToASCII(object) + "\t" + strconv.QuoteToASCII(patch) + "\t"
	patched, err := strategicpatch.StrategicMergePatch([]byte(object), []byte(patch), kinds[kind])
	if err != nil {
		return row + "error"
	}
	return row + "ok\t" + quote(patched)
}

// The patch meets an object that others changed meanwhile.
func meanwhileRow(kind string, before, after, meanwhile []byte) string {
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, kinds[kind])
	if err != nil {
		panic(err)
	}
	return applyRow(kind, string(meanwhile), string(patch))
}

func statusRow(kind, before, after string) string {
	row := kind + "\t" + strconv.QuoteToASCII(before) + "\t" + strconv.QuoteToASCII(after) + "\t"
	patch := []byte("{}")
	if kind == "Pod" {
		var from, to corev1.Pod
		unmarshal(before, &from)
		unmarshal(after, &to)
		client := fake.NewClientset(&from)
		_, sent, unchanged, err := podutil.PatchPodStatus(context.Background(), client, from.Namespace, from.Name, types.UID("uid-of-the-pod"), from.Status, to.Status)
		if err != nil {
			panic(err)
		}
		if !unchanged {
			patch = sent
		}
	} else {
		var from, to corev1.Node
		unmarshal(before, &from)
		unmarshal(after, &to)
		client := fake.NewClientset(&from)
		_, sent, err := nodeutil.PatchNodeStatus(client.CoreV1(), types.NodeName(from.Name), &from, &to)
		if err != nil {
			panic(err)
		}
		patch = sent
	}
	if string(patch) == "{}" {
		return row + "none"
	}
	return row + quote(patch)
}

func unmarshal(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(text + ": " + err.Error())
	}
}
