// Command yaml prints what sigs.k8s.io/yaml makes of texts. The tables in tests/kube/api/codec/golden are its output:
// "yaml to-json SEED ROWS" and "yaml to-yaml SEED ROWS" print the chosen texts and as many random ones.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strconv"

	"sigs.k8s.io/yaml"
)

type kind struct {
	convert func([]byte) ([]byte, error)
	chosen  []string
	random  func(r *rand.Rand) string
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: yaml to-json|to-yaml SEED ROWS")
		os.Exit(2)
	}
	kinds := map[string]kind{
		"to-json": {yaml.YAMLToJSON, yamls(), randomYAML},
		"to-yaml": {yaml.JSONToYAML, jsons(), randomJSON},
	}
	k, known := kinds[os.Args[1]]
	seed, seedErr := strconv.ParseInt(os.Args[2], 10, 64)
	rows, rowsErr := strconv.Atoi(os.Args[3])
	if !known || seedErr != nil || rowsErr != nil {
		fmt.Fprintln(os.Stderr, "yaml: no such kind, or no number")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Printed by third_party/peers/yaml: a text, and what sigs.k8s.io/yaml makes of it.")
	seen := map[string]bool{}
	for _, text := range k.chosen {
		row(out, k, text, seen)
	}
	r := rand.New(rand.NewSource(seed))
	for printed := 0; printed < rows; {
		if row(out, k, k.random(r), seen) {
			printed++
		}
	}
}

// Where Go's answer depends on the order of its maps there is nothing to compare with.
func row(out *bufio.Writer, k kind, text string, seen map[string]bool) bool {
	if seen[text] {
		return false
	}
	seen[text] = true
	answer := convert(k, text)
	for range 20 {
		if convert(k, text) != answer {
			return false
		}
	}
	fmt.Fprintln(out, strconv.QuoteToASCII(text)+"\t"+answer)
	return true
}

func convert(k kind, text string) (answer string) {
	// The library panics on some texts; that is a refusal too.
	defer func() {
		if recover() != nil {
			answer = "error\t\"\""
		}
	}()
	converted, err := k.convert([]byte(text))
	if err != nil {
		return "error\t" + strconv.QuoteToASCII(err.Error())
	}
	return "ok\t" + strconv.QuoteToASCII(string(converted))
}
