package main

import (
	"fmt"
	"math/rand"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/dump"
)

var chosen = []string{
	"0", "-0", "00", "0m", "0Ki", "0.0", "0.0Ki", "0Pi", "1", "10", "100", "1000", "1500", "1k", "100m", "1500m", "0.5",
	".5", "5.", "0.1", "0.25", "1.5", "1.500", "+5", "-5", "-1.5Gi", "0.5Mi", "1.5Gi", "0.1Ki", "0.0001Ki", "64Mi", "63Mi",
	"1Gi", "7Gi", "1Ti", "99Ti", "100Ti", "1Pi", "1Ei", "8Ei", "9Ei", "100Ei", "123456789012345678", "1234567890123456789",
	"12345678901234567890", "9223372036854775807", "9223372036854775808", "123456789012345678901234567890.5", "1n", "1u",
	"0.5n", "0.1m", "1.0001m", "999999999n", "0.000000001", "0.0000000001", "0.00000000010000000000", "1e3", "1E3", "1e-3",
	"1.5e3", "12e6", "5e-9", "5e-10", "1e30", "1234567890123456789e5", "1E", "1.1E", "1T", "1P", "5M", "128974848", "129e6",
	"129M", "123Mi", "2.25Ti", "0.999999999999999999", "1.000", "1.0000000000", "10.0Gi", "1.0Gi", "0010", "007Ki",
}

func randomText(r *rand.Rand) string {
	text := ""
	for range 1 + r.Intn(12) {
		text += strconv.Itoa(r.Intn(10))
	}
	if r.Intn(2) == 0 {
		text += "."
		for range 1 + r.Intn(12) {
			text += strconv.Itoa(r.Intn(10))
		}
	}
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e2", "e-4"}
	return text + suffixes[r.Intn(len(suffixes))]
}

var types = regexp.MustCompile(`\([^)]*\)`)

// Without the types: those are the same in each row.
func held(q resource.Quantity) string {
	return strconv.QuoteToASCII(types.ReplaceAllString(dump.ForHash(q), ""))
}

// As it was read, rounded as defaulting rounds it, and the sum of the rounded one and the row's before, which compares
// with it as said.
func printQuantities(seed, rows int64) {
	fmt.Println("# Printed by third_party/peers/podhashes: a text; the quantity as it is held, rounded up to milli, added to that")
	fmt.Println("# of the row before, how it compares with it (and how it is held thereafter).")
	texts := chosen
	r := rand.New(rand.NewSource(seed))
	for range rows {
		texts = append(texts, randomText(r))
	}
	before := resource.MustParse("1")
	for _, text := range texts {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			panic(text)
		}
		rounded, sum, compared := q.DeepCopy(), q.DeepCopy(), q.DeepCopy()
		rounded.RoundUp(-3)
		sum.Add(before.DeepCopy())
		order := compared.Cmp(before.DeepCopy())
		fmt.Printf("%s\t%s\t%s\t%s\t%d\t%s\n", strconv.QuoteToASCII(text), held(q), held(rounded), held(sum), order, held(compared))
		before = q
	}
}
