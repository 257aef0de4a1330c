// Command configz prints what the kubelet makes of its configuration, by the kubelet's own code.
//
//	configz load DIR      the configuration as /configz shows it, or the error, for DIR/flags (a flag a line; /case in
//	                      them stands for DIR)
//	configz verdicts FILE whether the kubelet starts with each configuration of FILE (a YAML flow mapping a line)
//
// tests/app/config/configz/*/configz.json and tests/app/config/golden/verdicts.txt are its output: print.sh.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/logs/json/register" // as the kubelet itself
	"k8s.io/klog/v2"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
)

func main() {
	quiet := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(quiet)
	_ = quiet.Set("logtostderr", "false")
	_ = quiet.Set("stderrthreshold", "FATAL")
	klog.SetOutput(bytes.NewBuffer(nil))
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: configz load DIR | configz verdicts FILE"))
	}
	switch os.Args[1] {
	case "load":
		printConfigz(os.Args[2])
	case "verdicts":
		printVerdicts(os.Args[2])
	case "verdict":
		printVerdict(os.Args[2])
	default:
		fail(fmt.Errorf("no such command: %s", os.Args[1]))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "configz:", err)
	os.Exit(2)
}

// A panic of the kubelet (an unknown gate in a file) is an error here.
func load(args []string) (kc *kubeletconfig.KubeletConfiguration, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	flags := options.NewKubeletFlags()
	if kc, err = options.NewKubeletConfiguration(); err != nil {
		return nil, err
	}
	set := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	set.SetOutput(bytes.NewBuffer(nil))
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flags.AddFlags(set)
	options.AddKubeletConfigFlags(set, kc)
	options.AddGlobalFlags(set)
	if err = set.Parse(args); err != nil {
		return nil, err
	}
	if err = utilfeature.DefaultMutableFeatureGate.SetFromMap(kc.FeatureGates); err != nil {
		return nil, err
	}
	if err = options.ValidateKubeletFlags(flags); err != nil {
		return nil, err
	}
	if flags.KubeletConfigFile != "" {
		if kc, err = loadConfigFile(context.Background(), flags.KubeletConfigFile); err != nil {
			return nil, err
		}
	}
	if flags.KubeletDropinConfigDirectory != "" {
		if _, err = mergeKubeletConfigurations(kc, flags.KubeletDropinConfigDirectory); err != nil {
			return nil, err
		}
	}
	if flags.KubeletConfigFile != "" || flags.KubeletDropinConfigDirectory != "" {
		if err = kubeletConfigFlagPrecedence(kc, args); err != nil {
			return nil, err
		}
		err = utilfeature.DefaultMutableFeatureGate.SetFromMap(kc.FeatureGates)
	}
	return kc, err
}

func configz(kc *kubeletconfig.KubeletConfiguration) ([]byte, error) {
	s, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	versioned := &kubeletv1beta1.KubeletConfiguration{}
	if err := s.Convert(kc, versioned, nil); err != nil {
		return nil, err
	}
	versioned.SetGroupVersionKind(kubeletv1beta1.SchemeGroupVersion.WithKind("KubeletConfiguration"))
	return json.Marshal(map[string]any{"kubeletconfig": versioned})
}

func printConfigz(dir string) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		fail(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "flags"))
	if err != nil {
		fail(err)
	}
	var args []string
	for _, line := range strings.Split(string(text), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			args = append(args, strings.ReplaceAll(line, "/case", dir))
		}
	}
	kc, err := load(args)
	if err != nil {
		fmt.Println("error:", strings.ReplaceAll(err.Error(), dir, "/case"))
		return
	}
	shown, err := configz(kc)
	if err != nil {
		fail(err)
	}
	fmt.Println(strings.ReplaceAll(string(shown), dir, "/case"))
}

// Feature gates are of the process, so each configuration has one.
func printVerdicts(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		fail(err)
	}
	fmt.Println("# Printed by third_party/peers/configz: a configuration, and whether the kubelet starts with it.")
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		out, err := exec.Command(os.Args[0], "verdict", line).CombinedOutput()
		if err != nil {
			fail(fmt.Errorf("%s: %w: %s", line, err, out))
		}
		fmt.Print(strconv.QuoteToASCII(line), "\t", string(out))
	}
}

func printVerdict(line string) {
	file, err := os.CreateTemp("", "configz*.yaml")
	if err != nil {
		fail(err)
	}
	defer os.Remove(file.Name())
	fmt.Fprintf(file, "# A comment in front: it is YAML.\n{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, %s\n", strings.TrimPrefix(line, "{"))
	if err := file.Close(); err != nil {
		fail(err)
	}
	kc, err := load([]string{"--config=" + file.Name()})
	if err == nil {
		err = check(kc)
	}
	if err == nil {
		fmt.Println("ok")
		return
	}
	why := strings.ReplaceAll(strings.ReplaceAll(err.Error(), file.Name(), "FILE"), "\n", " ")
	fmt.Printf("refused\t%s\n", strconv.QuoteToASCII(why))
}
