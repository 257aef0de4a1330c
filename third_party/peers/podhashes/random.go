package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// A manifest that uses any field of a pod, in all the ways a field can be written: not at all, null, empty, with a value.
type randomPod struct {
	r *rand.Rand
	// Of a hundred fields so many are there.
	density int
}

func writeRandomPods(seed, count int64, dir string) {
	r := rand.New(rand.NewSource(seed))
	for i := range count {
		p := randomPod{r: r, density: 5 + r.Intn(40)}
		pod := p.object(reflect.TypeOf(v1.Pod{}), 0)
		pod["apiVersion"], pod["kind"] = "v1", "Pod"
		metadata, _ := pod["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata["name"] = fmt.Sprintf("random-%d", i)
		delete(metadata, "uid")
		pod["metadata"] = metadata
		path := filepath.Join(dir, fmt.Sprintf("random-%04d.json", i))
		if err := os.WriteFile(path, must(json.Marshal(pod)), 0o644); err != nil {
			panic(err)
		}
	}
}

func (p *randomPod) object(t reflect.Type, depth int) map[string]any {
	out := map[string]any{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			for key, value := range p.object(field.Type, depth) {
				out[key] = value
			}
			continue
		}
		// What is on the way to all the rest is there more often.
		likely := name == "spec" || name == "status" || name == "containers" || name == "volumes" || name == "resources"
		if p.r.Intn(100) < p.density || likely && p.r.Intn(4) > 0 {
			out[name] = p.value(field.Type, depth+1)
		}
	}
	return out
}

func (p *randomPod) value(t reflect.Type, depth int) any {
	if p.r.Intn(12) == 0 {
		return nil
	}
	switch t.String() {
	case "*v1.Time", "v1.Time":
		return p.pick("2024-01-02T03:04:05Z", "1999-12-31T23:59:59.123456789+05:30", "0001-01-01T00:00:00Z", "2400-02-29T00:00:00-11:00")
	case "*resource.Quantity", "resource.Quantity":
		return randomText(p.r)
	case "*intstr.IntOrString", "intstr.IntOrString":
		if p.r.Intn(2) == 0 {
			return p.r.Intn(65536)
		}
		return p.text()
	case "*v1.FieldsV1":
		return map[string]any{"f:" + p.text(): map[string]any{}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.value(t.Elem(), depth)
	case reflect.Struct:
		return p.object(t, depth)
	case reflect.Slice:
		list := []any{}
		for range p.r.Intn(4) {
			list = append(list, p.value(t.Elem(), depth))
		}
		return list
	case reflect.Map:
		entries := map[string]any{}
		for range p.r.Intn(4) {
			entries[p.key(t)] = p.value(t.Elem(), depth)
		}
		return entries
	case reflect.String:
		return p.text()
	case reflect.Bool:
		return p.r.Intn(2) == 0
	case reflect.Int32, reflect.Int64:
		return p.r.Intn(2000) - 500
	}
	panic(t.String())
}

func (p *randomPod) key(t reflect.Type) string {
	if t.Elem().String() == "resource.Quantity" {
		return p.pick("cpu", "memory", "hugepages-2Mi", "hugepages-1Gi", "ephemeral-storage", "example.com/gpu")
	}
	return p.text()
}

func (p *randomPod) pick(texts ...string) string { return texts[p.r.Intn(len(texts))] }

func (p *randomPod) text() string {
	return p.pick("", "a", "b", "Always", "x/y", "käse", "<nil>", "{c}", "a b", "\"", "\n")
}
