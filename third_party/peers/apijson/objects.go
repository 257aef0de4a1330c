package main

import "strings"

type object struct{ kind, json string }

// Values for one place of an object.
type place struct {
	kind, before, after string
	values              []string
}

var oddValues = []string{"null", "true", "false", "0", "1", "-1", "1.5", `""`, `"a"`, `"1"`, "[]", "{}", `["a"]`, `{"a":"b"}`, "[null]", "[1]"}

var oddNumbers = []string{
	"1.0", "1e2", "1E2", "1e0", "1.5e1", "-0", "0.0", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967296",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1e400", "100000000000000000000",
	"01", "+1", ".5", "1.", "0x10", "1_0", "--1", "NaN", "Infinity", "-", "1e", "1e+", `"1.0"`, `" 1"`,
}

var oddTimes = []string{
	`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.5Z"`, `"2026-01-02T03:04:05.123456Z"`, `"2026-01-02T03:04:05.123456789Z"`, `"2026-01-02T03:04:05+02:00"`,
	`"2026-01-02T03:04:05-23:59"`, `"2026-01-02"`, `"2026-01-02 03:04:05"`, `"2026-1-2T3:4:5Z"`, `"2026-01-02T03:04:05"`, `"2026-01-02t03:04:05z"`, `"0001-01-01T00:00:00Z"`,
	`"0001-01-01T00:00:01Z"`, `"1970-01-01T00:00:00Z"`, `"1969-12-31T23:59:59Z"`, `"9999-12-31T23:59:59Z"`, `"10000-01-01T00:00:00Z"`, `"2026-02-30T00:00:00Z"`, `"2026-01-02T24:00:00Z"`, `"2026-01-02T03:04:60Z"`,
	`"0000-01-01T00:00:00Z"`, `"yesterday"`, `" 2026-01-02T03:04:05Z"`, "1767366245", `"1969-12-31T23:59:59.5Z"`, `"0001-01-01T00:00:00.000001Z"`, `"1970-01-01T00:00:00.000000Z"`, `"2026-01-02T03:04:05,5Z"`,
}

var oddQuantities = []string{
	`"100m"`, `"1Gi"`, `"1024Ki"`, `"0"`, `"-1"`, `"1e3"`, `"1E3"`, `"1.5"`, `" 1"`, `"1 "`, `"1x"`, `"m"`, `"1Ei"`, `"10E"`, `"0.1n"`, `"1e99"`, `"1e100"`, "1e3", "0.1", "1.50", "12345678901234567890", "1e-9", "1e-10", `"+5"`, `"05"`, `".5"`, `"5."`, `"1.5Gi"`, `"1000000m"`,
}

var oddTexts = []string{
	`"é"`, `"\u00e9"`, `"\ud83d\ude00"`, `"\u0000"`, `"\n\t\r\b\f\/\\\""`, `"\x41"`, `"\q"`, `"\u12"`, "\"a\tb\"", "\"a\nb\"", "\"a\x01b\"", "\"a\x7fb\"", `"<a>&"`, "\"\u2028\u2029\"", `"\u2028"`, `"`, `"a`, `'a'`, "\"\ufeff\"", "\"\xed\xa0\x80\"", "\"a\xffb\"", "\"\xc3\"", `"\ud83d"`, `"\udc00"`, `"\ud83dx"`, `"\ud83d\ud83d\ude00"`,
	`"` + strings.Repeat("long ", 100) + `"`,
}

