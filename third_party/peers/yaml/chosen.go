package main

import (
	"fmt"
	"strings"
)

var scalars = []string{
	// truth
	"y", "Y", "yes", "Yes", "YES", "yEs", "true", "True", "TRUE", "tRue", "on", "On", "ON", "oN", "n", "N", "no", "No", "NO",
	"false", "False", "FALSE", "off", "Off", "OFF", "oFF", "truely", "yes ", " yes",
	// nothing
	"", "~", "null", "Null", "NULL", "nULL", "nil", "none", "~~", "\"\"", "''", "\"null\"", "'~'",
	// whole numbers
	"0", "1", "-1", "+1", "-0", "+0", "00", "007", "08", "09", "010", "0777", "0778", "-010", "+010", "0o17", "0O17", "0o8", "-0o17",
	"0x1F", "0X1f", "0xg", "0x", "-0x10", "+0x10", "0b101", "0B101", "0b102", "0b", "-0b101", "+0b101", "0b-1", "0b+1", "-0b-1",
	"0b-", "0x-1", "0o-7", "1_000", "1__0", "_1", "1_", "0x_1", "0_7", "0_8", "0b_1", "-_1", "+_1", "0x1_f", "1,000", "1 000",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
	"+18446744073709551615", "18446744073709551616", "0xffffffffffffffff", "0x10000000000000000", "-0xffffffffffffffff",
	"0b1111111111111111111111111111111111111111111111111111111111111111",
	"-0b1000000000000000000000000000000000000000000000000000000000000000", "01777777777777777777777", "02000000000000000000000",
	"100000000000000000000000000000", "1:30", "190:20:30", "190:20:30.15", "-1:30", "1:60", "12:30:45", "0:0", "1e", "1e3", "1E3",
	// numbers with a fraction
	"1.5", "-1.5", "+1.5", ".5", "-.5", "+.5", "5.", "-5.", "1.", ".", "..", "-", "+", "--", "+-1", "-+1", "1e+3", "1e-3", "1.e3",
	".5e3", ".e3", "e3", "1e3.5", "1e400", "-1e400", "1e-400", "5e-324", "2e-324", "1.7976931348623157e308", "1.7976931348623159e308",
	"1_0.5", "1.5_0", "1._5", "._5", ".5_0", ".5_", ".1_2_3", "1e1_0", "0.1", "0.10", "00.1", "01.5", "1e21", "1e20", "123456789012345678901.5",
	"1e-7", "0.000001", "0.0000001", "100000000000000000000.0", "3.0", "-0.0", "0e0", "1.0e0", "0x1.8p1", "0x1p-2", ".0x1", "1p3", "1.5f",
	".inf", ".Inf", ".INF", "+.inf", "-.inf", ".iNF", "inf", "Inf", "infinity", "+inf", "-Inf", ".nan", ".NaN", ".NAN", ".Nan", "nan",
	".infinity", "+.nan", "-.INF", "+.INF", "0x.8p0",
	// times
	"2026-01-02", "2026-1-2", "2026-13-01", "2026-02-30", "2024-02-29", "2023-02-29", "2026-01-02T03:04:05Z", "2026-01-02t03:04:05Z",
	"2026-01-02T03:04:05", "2026-01-02T03:04:05+02:00", "2026-01-02 03:04:05", "2026-01-02 03:04:05 +2", "2026-01-02 3:4:5.25",
	"2026-01-02   03:04:05", "2026-01-02T24:00:00Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05,5Z",
	"2026-", "2026-01", "20260102", "0000-01-01", "2026-01-02T03:04:05z", "2026-01-02T03:04:05+25:00", "2026-01-02T03:04:05-00:61",
	// text
	"a", "a b", "a  b", "a:b", "a: b", "a #b", "a#b", "#a", "-a", "- a", "?a", "? a", ":a", ": a", "a:", "a,b", "[a", "a]", "{a", "a}", "&a", "&a b",
	"*a", "!a", "!a b", "|a", ">a", "%a", "@a", "`a", "'a", "\"a", "a'b", "a\"b", "=", "<<", "<", "a\\nb", "\u00e9", "\U0001f600",
	"a\u00a0b", "a\u0085b", "a\u2028b", "\ufeffa", "a\ufeffb", "a\x7fb", "a\x01b", "a\x00b", "a\xffb", "\xc3", "a\tb", "\ta", "a\t", "é: ü",
	// quotes
	"'it''s'", "'a\\nb'", "'a\n b'", "'a\n\n b'", "' a '", "''''", "'a' b", "'a'#b", "'a' #b", "\"a\\tb\\n\\\"\\\\\\/\\r\\b\\f\\0\\a\\v\\e\\ \\N\\_\\L\\P\"",
	"\"\\x41\\u00e9\\U0001f600\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\\udc00x\"", "\"\\q\"", "\"\\x4\"", "\"\\u12\"", "\"\\U00110000\"",
	"\"a\n b\"", "\"a \\\n  b\"", "\"a\\\n b\"", "\"a\n\n\n b\"", "\"yes\"", "'1'", "\"1.5\"", "\"2026-01-02\"", "\"a\xffb\"", "\"a\x01b\"",
	"\"a\" b", "\"a\\", "\"\\\t\"",
	// tags
	"!!str 1", "!!str yes", "!!str", "!!str ~", "!!str 2026-01-02", "!!int 1", "!!int '1'", "!!int a", "!!int 1.5", "!!int 1.0", "!!int ~", "!!int",
	"!!float 1", "!!float 1.5", "!!float '2'", "!!float a", "!!float .inf", "!!float 18446744073709551615", "!!float 0x10", "!!bool yes", "!!bool 'no'",
	"!!bool 1", "!!bool \"true\"", "!!null ''", "!!null ~", "!!null a", "!!null", "!!timestamp 2026-01-02", "!!timestamp '2026-01-02'", "!!timestamp a",
	"!!binary aGk=", "!!binary 'aGk='", "!!binary a", "!!binary ''", "!!binary /w==", "!!binary |\n  aG\n  k=", "! 1", "! yes", "!local 1", "!local yes",
	"!local ~", "!<tag:yaml.org,2002:str> 1", "!<tag:yaml.org,2002:int> '7'", "!!map a", "!!seq a", "!!merge <<", "!!omap a", "!e!x 1", "!!int 0b11",
	"!!int '0x1F'", "!!float '1e3'", "!!str \"a\"", "!!unknown 5",
}

