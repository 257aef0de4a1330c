package main

import "testing"

// A mirror pod is back before anybody can look: its end was seen nevertheless, but an end of before is another one's.
func TestWhoIsGoneMayBeBack(t *testing.T) {
	trace := &PodTrace{States: []State{running, {Shows: gone}, created}}
	step, err := parseStep("gone static")
	if err != nil {
		t.Fatal(err)
	}
	if !step.isSeen(trace, 1) {
		t.Error("an end since the act is not seen, for the pod is back")
	}
	if step.isSeen(trace, 2) {
		t.Error("an end of before the act is taken for its own")
	}
}
