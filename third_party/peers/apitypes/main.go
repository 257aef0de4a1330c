// Command apitypes prints what the Go types of Kubernetes say and their .proto files do not: which fields are pointers,
// which are written when they are empty, which are inlined, and how a strategic merge patch treats them. The output is
// src/kube/api/codec/go_fields.txt; a test compares the two. With "config" it prints the .proto form of KubeletConfiguration,
// which has none upstream.
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "config" {
		printConfigProto()
		return
	}
	printFields()
}

func printFields() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		authenticationv1.AddToScheme, authorizationv1.AddToScheme, certificatesv1.AddToScheme,
		coordinationv1.AddToScheme, corev1.AddToScheme, eventsv1.AddToScheme, nodev1.AddToScheme,
		resourcev1.AddToScheme, storagev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	seen := map[reflect.Type]bool{}
	lines := []string{}
	for _, t := range scheme.AllKnownTypes() {
		collect(t, seen, &lines)
	}
	for _, root := range []any{metav1.Status{}, metav1.DeleteOptions{}, metav1.WatchEvent{}, kubeletv1beta1.KubeletConfiguration{}} {
		collect(reflect.TypeOf(root), seen, &lines)
	}
	sort.Strings(lines)
	fmt.Println("# Printed by third_party/peers/apitypes from the Go types of Kubernetes; see schema.cc for how it is read.")
	for _, line := range lines {
		fmt.Println(line)
	}
}

// The name of the message that stands for a Go type.
func messageName(t reflect.Type) string {
	if t.PkgPath() == "k8s.io/kubelet/config/v1beta1" || strings.HasPrefix(t.PkgPath(), "k8s.io/component-base/") {
		return "denselet.kubelet.config.v1beta1." + t.Name()
	}
	return strings.ReplaceAll(t.PkgPath(), "/", ".") + "." + t.Name()
}

var custom = map[string]bool{
	"Time": true, "MicroTime": true, "Quantity": true, "IntOrString": true, "FieldsV1": true, "RawExtension": true,
	"Duration": true, "TimeOrMetaDuration": true, "QuantityValue": true,
}

func isStruct(t reflect.Type) bool { return t.Kind() == reflect.Struct && !custom[t.Name()] }

func collect(t reflect.Type, seen map[reflect.Type]bool, lines *[]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if !isStruct(t) || seen[t] {
		return
	}
	seen[t] = true
	line := messageName(t)
	typed := false
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Type == reflect.TypeOf(metav1.TypeMeta{}) {
			typed = true
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if words := fieldWords(field, name, options); words != "" {
			line += " " + protoFieldName(field, name) + words
		}
		collect(field.Type, seen, lines)
	}
	if typed {
		line += " +TypeMeta"
	}
	if line != messageName(t) {
		*lines = append(*lines, line)
	}
}

func protoFieldName(field reflect.StructField, jsonName string) string {
	for _, part := range strings.Split(field.Tag.Get("protobuf"), ",") {
		if name, found := strings.CutPrefix(part, "name="); found {
			return name
		}
	}
	if jsonName == "" {
		return strings.ToLower(field.Name[:1]) + field.Name[1:]
	}
	return jsonName
}

// Nothing for the usual case: written unless it is empty.
func fieldWords(field reflect.StructField, name, options string) string {
	words := ""
	has := func(option string) bool {
		for _, o := range strings.Split(options, ",") {
			if o == option {
				return true
			}
		}
		return false
	}
	t := field.Type
	scalarPointer := t.Kind() == reflect.Pointer && !isStruct(t.Elem()) && t.Elem().Kind() != reflect.Struct
	inline := name == "" && (has("inline") || field.Anonymous)
	switch {
	case inline:
		words += ":inline"
	case has("omitzero"):
		// As if it were a pointer: a message that says nothing is left out.
		words += ":omitzero"
	case !has("omitempty"):
		words += ":always"
		if t.Kind() == reflect.Pointer {
			words += ":pointer"
		}
	case scalarPointer:
		words += ":pointer"
	case t.Kind() == reflect.Struct:
		// omitempty says nothing about a struct: it is always written.
		words += ":always"
	}
	if strategy := field.Tag.Get("patchStrategy"); strategy != "" {
		for _, word := range strings.Split(strategy, ",") {
			words += ":" + word
		}
	}
	if key := field.Tag.Get("patchMergeKey"); key != "" {
		words += ":key=" + key
	}
	return words
}

func printConfigProto() {
	fmt.Println(`// KubeletConfiguration of kubelet.config.k8s.io/v1beta1, which has no .proto form upstream: printed by
// third_party/peers/apitypes from its Go types. The numbers mean nothing outside this program.
syntax = "proto2";

package denselet.kubelet.config.v1beta1;

import "k8s.io/api/core/v1/generated.proto";
import "k8s.io/apimachinery/pkg/api/resource/generated.proto";
import "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";

// The value of a map whose values are lists.
message StringList {
  repeated string items = 1;
}

// Nanoseconds, and whether they are written as text ("5s") or as a number: as they came.
message TimeOrMetaDuration {
  optional int64 duration = 1;
  optional bool isNumber = 2;
}`)
	done := map[reflect.Type]bool{}
	queue := []reflect.Type{reflect.TypeOf(kubeletv1beta1.KubeletConfiguration{})}
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		if done[t] {
			continue
		}
		done[t] = true
		fmt.Printf("\nmessage %s {\n", t.Name())
		number := 0
		for i := range t.NumField() {
			field := t.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || field.Type == reflect.TypeOf(metav1.TypeMeta{}) {
				continue
			}
			number++
			fmt.Printf("  %s %s = %d;\n", protoType(field.Type, &queue), protoFieldName(field, name), number)
		}
		fmt.Println("}")
	}
}

func protoType(t reflect.Type, queue *[]reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		t = t.Elem()
	case reflect.Slice:
		return "repeated " + element(t.Elem(), queue)
	case reflect.Map:
		if t.Elem().Kind() == reflect.Slice {
			return fmt.Sprintf("map<%s, StringList>", element(t.Key(), queue))
		}
		return fmt.Sprintf("map<%s, %s>", element(t.Key(), queue), element(t.Elem(), queue))
	}
	return "optional " + element(t, queue)
}

func element(t reflect.Type, queue *[]reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.String:
		return t.Kind().String()
	case reflect.Float64:
		return "double"
	case reflect.Struct:
		if t.Name() == "TimeOrMetaDuration" {
			return "TimeOrMetaDuration"
		}
		if t.Name() == "QuantityValue" {
			return ".k8s.io.apimachinery.pkg.api.resource.Quantity"
		}
		if strings.HasPrefix(messageName(t), "k8s.io.api") {
			return "." + messageName(t)
		}
		*queue = append(*queue, t)
		return t.Name()
	}
	panic(t.String())
}
