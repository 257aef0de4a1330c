// Command podhashes prints what the kubelet makes of static pods: "podhashes NODE SOURCE MANIFEST..." a row for each
// manifest (tests/kube/api/hash/golden/static_pods.txt is its output), "podhashes dump MANIFEST" the text that is hashed,
// "podhashes quantities SEED ROWS" how a Quantity is held, "podhashes containers" hashes of containers. "podhashes random
// SEED COUNT DIR" writes random manifests.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ktypes "k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/helper"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/util/hash"
	"k8s.io/utils/dump"
)

func main() {
	// The kubelet has logged a line by then, which reads the time zone.
	_ = time.Now().Local().String()
	switch {
	case len(os.Args) == 3 && os.Args[1] == "dump":
		fmt.Println(dump.ForHash(decode(os.Args[2])))
	case len(os.Args) == 4 && os.Args[1] == "quantities":
		printQuantities(number(os.Args[2]), number(os.Args[3]))
	case len(os.Args) == 5 && os.Args[1] == "random":
		writeRandomPods(number(os.Args[2]), number(os.Args[3]), os.Args[4])
	case len(os.Args) == 2 && os.Args[1] == "containers":
		printContainers()
	case len(os.Args) > 3:
		printPods(os.Args[1], os.Args[2], os.Args[3:])
	default:
		fmt.Fprintln(os.Stderr, "usage: podhashes NODE SOURCE MANIFEST... | dump MANIFEST | quantities SEED ROWS | containers | random SEED COUNT DIR")
		os.Exit(2)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "podhashes:", err)
		os.Exit(1)
	}
	return value
}

func number(text string) int64 { return must(strconv.ParseInt(text, 10, 64)) }

func decode(path string) *api.Pod {
	text := must(utilyaml.ToJSON(must(os.ReadFile(path))))
	return must(runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), text)).(*api.Pod)
}

// The v1 pod between defaulting and conversion, as JSON.
func defaulted(path string) string {
	text := must(utilyaml.ToJSON(must(os.ReadFile(path))))
	pod := must(runtime.Decode(legacyscheme.Codecs.UniversalDeserializer(), text)).(*v1.Pod)
	legacyscheme.Scheme.Default(pod)
	return string(must(json.Marshal(pod)))
}

// What the kubelet does to a pod that it has read, but for the annotations that name the time and the kind of source.
func applyIdentity(pod *api.Pod, node, source string, isFile bool) {
	if len(pod.UID) == 0 {
		pod.UID = ktypes.UID(uid(pod, node, source, isFile))
	}
	pod.Name = pod.Name + "-" + strings.ToLower(node)
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	pod.Spec.NodeName = node
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations["kubernetes.io/config.hash"] = string(pod.UID)
	if isFile {
		helper.AddOrUpdateTolerationInPod(pod, &api.Toleration{Operator: "Exists", Effect: api.TaintEffectNoExecute})
	}
	pod.Status.Phase = api.PodPending
}

func uid(pod *api.Pod, node, source string, isFile bool) string {
	hasher := fnv.New128a()
	hash.DeepHashObject(hasher, pod)
	if isFile {
		fmt.Fprintf(hasher, "host:%s", node)
		fmt.Fprintf(hasher, "file:%s", source)
	} else {
		fmt.Fprintf(hasher, "url:%s", source)
	}
	return hex.EncodeToString(hasher.Sum(nil))
}

func identity(path, node, source string, isFile bool) string {
	pod := decode(path)
	applyIdentity(pod, node, source, isFile)
	out := &v1.Pod{}
	if err := corev1.Convert_core_Pod_To_v1_Pod(pod, out, nil); err != nil {
		panic(err)
	}
	tolerations := "null"
	if len(out.Spec.Tolerations) > 0 {
		tolerations = string(must(json.Marshal(out.Spec.Tolerations)))
	}
	columns := []string{string(out.UID), out.Name, out.Namespace, out.Spec.NodeName,
		out.Annotations["kubernetes.io/config.hash"], string(out.Status.Phase), tolerations}
	for i, column := range columns {
		columns[i] = strconv.QuoteToASCII(column)
	}
	return strings.Join(columns, "\t")
}

func printPods(node, source string, manifests []string) {
	fmt.Println("# Printed by third_party/peers/podhashes: a manifest; uid, name, namespace, node, annotation, phase and")
	fmt.Println("# tolerations of its pod from a file, the same from a URL, the defaulted v1 pod; its source:")
	fmt.Printf("!\t%s\t%s\n", strconv.QuoteToASCII(node), strconv.QuoteToASCII(source))
	for _, path := range manifests {
		fmt.Printf("%s\t%s\t%s\t%s\n", filepath.Base(path), identity(path, node, source, true),
			identity(path, node, source, false), strconv.QuoteToASCII(defaulted(path)))
	}
}

func printContainers() {
	fmt.Println("# Printed by third_party/peers/podhashes: name and image of a container, and its hash as the annotation has it.")
	for _, c := range []v1.Container{
		{}, {Name: "test_container", Image: "foo/image:v1"}, {Name: "c1", Image: "localhost/busybox:1"},
		{Name: "a<b>&c", Image: "\"quoted\"\\path/"}, {Name: "käse", Image: "世界:🎉"}, {Name: "sep", Image: "\u2028 \u2029"},
		{Name: "control", Image: "\x00\x01\b\f\n\r\t\x1f\x7f"}, {Name: "broken", Image: "a\xffb\xc3"},
		{Name: "digest", Image: "img@sha256:6c62272e07bb014262b821756295c58d"}, {Name: "only"}, {Image: "only:1"},
		{Name: "pod-7", Image: strings.Repeat("x/", 200)},
		{Name: "rest", Image: "foo:1", Command: []string{"sh"}, Env: []v1.EnvVar{{Name: "A", Value: "b"}}},
	} {
		fmt.Printf("%s\t%s\t%s\n", strconv.QuoteToASCII(c.Name), strconv.QuoteToASCII(c.Image),
			strconv.FormatUint(container.HashContainer(&c), 16))
	}
}
