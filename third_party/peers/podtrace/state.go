package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// gone is the state of a name of which the API server has no pod any more.
var gone = []string{"gone"}

// words takes out of what people read that which no two runs have in common.
type words struct{ node, nodeIP string }

var variable = []struct {
	is   *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "<id>"},
	{regexp.MustCompile(`\([0-9a-f]{32}\)`), "(<uid>)"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "<time>"},
	{regexp.MustCompile(`\b198\.18\.\d+\.\d+\b`), "<pod ip>"},
	{regexp.MustCompile(`(\b127\.0\.0\.1|\[::1\]):\d+: connect`), "<loopback>: connect"},
	{regexp.MustCompile(`\bin [0-9.]+(m?s|m[0-9.]+s)\b`), "in <duration>"},
	{regexp.MustCompile(`\([0-9.]+(m?s|m[0-9.]+s) including waiting\)`), "(<duration> including waiting)"},
	{regexp.MustCompile(`\bpid \d+\b`), "pid <pid>"},
}

func (w words) plain(text string) string {
	for _, v := range variable {
		text = v.is.ReplaceAllString(text, v.word)
	}
	if w.nodeIP != "" {
		text = strings.ReplaceAll(text, w.nodeIP, "<node ip>")
	}
	return strings.ReplaceAll(text, w.node, "<node>")
}

// shows is the pod as a watcher sees it: all that tells of its life, but no times, ids and addresses themselves.
func (w words) shows(pod *corev1.Pod) []string {
	status := &pod.Status
	lines := []string{"phase " + string(status.Phase) + because(status.Reason, status.Message)}
	if pod.DeletionTimestamp != nil {
		lines = append(lines, "deleting")
	}
	conditions := slices.Clone(status.Conditions)
	slices.SortStableFunc(conditions, func(a, b corev1.PodCondition) int {
		return strings.Compare(string(a.Type), string(b.Type))
	})
	for _, c := range conditions {
		lines = append(lines, fmt.Sprintf("%s=%s%s", c.Type, c.Status, because(c.Reason, c.Message)))
	}
	lines = append(lines, containers("init", status.InitContainerStatuses)...)
	lines = append(lines, containers("container", status.ContainerStatuses)...)
	lines = append(lines, containers("ephemeral", status.EphemeralContainerStatuses)...)
	if status.HostIP != "" || len(status.HostIPs) > 0 {
		lines = append(lines, fmt.Sprintf("host addresses %d", len(status.HostIPs)))
	}
	if status.PodIP != "" || len(status.PodIPs) > 0 {
		lines = append(lines, fmt.Sprintf("addresses %d%s", len(status.PodIPs), flag(status.PodIP == status.HostIP, ", the host's")))
	}
	lines = append(lines, fmt.Sprintf("class %s%s%s", status.QOSClass, flag(status.StartTime != nil, ", started"),
		flag(status.ObservedGeneration == pod.Generation, ", up to date")))
	for i := range lines {
		lines[i] = w.plain(lines[i])
	}
	return lines
}

func containers(kind string, statuses []corev1.ContainerStatus) []string {
	var lines []string
	for _, s := range statuses {
		name := kind + " " + s.Name
		started := flag(s.Started == nil, ", started unknown") + flag(s.Started != nil && *s.Started, ", started")
		lines = append(lines, fmt.Sprintf("%s: %s%s%s, restarts %d%s%s", name, containerState(s.State), flag(s.Ready, ", ready"), started,
			s.RestartCount, flag(s.ContainerID != "", ", id"), flag(s.ImageID != "", ", image id")))
		if s.LastTerminationState != (corev1.ContainerState{}) {
			lines = append(lines, fmt.Sprintf("%s before: %s", name, containerState(s.LastTerminationState)))
		}
		lines = append(lines, name+" has "+others(s))
	}
	return lines
}

// others are the fields of a container's status that say what it was given.
func others(s corev1.ContainerStatus) string {
	text, err := json.Marshal(corev1.ContainerStatus{Image: s.Image, AllocatedResources: s.AllocatedResources, Resources: s.Resources,
		VolumeMounts: s.VolumeMounts, User: s.User, AllocatedResourcesStatus: s.AllocatedResourcesStatus, StopSignal: s.StopSignal})
	if err != nil {
		fail(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		fail(err)
	}
	for _, shownElsewhere := range []string{"name", "state", "lastState", "ready", "restartCount", "imageID"} {
		delete(fields, shownElsewhere)
	}
	text, err = json.Marshal(fields)
	if err != nil {
		fail(err)
	}
	return string(text)
}

func containerState(s corev1.ContainerState) string {
	switch {
	case s.Waiting != nil:
		return "waiting" + because(s.Waiting.Reason, s.Waiting.Message)
	case s.Running != nil:
		return "running" + flag(s.Running.StartedAt.IsZero(), " since never")
	case s.Terminated != nil:
		t := s.Terminated
		return fmt.Sprintf("terminated %d signal %d%s%s%s", t.ExitCode, t.Signal, because(t.Reason, t.Message),
			flag(t.ContainerID == "", ", no id"), flag(t.StartedAt.IsZero(), ", began never")+flag(t.FinishedAt.IsZero(), ", ended never"))
	}
	return "nothing"
}

func because(reason, message string) string {
	if reason != "" {
		reason = " " + reason
	}
	if message != "" {
		message = ": " + strings.ReplaceAll(message, "\n", "\\n")
	}
	return reason + message
}

func flag(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// told is an event as people read it; how often and when is left out.
func (w words) told(event *corev1.Event) string {
	from := event.Source.Component
	if event.ReportingController != from {
		from += "/" + event.ReportingController
	}
	field := event.InvolvedObject.FieldPath
	return w.plain(fmt.Sprintf("%s %s%s%s%s", event.Type, event.Reason, flag(field != "", " of "+field), flag(from != "kubelet/kubelet" &&
		from != "kubelet", " from "+from), because("", event.Message)))
}