// Whole documents.
var documents = []string{
	"", "\n", " ", "\n\n", "# c", "# c\n", "---", "---\n", "--- ", "---\n---", "---\n...", "...", "...\n", "--- a", "--- a\n...", "--- # c\na", "---\na: 1\n---\nb: 2\n",
	"a: 1\n---\nb: 2\n", "a: 1\n...\nb: 2\n", "a: 1\n...\n---\n]", "a\n---\n[", "%YAML 1.1\n---\na: 1", "%YAML 1.2\n---\na: 1", "%YAML 2.0\n---\na", "%YAML 1.1\na",
	"%TAG ! tag:x,2026:\n---\n!y 1", "%TAG !e! tag:yaml.org,2002:\n---\n!e!str 1", "%FOO bar\n---\na", "%YAML 1.1\n%YAML 1.1\n---\na", "--- |\n a\n", "---\ta",
	"\ufeffa: 1", "\ufeff", "\ufeff---\na", "a: 1\n\ufeffb: 2", "\xff\xfea\x00", "\xfe\xff\x00a", "\xff\xfea\x00:\x00 \x001\x00",
	"a: 1\r\nb: 2\r\n", "a: 1\rb: 2\r", "- a\r\n- b", "a: |\r\n  x\r\n  y\r\n", "a: 'x\r\n  y'", "a: \"x\r\n\r\n  y\"", "a: x\r\n  y",
	// maps
	"a: 1", "a: 1\nb: 2", "a:\n  b: 1", "a:\n b:\n  c: 1\n d: 2", "a:", "a:\nb:", "a: \nb: 1", "a:1", "a:1\nb: 2", "a : 1", "a:  1", "\"a\": 1", "'a': 1", "\"a\":1", "? a\n: 1",
	"? a", "? a\n? b", "? a\n:", ": 1", ":", "a: b: c", "a: - b", "a:\n- b", "a:\n - b\n - c", "a:\n  - b\n - c", "a: 1\n b: 2", "  a: 1\n  b: 2", " a: 1\nb: 2", "a: 1\na: 2",
	"a: 1\nb: 2\na: 3", "{a: 1, a: 2}", "a: {b: 1}\na: {c: 2}", "1: a", "1: a\n2: b", "1.5: a", "true: a", "yes: a", "no: b", "~: a", "null: a", "'': a", "? []\n: a", "? {}\n: a",
	"? [a]\n: b", "? {a: 1}\n: b", "[a]: b", "{a: 1}: b", "2026-01-02: a", "0x10: a", "010: a", "1e3: a", "1e21: a", ".inf: a", "-.inf: a", ".nan: a", "1.0: a", "3.14159265358979: a", "16777217.0: a",
	"18446744073709551615: a", "9223372036854775807: a", "-5: a", "!!str 1: a", "!!int '1': a", "!!binary aGk=: a", "<: a", "on: {push: 1}", "a: 1\n\nb: 2\n\n\n", "a: 1 # c\n# d\nb: 2", "a: '1' # c",
	"a: [1] # c", "a: # c\n  b", "a: # c\n  b: 1", "a#b: 1", "a b: 1", "a b c: d e f", "a\nb: 1", "a: b\n c", "a: b\n\n c", "a: b\nc", "a: 'b\n c'", strings.Repeat("k", 1000) + ": 1", strings.Repeat("k", 1100) + ": 1",
	"'" + strings.Repeat("k", 1100) + "': 1", "? " + strings.Repeat("k", 1100) + "\n: 1", "a: " + strings.Repeat("word ", 500), "a: " + strings.Repeat("x", 20000),
	// lists
	"- a", "- a\n- b", "-", "- ", "-\n-", "- - a", "- - a\n  - b\n- c", "-\n  - a", "- a: 1\n  b: 2\n- c: 3", "- a: 1\n b: 2", "- a:\n  - b", "-a", "- a\n b", "- a\nb", "- a\n  - b", " - a\n- b", "- |\n a\n- b",
	"- - - a", "- ? a\n  : b", "- ~\n-\n- null", "- !!str\n- !!str a", "- 'a'\n- \"b\"", "a:\n-", "a:\n- b\nc: d", "a:\n- b\n-c",
	// flow
	"[]", "{}", "[a]", "[a, b]", "[a,b]", "[a, b,]", "[,]", "[a,,b]", "[a", "[a]]", "[a] b", "[[a], [b, [c]]]", "[a\n, b\n]", "[\na,\nb\n]", "a: [\n b,\n c\n]", "a: [\nb\n]", "{a: 1, b: 2}", "{a: 1,b: 2,}", "{a}", "{a, b}",
	"{a:1}", "{a: }", "{a: , b: }", "{: 1}", "{? a: 1}", "{? a}", "{\"a\":1}", "{'a':1}", "{\"a\" :1}", "{a: {b: {c: 1}}}", "{a: [1, {b: 2}]}", "{a: 1", "{a: 1]", "[a}", "{a: 1}}", "[a: 1]", "[a: 1, b: 2]", "[? a: 1]", "[: 1]",
	"[a:1]", "[a: b: c]", "{a: b: c}", "[a #c\n, b]", "[a, #c\nb]", "{a: 1 #c\n}", "[1, 1.5, yes, ~, 'x', \"y\"]", "[-1, -, - a]", "[--- a]", "{http://x: y}", "[http://x]", "{a: http://x}", "{a: x:y}", "[a b, c d]", "{a b: c d}",
	"[a\n b]", "{a\n b: 1}", "[\"a\n b\"]", "[|]", "[%a]", "[@a]", "[&x a, *x]", "[*x]", "{&x a: *x}", "{*x : 1}", "[!!str 1, !!int '2']", "[!!str, a]", "{!!str : 1}", "[{}, []]", "{[]: 1}", "[[]: 1]", "[\t]", "[\ta\t,\tb\t]", "{\ta:\t1}",
	"{a: 'x'y}", "[\"a\"b]", "{\"a\":b, \"c\":[d]}", "{a?b: 1}", "[a?b]", "[?a]", "{?a: 1}", "[-a]", "{-a: 1}", "{a: -1}", "[a,b:c]", "{a: [}", "[ab:]", "{ab:}", "[:]", "[::a]", "{::a: 1}", "[a:]", "{a:,b:}", "{\"a\":}", "{\"a\":,}", "a: {}\nb: []",
	// anchors
	"a: &x 1\nb: *x", "a: &x [1]\nb: *x", "a: &x {b: 1}\nc: *x", "a: *x", "a: &x *x", "&x a: *x", "&x\na: *x", "&x [*x]", "&x {a: *x}", "a: &x\nb: *x", "- &x a\n- &x b\n- *x", "&x a", "*x", "a: & b", "a: * b", "a: &x-1 b\nc: *x-1",
	"a: &x.y b\nc: *x.y", "a: &x,y b", "a: &é b", "a: &x !!str 1\nb: *x", "a: !!str &x 1\nb: *x", "a: &x &y 1", "? &x a\n: *x", "*x : 1", "a: &x b\n*x : 1", "a: &x 1\n*x : b", "a: &x ~\n*x : b", "a: &x []\n*x : b", "- &x\n- *x",
	"a: &a b\n---\nc: *a", "x: &x\n  y: &y [*x]\n", "a: &x {b: *x}", "[&x [&y [*x], *y]]",
	// merging
	"a: &x {b: 1}\nc:\n  <<: *x", "a: &x {b: 1}\nc:\n  <<: *x\n  b: 2", "a: &x {b: 1}\nc:\n  b: 2\n  <<: *x", "a: &x {b: 1}\ny: &y {b: 2, d: 3}\nc:\n  <<: [*x, *y]", "c:\n  <<: {a: 1}", "c:\n  <<: [{a: 1}, {a: 2, b: 3}]", "c:\n  <<: 1", "c:\n  <<: [1]",
	"c:\n  <<: ~", "c:\n  <<: []", "a: &x 1\nc:\n  <<: *x", "a: &x [1]\nc:\n  <<: *x", "a: &x [{b: 1}]\nc:\n  <<: *x", "a: &x {b: 1}\nc:\n  <<: [*x, 1]", "a: &x {b: 1}\ny: &y {<<: *x, d: 1}\nc: {<<: *y}", "'<<': {a: 1}", "\"<<\": {a: 1}", "!!merge <<: {a: 1}",
	"!!merge '<<': {a: 1}", "!!str <<: {a: 1}", "<<: {a: 1}\n<<: {b: 2}", "- <<", "<<", "a: <<", "[<<]", "{<<: {a: 1}}", "<<: &x {a: 1}\nb: *x", "&x {<<: *x}", "a: &x {b: {<<: *x}}", "c:\n  <<: [[{a: 1}]]", "<<: {1: a, yes: b}", "{<< : {a: 1}}", "{<<}",
	// tabs
	"a:\t1", "a:\n\tb", "a:\n\tb: 1", "\ta: 1", "-\ta", "- a\n-\tb", "a: 1\t# c", "a: 1\n\t\nb: 2", "a: 1\n\t# c\nb: 2", "a: |\n\tb", "a: 'b\n\tc'", "a: b\n\tc", "a: b\t", "?\ta\n:\tb", "a:\t\n  b: 1", "a: |\n  b\n\tc", "-\t- a", "a:\t- b", "- \ta: 1",
	// directives in odd places, unfinished things
	"a: |", "a: >", "a: |\n", "|", "|\n", ">\n\n\n", "|+\n\n\n", "|-\n\n", "--- >\n a\n b\n", "a: |0\n x", "a: |10\n x", "a: |-+\n x", "a: |12\n x", "a: | x\n y", "a: |#c\n x", "a: | #c\n x", "a: |x", "@", "`", "%", "a: %b", "a: @b", "a: `b", "a: ]", "a: }", "a: ,",
	"a: ,b", "]", "}", ",", "a: [b]c", "a: 'b'c", "a: \"b\"c", "a: *", "a: &", "a: !", "a: !!", "!", "!!", "!<", "!<>", "a: !<x", "!!str\n", "a: !!str\nb: 1", "a: !!map\n  b: 1", "a: !!seq\n- b", "a: !!set {b, c}", "a: !!omap [b: 1]", "!!map {a: 1}", "!x {a: 1}",
	"!!null {a: 1}", "!!str [a]", "!!float [1]", "a: !!null [1]", "a: !!binary {b: 1}",
	"key: \"unclosed\nb: 1\n", "key: 'unclosed\n", "a: \"b\n---\nc\"", "a: 'b\n...\nc'", "a: \"b\n--- c\"", "--- \"a\n---b\"", "a:\n  b\n c", "a:\n    b\n  c", "a: [\n]\n b", "a: >\n  x\n y: 1", "a: 1\n  b: 2\n", "a: b\n  c: d",
	"a:\n  - b\n  c: d", "a:\n  c: d\n  - b", "- a\nb: c", "b: c\n- a", "a: 1\n]", "a: {b: 1\nc: 2}", "a:\n  {b: 1}", "a:\n[b]", "a:\n{b: 1}", "a:\n'b'", "a:\n|\n b", "a: ---", "a: ---\n", "a: ...\n", "---a", "----", "-- a", "--- - a", "--- a: 1", "---\n- a", "--- {a: 1}",
	"...\na", "a\n... b", "a\n...b", "a: 1\n... # c\n", "a: 1\n--- # c\n", "# c\n---\n# d\na: 1\n# e\n...\n# f\n", "\n\n\n---\n\n\na: 1", "a: &x\n  b: 1\nc: *x\nd: *x",
}