var places = []place{
	{"Pod", `{"spec":{"nodeName":`, `}}`, append(append([]string{}, oddValues...), oddTexts...)},
	{"Pod", `{"spec":{"hostNetwork":`, `}}`, append([]string{`"true"`, "True"}, oddValues...)},
	{"Pod", `{"spec":{"shareProcessNamespace":`, `}}`, oddValues},
	{"Pod", `{"spec":{"priority":`, `}}`, append(append([]string{}, oddValues...), oddNumbers...)},
	{"Pod", `{"spec":{"activeDeadlineSeconds":`, `}}`, append(append([]string{}, oddValues...), oddNumbers...)},
	{"Pod", `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":`, `}]}]}}`, append(append([]string{}, oddValues...), oddNumbers...)},
	{"Pod", `{"spec":{"containers":`, `}}`, append([]string{"[{}]", "[{},null,{}]", `[{"name":null}]`, "[[]]"}, oddValues...)},
	{"Pod", `{"spec":{"containers":[{"args":`, `}]}}`, append([]string{`["a",null,"b"]`, `[["a"]]`}, oddValues...)},
	{"Pod", `{"spec":{"containers":[{"name":"c","securityContext":`, `}]}}`, append([]string{`{"capabilities":{"add":["A"]}}`, `{"capabilities":null}`}, oddValues...)},
	{"Pod", `{"spec":{"containers":[{"name":"c","livenessProbe":{"httpGet":{"port":`, `}}}]}}`, append(append([]string{}, oddValues...), oddNumbers...)},
	{"Pod", `{"spec":{"containers":[{"name":"c","livenessProbe":`, `}]}}`, append([]string{`{"exec":{}}`, `{"exec":null,"periodSeconds":1}`, `{"tcpSocket":{"port":1},"initialDelaySeconds":null}`}, oddValues...)},
	{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":`, `}]}}`, append([]string{`{"sizeLimit":null}`, `{"medium":"Memory"}`}, oddValues...)},
	{"Pod", `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":`, `}}}]}}`, append(append([]string{}, oddValues...), oddQuantities...)},
	{"Pod", `{"spec":{"containers":[{"name":"c","resources":{"limits":`, `}}]}}`, oddValues},
	{"Pod", `{"metadata":{"labels":`, `}}`, append([]string{`{"a":1}`, `{"a":null}`, `{"":""}`, `{"a":{}}`}, oddValues...)},
	{"Pod", `{"metadata":{"creationTimestamp":`, `}}`, append(append([]string{}, oddValues...), oddTimes...)},
	{"Pod", `{"metadata":{"deletionTimestamp":`, `}}`, append(append([]string{}, oddValues...), oddTimes...)},
	{"Pod", `{"metadata":{"generation":`, `}}`, append(append([]string{}, oddValues...), oddNumbers...)},
	{"Pod", `{"metadata":{"managedFields":[{"fieldsV1":`, `}]}}`, append([]string{`{"f:a":{"b":[1,2.50,"x"]}}`, `"text"`, `{ "a" : 1 }`}, oddValues...)},
	{"Pod", `{"metadata":`, `}`, oddValues},
	{"Pod", `{"spec":`, `}`, oddValues},
	{"Pod", `{"status":{"conditions":[{"lastTransitionTime":`, `}]}}`, oddValues},
	{"Pod", `{"status":{"containerStatuses":[{"name":"c","state":{"running":{"startedAt":`, `}}}]}}`, append(append([]string{}, oddValues...), oddTimes...)},
	{"Pod", `{"kind":`, `}`, []string{`"Pod"`, "null", "5", "[]", `""`}},
	{"Pod", `{"apiVersion":`, `}`, []string{`"v1"`, "null", "5", "{}", `""`}},
	{"Secret", `{"data":`, `}`, append([]string{`{"k":"AAEC"}`, `{"k":"AAE"}`, `{"k":null}`, `{"k":""}`, `{"k":1}`, `{"k":"AA EC"}`, `{"k":"AAE\n="}`, `{"k":"_-8="}`, `{"k":[0,1]}`}, oddValues...)},
	{"Secret", `{"stringData":`, `}`, oddValues},
	{"Secret", `{"immutable":`, `}`, oddValues},
	{"ConfigMap", `{"binaryData":`, `}`, append([]string{`{"k":"/w=="}`}, oddValues...)},
	{"Event", `{"eventTime":`, `}`, append(append([]string{}, oddValues...), oddTimes...)},
	{"Event", `{"firstTimestamp":`, `}`, oddTimes},
	{"Event", `{"series":{"lastObservedTime":`, `}}`, oddTimes},
	{"Lease", `{"spec":{"renewTime":`, `}}`, append(append([]string{}, oddValues...), oddTimes...)},
	{"Lease", `{"spec":`, `}`, oddValues},
	{"Node", `{"status":{"capacity":{"cpu":`, `}}}`, oddQuantities},
	{"Node", `{"status":{"images":[{"names":`, `}]}}`, oddValues},
	{"Node", `{"status":{"daemonEndpoints":`, `}}`, append([]string{`{"kubeletEndpoint":{"Port":10250}}`, `{"kubeletEndpoint":{"port":10250}}`}, oddValues...)},
	{"Node", `{"spec":{"taints":`, `}}`, append([]string{`[{"key":"a","effect":"NoSchedule","timeAdded":null}]`}, oddValues...)},
}

var others = []object{
	{"Pod", ""}, {"Pod", " "}, {"Pod", "null"}, {"Pod", "[]"}, {"Pod", "5"}, {"Pod", `"a"`}, {"Pod", "{}"}, {"Pod", " {} "}, {"Pod", "{}\n"}, {"Pod", "{} {}"}, {"Pod", "{}x"}, {"Pod", "\ufeff{}"}, {"Pod", "{"}, {"Pod", "{]"}, {"Pod", `{"spec":{}`},
	{"Pod", `{"spec":{},}`}, {"Pod", `{"spec":{"containers":[{},]}}`}, {"Pod", `{spec:{}}`}, {"Pod", `{'spec':{}}`}, {"Pod", `{"spec":{}}//c`}, {"Pod", `/*c*/{}`}, {"Pod", "{\"spec\"\t:\r\n{}}"}, {"Pod", "{\"spec\"\v:{}}"}, {"Pod", `{"spec" {}}`},
	{"Pod", `{"spec":{"nodeNam":"a"}}`}, {"Pod", `{"Spec":{"nodeName":"a"}}`}, {"Pod", `{"spec":{"NodeName":"a"}}`}, {"Pod", `{"spec":{"nodename":"a","nodeName":"b"}}`}, {"Pod", `{"KIND":"Pod","APIVersion":"v1"}`}, {"Pod", `{"spec":{"containers":[{"Name":"a","image":"b"}]}}`},
	{"Pod", `{"spec":{"x":{"y":[1,{"z":null}]}}}`}, {"Pod", `{"x":1,"y":2,"x":3}`}, {"Pod", `{"":1}`}, {"Pod", `{"spec":{"":1}}`}, {"Pod", `{"spec":{"node\u004eame":"a"}}`}, {"Pod", `{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":1,"x":1},"y":2}}]}}`},
	{"Pod", `{"spec":{"nodeName":"a","nodeName":"b"}}`}, {"Pod", `{"spec":{"priority":1,"priority":2}}`}, {"Pod", `{"metadata":{"labels":{"k":"1","k":"2"}}}`}, {"Pod", `{"metadata":{"labels":{"k":"1","j":"3","k":"2","k":"4"}}}`}, {"Pod", `{"kind":"Pod","kind":"Pod"}`},
	{"Pod", `{"metadata":{"name":"a"},"metadata":{"name":"b"}}`}, {"Pod", `{"metadata":{"name":"a"},"metadata":{"uid":"b"}}`}, {"Pod", `{"spec":{"nodeName":"a","nodeName":null}}`}, {"Pod", `{"metadata":{"labels":{"a":"1"},"labels":{"b":"2"}}}`}, {"Pod", `{"spec":{"containers":[{"name":"a"}],"containers":[{"image":"b"}]}}`},
	{"Pod", `{"spec":{"containers":[{"args":["a","b"],"args":["c"]}]}}`}, {"Pod", `{"spec":{"containers":[{"livenessProbe":{"periodSeconds":1,"exec":{},"periodSeconds":2}}]}}`}, {"Pod", `{"spec":{"nodeName":"a","nodeName":5}}`}, {"Pod", `{"spec":{"nodeName":5,"nodeName":"a"}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/x"},"x":1}]}}`}, {"Pod", `{"spec":{"volumes":[{"emptyDir":{},"name":"v","secret":{"secretName":"s"}}]}}`}, {"Pod", `{"kind":"Pod","apiVersion":"v1","spec":{},"status":{},"metadata":{}}`}, {"Pod", `{"metadata":{"kind":"x"},"spec":{"kind":"y"}}`},
	{"Pod", `{"metadata":{"managedFields":[{"fieldsV1":{"a":1,"a":2}}]}}`}, {"Pod", `{"metadata":{"name":"a\u0000b"}}`}, {"Pod", `{"metadata":{"annotations":{"a\u00e9":"b"}}}`}, {"Pod", `{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z","deletionTimestamp":"0001-01-01T00:00:00Z"}}`},
	{"Pod", `{"spec":{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`}, {"Pod", `{"metadata":{"managedFields":[{"fieldsV1":` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100) + `}]}}`},
	{"Node", `{"metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"],"unschedulable":true},"status":{"capacity":{"cpu":"8","memory":"32Gi"},"allocatable":{"cpu":"7900m"},"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-02T03:04:05Z","lastTransitionTime":null}],"addresses":[{"type":"Hostname","address":"n"}],"nodeInfo":{"machineID":"x"}}}`},
	{"Node", `{"status":{"nodeInfo":{}}}`}, {"Node", `{"status":{"volumesInUse":null,"volumesAttached":[]}}`}, {"Lease", `{"metadata":{"name":"n"},"spec":{"holderIdentity":"n","leaseDurationSeconds":40}}`}, {"ConfigMap", `{"data":{"a":"b","c":""},"immutable":false}`},
	{"Secret", `{"type":"Opaque","data":{"b":"","a":"eA=="}}`}, {"Event", `{"involvedObject":{"kind":"Pod","name":"p"},"count":1,"source":{},"series":null}`},
}

func objects() []object {
	all := append([]object{}, others...)
	for _, p := range places {
		for _, value := range p.values {
			all = append(all, object{p.kind, p.before + value + p.after})
		}
	}
	return all
}
