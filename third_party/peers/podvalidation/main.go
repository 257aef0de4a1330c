// Command podvalidation prints what the kubelet finds wrong with static pods, with the functions that it calls itself.
// "podvalidation FILE..." prints rows for each YAML document: the file's name, the document's number from 0, and one fault
// each, quoted; a pod without a fault has a row with an empty text. tests/kube/api/validation/golden is its output:
// faults.txt as it is, defaults.txt sorted, because upstream walks maps in no order.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	api "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"
)

func main() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true}) // as the kubelet does
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Printed by third_party/peers/podvalidation: file, number of the document, one of its faults.")
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			fail(file, 0, err)
		}
		for i, document := range bytes.Split(text, []byte("\n---\n")) {
			faults, err := faults(document)
			if err != nil {
				fail(file, i, err)
			}
			for _, fault := range faults {
				fmt.Fprintf(out, "%s\t%d\t%s\n", filepath.Base(file), i, strconv.QuoteToASCII(fault))
			}
		}
	}
}

func faults(document []byte) ([]string, error) {
	text, err := utilyaml.ToJSON(document)
	if err != nil {
		return nil, err
	}
	object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), text)
	if err != nil {
		return nil, err
	}
	pod, isPod := object.(*api.Pod)
	if !isPod {
		return nil, fmt.Errorf("a %T is no pod", object)
	}
	if pod.Namespace == "" {
		pod.Namespace = "default"
	}
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&pod.Spec, nil, &pod.ObjectMeta, nil)
	var faults []string
	for _, fault := range validation.ValidatePodCreate(pod, opts) {
		faults = append(faults, fault.Error())
	}
	if len(faults) == 0 {
		_, resource, err := podutil.HasAPIObjectReference(pod)
		if err != nil {
			faults = append(faults, err.Error())
		} else if resource != "" {
			faults = append(faults, "static pods may not reference "+resource)
		} else {
			faults = append(faults, "")
		}
	}
	return faults, nil
}

func fail(file string, document int, err error) {
	fmt.Fprintf(os.Stderr, "podvalidation: %s, document %d: %v\n", file, document, err)
	os.Exit(1)
}