func yamls() []string {
	texts := append([]string{}, documents...)
	for _, scalar := range scalars {
		texts = append(texts, scalar, "k: "+scalar, "- "+scalar, "["+scalar+"]", "{k: "+scalar+"}")
	}
	for _, style := range []string{"|", ">"} {
		for _, chomp := range []string{"", "-", "+"} {
			for _, indent := range []string{"", "1", "2", "4"} {
				for _, body := range []string{"  a\n  b\n", "  a\n\n  b\n\n\n", "\n\n  a\n", "    a\n  b\n", "  a\n    b\n  c\n", "  a", "", "\n", "   \n  a\n", "  a\n # c\n", "  a \n  b\t\n", "  a\n\n    b\n\n  c\n"} {
					texts = append(texts, "k: "+style+chomp+indent+"\n"+body+"z: 1\n")
				}
			}
		}
	}
	return append(texts, laughs(9, 9), laughs(4, 3), laughs(2, 60), mergeLaughs(),
		strings.Repeat("[", 100)+strings.Repeat("]", 100), strings.Repeat("{a: ", 50)+"1"+strings.Repeat("}", 50), strings.Repeat("- ", 200)+"a", manifest, settings)
}

// Lists of aliases of lists of aliases.
func laughs(levels, width int) string {
	var text strings.Builder
	text.WriteString("a0: &a0 [x]\n")
	for level := 1; level <= levels; level++ {
		fmt.Fprintf(&text, "a%d: &a%d [*a%d", level, level, level-1)
		text.WriteString(strings.Repeat(fmt.Sprintf(", *a%d", level-1), width-1) + "]\n")
	}
	return text.String()
}

func mergeLaughs() string {
	var text strings.Builder
	text.WriteString("a0: &a0 {x: 1}\n")
	for level := 1; level <= 12; level++ {
		fmt.Fprintf(&text, "a%d: &a%d {<<: [*a%d, *a%d, *a%d, *a%d]}\n", level, level, level-1, level-1, level-1, level-1)
	}
	return text.String()
}

const manifest = `# A pod as people write it.
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web, "tier": front}
  annotations:
    note: |
      first line
        indented

      last line
    folded: >-
      one
      two

      three
    number: "1"
spec:
  hostNetwork: no
  terminationGracePeriodSeconds: 0x1e
  containers:
  - name: "main"
    image: nginx:1.25
    command: ["sh", "-c", 'echo "hi"; sleep 1']
    env:
    - {name: A, value: "yes"}
    - name: B
      value: ''
    ports:
      - containerPort: 80
    resources:
      limits: &limits
        cpu: 500m
        memory: 64Mi
      requests:
        <<: *limits
        cpu: 0.1
---
ignored: [
`

const settings = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: off}
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
evictionHard: {memory.available: 5%, "nodefs.available": "10%"}
syncFrequency: 0s
maxPods: 1_10
`
