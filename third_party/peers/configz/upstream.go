package main

import (
	"context"
	_ "unsafe"

	v1 "k8s.io/api/core/v1"
	_ "k8s.io/kubernetes/cmd/kubelet/app"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	_ "k8s.io/kubernetes/pkg/kubelet/logs"
)

// What the kubelet itself runs at start, by name: not exported, and not to be imitated.

//go:linkname loadConfigFile k8s.io/kubernetes/cmd/kubelet/app.loadConfigFile
func loadConfigFile(ctx context.Context, name string) (*kubeletconfig.KubeletConfiguration, error)

//go:linkname mergeKubeletConfigurations k8s.io/kubernetes/cmd/kubelet/app.mergeKubeletConfigurations
func mergeKubeletConfigurations(config *kubeletconfig.KubeletConfiguration, dir string) ([]string, error)

//go:linkname kubeletConfigFlagPrecedence k8s.io/kubernetes/cmd/kubelet/app.kubeletConfigFlagPrecedence
func kubeletConfigFlagPrecedence(config *kubeletconfig.KubeletConfiguration, args []string) error

//go:linkname parseResourceList k8s.io/kubernetes/cmd/kubelet/app.parseResourceList
func parseResourceList(m map[string]string) (v1.ResourceList, error)

//go:linkname parseMaxSize k8s.io/kubernetes/pkg/kubelet/logs.parseMaxSize
func parseMaxSize(size string) (int64, error)
