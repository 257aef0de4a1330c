// Command internaltypes prints the tree of Go structs that Kubernetes' internal Pod consists of: the fields of each in
// their order, with their types as Go prints them, and the number that the field of the same name has in the v1 message
// ("-": there is none). The output is src/kube/api/hash/internal_types.txt. The kubelet hashes the text of that tree to
// get the UID of a static pod.
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core"
)

// What is written by rules of its own.
var leaves = map[string]bool{
	"resource.Quantity": true, "intstr.IntOrString": true, "v1.Time": true, "v1.TypeMeta": true, "v1.FieldsV1": true,
}

type tree struct {
	lines map[string]string
	types map[string]reflect.Type
}

func main() {
	t := tree{lines: map[string]string{}, types: map[string]reflect.Type{}}
	t.add(reflect.TypeOf(core.Pod{}), reflect.TypeOf(v1.Pod{}))
	names := []string{}
	for name := range t.lines {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println("# Printed by third_party/peers/internaltypes from the Go types of Kubernetes; see internal_types.h for how it is read.")
	for _, name := range names {
		fmt.Println(t.lines[name])
	}
}

func (t *tree) add(internal, external reflect.Type) {
	// A pointer in v1 alone: absent is zero.
	if external.Kind() == reflect.Pointer && internal.Kind() != reflect.Pointer {
		external = external.Elem()
	}
	for internal.Kind() == reflect.Pointer || internal.Kind() == reflect.Slice || internal.Kind() == reflect.Map {
		if external.Kind() != internal.Kind() {
			panic(fmt.Sprintf("%v is not like %v", internal, external))
		}
		internal, external = internal.Elem(), external.Elem()
	}
	if internal.Kind() != external.Kind() {
		panic(fmt.Sprintf("%v is not like %v", internal, external))
	}
	name := internal.String()
	if internal.Kind() != reflect.Struct || leaves[name] {
		return
	}
	if known, found := t.types[name]; found {
		if known != internal {
			panic("two types are called " + name)
		}
		return
	}
	t.types[name] = internal
	line := []string{name, strings.ReplaceAll(external.PkgPath(), "/", ".") + "." + external.Name()}
	for i := range internal.NumField() {
		field := internal.Field(i)
		number := "-"
		if same, found := external.FieldByName(field.Name); found && len(same.Index) == 1 {
			if parts := strings.Split(same.Tag.Get("protobuf"), ","); len(parts) > 1 {
				number = parts[1]
			}
			t.add(field.Type, same.Type)
		}
		line = append(line, fmt.Sprintf("%s:%s=%s", field.Name, field.Type, number))
	}
	t.lines[name] = strings.Join(line, " ")
}
