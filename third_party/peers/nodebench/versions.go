package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// versions says what was measured, and on what.
func versions(o options) string {
	return fmt.Sprintf("| | |\n|---|---|\n| denselet | %s, commit %s |\n| kubelet | %s |\n| kernel | Linux %s |\n| CPU | %d x %s |\n| memory | %s |\n",
		versionOf(o.denselet), o.commit, versionOf(o.kubelet), firstLine(readText("/proc/sys/kernel/osrelease")), runtime.NumCPU(),
		valueIn(readText("/proc/cpuinfo"), "model name"), valueIn(readText("/proc/meminfo"), "MemTotal"))
}

func versionOf(program string) string {
	text, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "unknown"
	}
	return firstLine(string(text))
}

func readText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	return string(text)
}

func firstLine(text string) string { return strings.TrimSpace(strings.SplitN(text, "\n", 2)[0]) }

// valueIn is of the first line "key : value".
func valueIn(text, key string) string {
	for _, line := range strings.Split(text, "\n") {
		name, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(name) == key {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return "unknown"
}
