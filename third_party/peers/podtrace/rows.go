package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const (
	namespacePrefix = "row-"
	image           = "localhost/busybox:1"
)

// Row is one scenario. Its pods are made when a step says so; each step waits until it is done.
type Row struct {
	Name  string                    `json:"name"`
	About string                    `json:"about"`
	Pods  map[string]corev1.PodSpec `json:"pods"`
	Steps []string                  `json:"steps"`
}

func (r Row) namespace() string { return namespacePrefix + r.Name }

func readRows(file string, wanted []string) ([]Row, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var table struct {
		Rows []Row `json:"rows"`
		// Notes are anchors that rows refer to.
		Notes map[string]any `json:"notes,omitempty"`
	}
	if err := yaml.UnmarshalStrict(text, &table); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var rows []Row
	for _, row := range table.Rows {
		if len(wanted) == 0 || slices.Contains(wanted, row.Name) {
			rows = append(rows, row)
		}
		for _, text := range row.Steps {
			if _, err := parseStep(text); err != nil {
				return nil, fmt.Errorf("%s: row %s: %w", file, row.Name, err)
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no such rows", file)
	}
	return rows, nil
}

// step is VERB POD and what the verb needs.
type step struct {
	text, verb, pod, rest string
	pattern               *regexp.Regexp
}

// verbs, and what follows the pod.
var verbs = map[string]string{
	"create": "", "write": "", "rewrite": "POD", "unlink": "", "delete": "GRACE", "force": "", "condition": "TYPE=STATUS",
	"until": "PATTERN", "told": "PATTERN", "gone": "", "hold": "",
}

func parseStep(text string) (step, error) {
	verb, rest, _ := strings.Cut(text, " ")
	pod, rest, _ := strings.Cut(rest, " ")
	parsed := step{text: text, verb: verb, pod: pod, rest: rest}
	needs, known := verbs[verb]
	if !known || pod == "" || (rest == "") != (needs == "") {
		return parsed, fmt.Errorf("step %q is not one of: VERB POD %v", text, verbs)
	}
	var err error
	if needs == "PATTERN" {
		parsed.pattern, err = regexp.Compile(rest)
	}
	return parsed, err
}

// completed is the pod of a row with what all have in common, unless the table says otherwise.
func completed(spec corev1.PodSpec, node string) corev1.PodSpec {
	spec = *spec.DeepCopy()
	no, grace := false, int64(2)
	if spec.AutomountServiceAccountToken == nil {
		spec.AutomountServiceAccountToken = &no
	}
	if spec.TerminationGracePeriodSeconds == nil {
		spec.TerminationGracePeriodSeconds = &grace
	}
	if spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSDefault
	}
	spec.NodeName = node
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if list[i].Image == "" {
				list[i].Image = image
			}
		}
	}
	return spec
}
