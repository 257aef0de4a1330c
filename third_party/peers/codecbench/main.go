// Command codecbench decodes a pod from JSON as client-go does, and prints how many nanoseconds one decoding took:
// "codecbench FILE COUNT". `./dev bench codec` runs it beside denselet's own decoder.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	if len(os.Args) != 3 {
		fail("usage: codecbench FILE COUNT")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil || count < 1 {
		fail("codecbench: no count")
	}
	codecs := scheme.Codecs.WithoutConversion()
	info, found := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !found {
		fail("codecbench: no decoder for JSON")
	}
	decoder := codecs.DecoderToVersion(info.Serializer, corev1.SchemeGroupVersion)
	decode := func(times int) {
		for range times {
			pod := &corev1.Pod{}
			if _, _, err := decoder.Decode(text, nil, pod); err != nil || len(pod.Spec.Containers) == 0 {
				fail("codecbench: not decoded: ", err)
			}
		}
	}
	decode(count/10 + 1)
	begun := time.Now()
	decode(count)
	fmt.Println(time.Since(begun).Nanoseconds() / int64(count))
}

func fail(why ...any) {
	fmt.Fprintln(os.Stderr, why...)
	os.Exit(1)
}
