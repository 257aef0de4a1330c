// Command flags prints what the kubelet makes of its command line: "flags table" prints every flag that it has, "flags
// cases" prints command lines and what comes of them. The tables in tests/app/flags/golden are its output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	config "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	_ "k8s.io/kubernetes/pkg/kubelet/cadvisor" // has defaults of its own for cAdvisor's flags
)

type kubelet struct {
	set    *pflag.FlagSet
	flags  *options.KubeletFlags
	config *config.KubeletConfiguration
}

func newKubelet() kubelet {
	k := kubelet{set: pflag.NewFlagSet("kubelet", pflag.ContinueOnError), flags: options.NewKubeletFlags()}
	k.set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	k.set.SetOutput(io.Discard)
	k.set.Usage = func() {}
	var err error
	if k.config, err = options.NewKubeletConfiguration(); err != nil {
		panic(err)
	}
	k.flags.AddFlags(k.set)
	options.AddKubeletConfigFlags(k.set, k.config)
	options.AddGlobalFlags(k.set)
	k.set.BoolP("help", "h", false, "")
	return k
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch {
	case len(os.Args) == 2 && os.Args[1] == "table":
		fmt.Fprintln(out, "# Printed by third_party/peers/flags: name, letter, type, default, value when there is none, whether it is deprecated.")
		newKubelet().set.VisitAll(func(f *pflag.Flag) { fmt.Fprintln(out, row(f)) })
	case len(os.Args) == 2 && os.Args[1] == "cases":
		fmt.Fprintln(out, "# Printed by third_party/peers/flags: words of a command line, and the error, or what is set, path by path.")
		for _, args := range cases() {
			fmt.Fprintln(out, outcome(args))
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: flags table|cases")
		os.Exit(2)
	}
}

func quote(text string) string { return strconv.QuoteToASCII(text) }

func row(f *pflag.Flag) string {
	bare := *f
	bare.Usage = "" // one has a word in it that would be taken for the type
	kind, _ := pflag.UnquoteUsage(&bare)
	deprecated := "current"
	if f.Deprecated != "" {
		deprecated = "deprecated"
	}
	return strings.Join([]string{quote(f.Name), quote(f.Shorthand), quote(kind), quote(f.DefValue), quote(f.NoOptDefVal), deprecated}, "\t")
}

func outcome(args []string) string {
	k := newKubelet()
	before := tree(k.config)
	line := quote(strings.Join(args, "\n"))
	if err := k.set.Parse(args); err != nil {
		return line + "\terror\t" + quote(err.Error())
	}
	if rest := k.set.Args(); len(rest) > 0 {
		return line + "\terror\t" + quote(fmt.Sprintf("unknown command %+s", rest[0]))
	}
	if err := options.ValidateKubeletFlags(k.flags); err != nil {
		return line + "\tinvalid\t" + quote(err.Error())
	}
	line += "\tok"
	var changes []string
	compare("", before, tree(k.config), &changes)
	sort.Strings(changes)
	for _, change := range changes {
		line += "\t" + quote(change)
	}
	return line
}

// The configuration as JSON.
func tree(c *config.KubeletConfiguration) json.RawMessage {
	s, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		panic(err)
	}
	versioned := &v1beta1.KubeletConfiguration{}
	if err := s.Convert(c, versioned, nil); err != nil {
		panic(err)
	}
	text, err := json.Marshal(versioned)
	if err != nil {
		panic(err)
	}
	return text
}

// Objects of settings are gone into; maps that operators fill are values.
func isSettings(path string) bool {
	switch path {
	case "", "authentication", "authentication.x509", "authentication.webhook", "authentication.anonymous", "authorization",
		"authorization.webhook", "logging", "logging.options", "logging.options.text", "logging.options.json":
		return true
	}
	return false
}

func compare(path string, before, after json.RawMessage, changes *[]string) {
	if !isSettings(path) {
		if string(before) != string(after) {
			*changes = append(*changes, path+"="+string(after))
		}
		return
	}
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		panic(path + " is no object")
	}
	names := map[string]bool{}
	for name := range was {
		names[name] = true
	}
	for name := range is {
		names[name] = true
	}
	for name := range names {
		compare(strings.TrimPrefix(path+"."+name, "."), was[name], is[name], changes)
	}
}

// A value that is not the default of that flag.
func otherValue(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return strconv.FormatBool(f.DefValue != "true")
	case "string":
		return "some-text"
	case "int32", "int", "int64", "Level":
		return "7"
	case "duration":
		return "1m30s"
	case "ip":
		return "10.1.2.3"
	case "quantity":
		return "3Mi"
	case "stringSlice":
		return "one,two"
	case "mapStringString":
		if strings.HasPrefix(f.Name, "eviction-hard") || f.Name == "eviction-soft" {
			return "memory.available<1Gi"
		}
		return "key=value"
	case "mapStringBool":
		return "EventedPLEG=true"
	case "colonSeparatedMultimapStringString":
		return "a:x,b:y,a:z"
	case "[]v1.Taint":
		return "k=v:NoSchedule"
	case "reserved-memory":
		return "1:memory=1Gi"
	case "pattern=N,...":
		return "file=3"
	}
	return "true"
}

func cases() [][]string {
	var all [][]string
	newKubelet().set.VisitAll(func(f *pflag.Flag) {
		if f.Name != "version" && f.Name != "help" {
			all = append(all, []string{"--" + f.Name + "=" + otherValue(f)})
		}
	})
	// One word a case, or several with a line's end between.
	for _, words := range strings.Split(strings.TrimSpace(more), "\n") {
		all = append(all, strings.Split(strings.ReplaceAll(words, "~", " "), "  "))
	}
	return all
}
