package main

import (
	"encoding/json"
	"strings"
)

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// As values, as keys and within lists.
var texts = []string{
	"", " ", "  ", "a", "a b", " a", "a ", "a:", "a: b", "a:b", ":a", ":", "a #b", "a#b", "#a", "-", "- a", "-a", "--", "---", "--- a", "...", "?", "? a", "?a", "[a]", "{a}", "a]", "a}", "a,b", ",a", "&a", "*a", "!a", "!!str", "|", ">",
	"%a", "@a", "`a", "'a'", "\"a\"", "a'b", "a\"b", "\\", "a\\nb", "=", "<<", "<", "~", "null", "Null", "nULL", "y", "n", "yes", "No", "on", "OFF", "true", "tRue", "1", "-1", "+1", "0", "010", "0o10", "0x1f", "0b1", "1_000", "1.5", ".5", "5.",
	"1e3", "1e400", ".inf", "-.inf", ".nan", "inf", "1:30", "12:30:45", "1:60", "2026-01-02", "2026-01-02T03:04:05Z", "2026-13-02", "1.2.3.4", "10.0.0.0/8", "::1", "fe80::1", "a\nb", "a\n", "\n", "\na", "a\n\n", "a\n\nb", " a\nb", "\ta\nb", "a\n b", "a \nb",
	"a\nb ", "a\tb", "\ta", "a\t", "\t", "a\rb", "a\r\nb", "\r", "a\u0001b", "a\u0000b", "a\u007fb", "a\u0085b", "a\u00a0b", "a\u2028b", "a\ufeffb", "\ufeffa", "é", "\U0001f600", "a\U0001f600\nb", "#!/bin/sh\nset -e\n\techo hi\n", "# c\na", "- a\n- b\n",
	"a: 1\nb: 2\n", strings.Repeat("x", 79), strings.Repeat("x", 200), strings.Repeat("word ", 30), strings.Repeat("word ", 30) + "end", "a " + strings.Repeat("y", 100) + " b", strings.Repeat("é ", 60) + "z", strings.Repeat("word  two ", 20) + "z",
	strings.Repeat("word: ", 20) + "z", strings.Repeat("wo\"rd ", 20) + "z", strings.Repeat("word #", 20), strings.Repeat("line of text that goes on and on and on and on and on and on and on and on and on\n", 3), "'" + strings.Repeat("word ", 30), "yes" + strings.Repeat(" yes", 30),
	strings.Repeat(" ", 90), strings.Repeat("a\u0001 ", 40), "\u2028", "a\n\u2028", "a\n\u0001b", "\n\n\n", "a\n\n\n", "a\n \n", "a\n\t\n", "\u00a0", "\u0085", "a\n\ufeff", "100m", "1Gi", "1e3Ki", "nginx:1.25", "registry.example/a@sha256:00", "a=b", "--flag=x", "-v", "$(VAR)",
	"{{ .Values.x }}", "*", "&", "!", "%", "@", "`", "\"", "'", "''", "a''b", "0.0", "-0", "+", "-.", "1.", "1,5", "0b2", "08", "0o8", "1__0", "_1", "_", "1_", "x_1", ".", "..", ".a", "1e", "e1", "Infinity", "NaN", "+.inf", "y ", "yes\n",
}

var objects = []string{
	`null`, `true`, `false`, `0`, `-1`, `1.5`, `1e3`, `1E3`, `1.0`, `-0`, `-0.0`, `1e21`, `1e20`, `1e-7`, `0.1`, `123456789012345678`, `9223372036854775807`, `9223372036854775808`, `18446744073709551615`, `18446744073709551616`, `-9223372036854775808`, `-9223372036854775809`,
	`1.7976931348623157e308`, `100000000000000000000`, `0.000001`, `1e400`, `[]`, `{}`, `[[]]`, `[{}]`, `{"a":[]}`, `{"a":{}}`, `[[],[]]`, `[[1],[2,[3]]]`, `[{"a":1,"b":2},{"c":3}]`, `{"a":[1,2]}`, `{"a":[[1,2],[3]]}`, `{"a":[{"b":[{"c":1}]}]}`, `{"a":{"b":{"c":{}}}}`,
	`{"b":1,"a":2}`, `{"a10":1,"a2":2,"a1":3}`, `{"B":1,"a":2,"A":3,"b":4}`, `{"a-b":1,"a_b":2,"a.b":3,"ab":4,"a":5,"a/b":6,"a b":7}`, `{"1":1,"10":2,"2":3,"-1":4}`, `{"a01":1,"a1":2,"a001":3}`, `{"":1,"a":2}`, `{"a1b2":1,"a1b10":2,"a1":3}`, `{"é":1,"z":2,"e":3}`,
	`{"yes":1,"1":2,"null":3,"a: b":4}`, `{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{},"status":{}}`, `{"a":1,"a":2}`, `{"name":"x","Name":"y","nameA":"z","name1":"w","name-1":"v"}`, `[null,true,"a",1]`, `{"a":null}`, `{"a":[null]}`, ` { "a" : [ 1 , 2 ] } `,
	"{\n\"a\":\n1}", `{"a":"b\/c"}`, `{"a":"\u0041\ud83d\ude00"}`, `{"v1":1,"v1beta1":2,"v1alpha1":3,"v2":4,"v10":5,"v1beta10":6,"v1beta2":7}`, `{"x100":1,"x20":2,"x3":3,"x":4,"x3a":5}`, `{"k8s.io/a":1,"k8s.io/b":2,"app":3,"app.kubernetes.io/name":4}`,
	`{"a0":1,"a00":2,"a10":3,"a100":4}`, `{"1a":1,"a1":2,"aa":3}`, `{"99999999999999999999":1,"100000000000000000000":2}`,
}

func jsons() []string {
	all := append([]string{}, objects...)
	for _, text := range texts {
		q := quoted(text)
		all = append(all, q, `{"k":`+q+`}`, `{`+q+`:1}`, `[`+q+`]`, `{"a":{"b":[`+q+`,{"c":`+q+`}]}}`)
	}
	key := quoted(strings.Repeat("long-key-", 15))
	return append(all, `{`+key+`:1}`, `{`+key+`:{"a":[1]}}`, `{`+key+`:"`+strings.Repeat("word ", 30)+`end"}`)
}
