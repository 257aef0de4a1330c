package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
)

func pick(r *rand.Rand, from []string) string { return from[r.Intn(len(from))] }

func join(r *rand.Rand, from []string, most int) string {
	var text strings.Builder
	for range 1 + r.Intn(most) {
		text.WriteString(pick(r, from))
	}
	return text.String()
}

var numberPieces = []string{
	"0", "1", "7", "8", "9", "10", "60", "_", "+", "-", ".", "e", "E", "x", "o", "b", "a", "f", ":", "0x", "0b", "0o",
	"2026", "-01", "-2", "T", "t", " ", "Z", ".inf", ".nan", "e+", "e-5", "9223372036854775807", "18446744073709551616",
}

var scalarPieces = []string{
	"a", "b", "é", " ", "  ", ":", ": ", "#", " #", "-", "- ", "?", "? ", "[", "]", "{", "}", ",", "&", "*", "!", "|",
	">", "%", "@", "`", "'", "''", "\"", "\\", "\\n", "\\x41", "\\u00e9", "\\/", "~", "=", "<<", "yes", "null", "1",
	"\t", "\u00a0", "\u2028", "\u0085", "\ufeff", "\U0001f600",
}

var documentPieces = []string{
	"a", "b", "c", "1", "~", "yes", ": ", ":", "- ", "-", "? ", ", ", ",", "[", "]", "{", "}", "\n", "\n", "\n  ", "\n    ",
	"\n- ", "\na: ", "\nb: ", "\n  c: ", " ", "  ", "#c", " # c\n", "'", "\"", "|", "|-", "|+", ">", ">-", "|2", ">1+", "&x ",
	"*x", "<<: ", "!!str ", "!!int ", "!t ", "---\n", "...\n", "%YAML 1.1\n", "\t", "\r\n", "text of words", "\\",
}

func randomYAML(r *rand.Rand) string {
	switch r.Intn(5) {
	case 0, 1:
		return join(r, numberPieces, 6)
	case 2:
		return "k: " + join(r, scalarPieces, 6)
	case 3:
		return block(r)
	}
	return join(r, documentPieces, 12)
}

// A block scalar, its header and its lines.
func block(r *rand.Rand) string {
	var text strings.Builder
	fmt.Fprintf(&text, "k: %s%s%s\n", pick(r, []string{"|", ">"}), pick(r, []string{"", "-", "+", "1", "2", "2-", "+1", "-3"}),
		pick(r, []string{"", "", " # c"}))
	for range r.Intn(6) {
		text.WriteString(pick(r, []string{"", " ", "  ", "   ", "    ", "\t", "  \t"}))
		text.WriteString(pick(r, []string{"", "a", "b c", "# d", "- e", "f: g", "é"}))
		text.WriteString(pick(r, []string{"\n", "\n", "\n\n", " \n", "\r\n"}))
	}
	text.WriteString(pick(r, []string{"", "z: 1", "...", "  end"}))
	return text.String()
}

var textPieces = []string{
	"a", "b", "word", "é", " ", "  ", "\n", "\n\n", "\t", ":", ": ", "#", " #", "-", "- ", "?", "[", "]", "{", "}", ",", "&", "*", "!",
	"|", ">", "%", "@", "`", "'", "\"", "\\", "~", "=", "<<", "yes", "null", "1", "0x1", "1e3", "2026-01-02", "12:30:45",
	"\u00a0", "\u2028", "\u0085", "\ufeff", "\U0001f600", "\u0001", "\u007f", "\r", "0", "_", ".",
	"a longer run of words that is there to be folded somewhere ",
}

var keyPieces = []string{"a", "b", "A", "1", "2", "10", "02", "-", "_", ".", "/", "é", "name", "Name", " "}

func randomText(r *rand.Rand) string {
	switch r.Intn(3) {
	case 0:
		return join(r, keyPieces, 4)
	case 1:
		return join(r, textPieces, 20)
	}
	return join(r, textPieces, 5)
}

func randomValue(r *rand.Rand, depth int) any {
	kinds := 6
	if depth > 0 {
		kinds = 10
	}
	switch n := r.Intn(kinds); n {
	case 0:
		return r.Intn(2) == 0
	case 1:
		return nil
	case 2:
		return json.Number(pick(r, []string{"0", "-1", "9223372036854775808", "1.5", "1e3", "1E-7", "123456789.25", "-0.0", "1e21", "0.1"}))
	case 3, 4, 5:
		return randomText(r)
	case 6, 7:
		list := []any{}
		for range r.Intn(4) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range r.Intn(5) {
		key := join(r, keyPieces, 4)
		if r.Intn(6) == 0 {
			key = randomText(r)
		}
		object[key] = randomValue(r, depth-1)
	}
	return object
}

func randomJSON(r *rand.Rand) string {
	text, err := json.Marshal(randomValue(r, 3))
	if err != nil {
		panic(err)
	}
	return string(text)
}
