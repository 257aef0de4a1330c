//go:build tools

// Package protos pins the modules whose .proto files denselet's Kubernetes types are generated from.
package protos

import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/cri-api/pkg/apis/runtime/v1"
	_ "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)
