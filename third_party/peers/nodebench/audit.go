package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// audit reads what one node has asked the API server, from where it stopped the last time.
type audit struct {
	path, user string
	offset     int64
	watching   map[string]bool // by the id of the request
}

func newAudit(node string) *audit {
	path := filepath.Join(os.Getenv("DENSELET_CONTROL_PLANE"), "node-audit.jsonl")
	file, err := os.Stat(path)
	check(err)
	return &audit{path: path, user: "system:node:" + node, offset: file.Size(), watching: map[string]bool{}}
}

type auditEntry struct {
	AuditID   string
	Stage     string
	Verb      string
	User      struct{ Username string }
	ObjectRef struct{ Resource, Subresource string }
}

// A watch is told twice, when it begins and when it ends.
func (a *audit) noteWatch(entry *auditEntry) (begins bool) {
	if entry.Stage == "ResponseStarted" {
		a.watching[entry.AuditID] = true
		return true
	}
	known := a.watching[entry.AuditID]
	delete(a.watching, entry.AuditID)
	return !known // it was refused
}

// requests counts them by kind, as "patch pods/status"; one that goes on (a watch) when it begins.
func (a *audit) requests() map[string]int {
	kinds := map[string]int{}
	file, err := os.Open(a.path)
	check(err)
	defer file.Close()
	_, err = file.Seek(a.offset, io.SeekStart)
	check(err)
	reader := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return kinds // an unfinished line is read the next time
		}
		a.offset += int64(len(line))
		var entry auditEntry
		if json.Unmarshal(line, &entry) != nil || entry.User.Username != a.user {
			continue
		}
		if entry.Verb == "watch" && !a.noteWatch(&entry) {
			continue
		}
		kinds[strings.TrimSuffix(entry.Verb+" "+entry.ObjectRef.Resource+"/"+entry.ObjectRef.Subresource, "/")]++
	}
}

// watches are those that are open now, as far as was read.
func (a *audit) watches() int { return len(a.watching) }
