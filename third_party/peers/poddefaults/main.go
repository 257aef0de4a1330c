// Command poddefaults prints what the API server makes of pods before anyone else sees them: manifests are decoded with
// the scheme's defaults into its internal type and written again as v1. "poddefaults FILE..." prints a row for each YAML
// document: the file's name, the document's number from 0, and the JSON. tests/kube/api/defaults/golden is its output.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Printed by third_party/peers/poddefaults: file, number of the document, the pod with its defaults.")
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			fail(file, 0, err)
		}
		for i, document := range bytes.Split(text, []byte("\n---\n")) {
			pod, err := defaulted(document)
			if err != nil {
				fail(file, i, err)
			}
			fmt.Fprintf(out, "%s\t%d\t%s\n", filepath.Base(file), i, pod)
		}
	}
}

func defaulted(document []byte) ([]byte, error) {
	text, err := utilyaml.ToJSON(document)
	if err != nil {
		return nil, err
	}
	object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), text)
	if err != nil {
		return nil, err
	}
	internal, isPod := object.(*api.Pod)
	if !isPod {
		return nil, fmt.Errorf("a %T is no pod", object)
	}
	pod := &v1.Pod{}
	if err := corev1.Convert_core_Pod_To_v1_Pod(internal, pod, nil); err != nil {
		return nil, err
	}
	return json.Marshal(pod)
}

func fail(file string, document int, err error) {
	fmt.Fprintf(os.Stderr, "poddefaults: %s, document %d: %v\n", file, document, err)
	os.Exit(1)
}
