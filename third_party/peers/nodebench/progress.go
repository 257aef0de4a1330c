package main

import (
	"fmt"
	"time"
)

// progress tells of what takes long, every fifteen seconds.
type progress struct {
	what        string
	began, told time.Time
}

func newProgress(what string) *progress {
	now := time.Now()
	return &progress{what, now, now}
}

func (p *progress) note(done, of int) {
	if time.Since(p.told) < 15*time.Second {
		return
	}
	p.told = time.Now()
	fmt.Printf("  %s %s: %d of %d, after %.0f s\n", p.told.Format("15:04:05"), p.what, done, of, p.told.Sub(p.began).Seconds())
}

// stage says what is measured now.
func stage(name string) { fmt.Printf("  %s %s\n", time.Now().Format("15:04:05"), name) }
