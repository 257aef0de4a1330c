// Command values prints what the Go libraries make of texts: quantities, durations, times, base64. The tables in
// tests/base/golden and tests/kube/api/values/golden are its output: "values KIND SEED ROWS" prints the chosen texts and
// as many random ones.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type kind struct {
	row    func(text string) string
	chosen []string
	random func(r *rand.Rand) string
}

var kinds = map[string]kind{
	"quantity":  {quantity, quantities, randomQuantity},
	"duration":  {duration, durations, randomDuration},
	"time":      {stamp(time.RFC3339), times, randomTime},
	"microtime": {stamp(metav1.RFC3339Micro), times, randomTime},
	"base64":    {bytes64, base64s, randomBase64},
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: values KIND SEED ROWS")
		os.Exit(2)
	}
	k, known := kinds[os.Args[1]]
	seed, seedErr := strconv.ParseInt(os.Args[2], 10, 64)
	rows, rowsErr := strconv.Atoi(os.Args[3])
	if !known || seedErr != nil || rowsErr != nil {
		fmt.Fprintln(os.Stderr, "values: no such kind, or no number")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Printed by third_party/peers/values: a text, and what Go makes of it.")
	for _, text := range k.chosen {
		fmt.Fprintln(out, line(k, text))
	}
	r := rand.New(rand.NewSource(seed))
	for range rows {
		fmt.Fprintln(out, line(k, k.random(r)))
	}
}

func line(k kind, text string) string {
	return strconv.QuoteToASCII(text) + "\t" + k.row(text)
}

func failure(err error) string { return "error\t" + strconv.QuoteToASCII(err.Error()) }

// As written again, canonical text, format, order against some others, whole units and thousandths.
func quantity(text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return failure(err)
	}
	canonical := q.DeepCopy()
	canonical.Neg() // forgets how it was written
	canonical.Neg()
	probes := ""
	for _, probe := range []string{"-1", "0", "1n", "100m", "1", "1500m", "1Ki", "1G", "1Gi", "1E", "10E"} {
		p := resource.MustParse(probe)
		probes += string("<=>"[q.Cmp(p)+1])
	}
	units, milli := "-", "-"
	if limit := resource.MustParse("9P"); q.Sign() >= 0 && q.Cmp(limit) <= 0 { // beyond, the Go type gives up
		units, milli = fmt.Sprint(q.Value()), fmt.Sprint(q.MilliValue())
	}
	return fmt.Sprintf("ok\t%q\t%q\t%s\t%s\t%s\t%s", q.String(), canonical.String(), q.Format, probes, units, milli)
}

func duration(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return failure(err)
	}
	return fmt.Sprintf("ok\t%d\t%q", int64(d), d.String())
}

func stamp(layout string) func(string) string {
	return func(text string) string {
		t, err := time.Parse(layout, text)
		if err != nil {
			return failure(err)
		}
		return fmt.Sprintf("ok\t%d\t%d\t%q", t.Unix(), t.Nanosecond(), t.UTC().Format(layout))
	}
}

func bytes64(text string) string {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return failure(err)
	}
	return "ok\t" + strconv.QuoteToASCII(string(b)) + "\t" + strconv.QuoteToASCII(base64.StdEncoding.EncodeToString(b))
}
