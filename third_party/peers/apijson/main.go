// Command apijson prints what the API server's JSON serializer makes of objects: whether it reads them, what it writes
// of what it read, and what it complains about when it is strict. The table tests/kube/api/codec/golden/objects.txt is
// its output.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

var kinds = map[string]schema.GroupVersionKind{
	"Pod":       corev1.SchemeGroupVersion.WithKind("Pod"),
	"Node":      corev1.SchemeGroupVersion.WithKind("Node"),
	"Secret":    corev1.SchemeGroupVersion.WithKind("Secret"),
	"ConfigMap": corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	"Event":     corev1.SchemeGroupVersion.WithKind("Event"),
	"Lease":     coordinationv1.SchemeGroupVersion.WithKind("Lease"),
}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, coordinationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	lenient := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{})
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Strict: true})
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Printed by third_party/peers/apijson: a kind, JSON, what the API server's serializer makes of it, strict faults.")
	for _, o := range objects() {
		kind := kinds[o.kind]
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", o.kind, strconv.QuoteToASCII(o.json), answer(lenient, kind, o.json), faults(strict, kind, o.json))
	}
}

func answer(s runtime.Serializer, kind schema.GroupVersionKind, text string) string {
	object, _, err := s.Decode([]byte(text), &kind, nil)
	if err != nil {
		return "error\t" + strconv.QuoteToASCII(err.Error())
	}
	var written bytes.Buffer
	if err := s.Encode(object, &written); err != nil {
		panic(err)
	}
	return "ok\t" + strconv.QuoteToASCII(strings.TrimSpace(written.String()))
}

// Sorted, between semicolons.
func faults(s runtime.Serializer, kind schema.GroupVersionKind, text string) string {
	_, _, err := s.Decode([]byte(text), &kind, nil)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if !isStrict {
		return `""`
	}
	var lines []string
	for _, e := range strict.Errors() {
		lines = append(lines, e.Error())
	}
	sort.Strings(lines)
	return strconv.QuoteToASCII(strings.Join(lines, ";"))
}
