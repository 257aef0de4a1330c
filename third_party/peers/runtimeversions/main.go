// Command runtimeversions prints what the kubelet makes of versions that container runtimes tell, as a table for
// tests/managers/node/golden/runtime_versions.txt: the version as told, then as the node's status has it, or "Unknown".
package main

import (
	"fmt"
	"strconv"

	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// As newRuntimeVersion of pkg/kubelet/kuberuntime and the setter of the node's versions, which are private.
func shown(told string) string {
	version, err := utilversion.ParseSemantic(told)
	if err != nil {
		version, err = utilversion.ParseGeneric(told)
	}
	if err != nil {
		return "Unknown"
	}
	return version.String()
}

func main() {
	fmt.Println("# k8s.io/apimachinery/pkg/util/version; made by third_party/peers/runtimeversions")
	for _, told := range []string{
		"1.7.24", "v1.7.24", "v1.7.99-cri-sim", "1.6.20~ds1", "1.7.2-0ubuntu1~22.04.1", "2.0.0-rc.1+build.5", "2.0.0+build",
		"v2.1.0-beta.0-17-gabcdef.m", "1.7.24 ", "  v1.7.24", " 1.7 ", "1.30", "1.30.2.4", "v1", "1", "", "v", "unknown",
		"V1.2.3", "vv1.2.3", "01.2.3", "1.02.3", "1.2.03", "0.1.2", "0.0.0", "00.1", "1.02", "1.2.3-01", "1.2.3-0", "1.2.3-a.01",
		"1.2.3-0a", "1.2.3-", "1.2.3+", "1.2.3-a+", "1.2.3-a_b", "1.2.3.dev", "1.2.", "1.2.3.", ".1.2", "1..2", "1.2 3", "1.2-rc1",
		"1.2.3-rc1 x", "1.2.3-rc1\t", "1.2.3\n", "1.2.3\nmore", "\n1.2.3", "1.2.3-a\n", "1.2\nx", "18446744073709551615.1.2",
		"18446744073709551616.1.2", "1.18446744073709551616", "1.2.3-18446744073709551616", "1.2.3-018446744073709551616",
		"1.2.3-a..b", "1.2.3--", "1.2.3+a+b", "1.2.3-é", "1.2.3 \xff", "1.2.3\x00", "\v1.2.3", "\u00a01.2.3", "1.2.3\v", "cri-o 1.2.3",
	} {
		fmt.Printf("%s\t%s\n", strconv.QuoteToASCII(told), strconv.QuoteToASCII(shown(told)))
	}
}
