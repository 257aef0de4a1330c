package main

type pair struct{ kind, before, after string }

const (
	podA = `{"metadata":{"name":"web","namespace":"default","uid":"1","labels":{"app":"web","tier":"front"},"annotations":{"note":"a"}},
"spec":{"nodeName":"n1","containers":[{"name":"main","image":"nginx:1","ports":[{"containerPort":80,"name":"http"},{"containerPort":443}],
"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"conf","mountPath":"/etc/conf","readOnly":true}]},
{"name":"side","image":"envoy"}],"volumes":[{"name":"data","emptyDir":{}},{"name":"conf","configMap":{"name":"conf"}}],
"tolerations":[{"key":"a","operator":"Exists"}],"imagePullSecrets":[{"name":"one"},{"name":"two"}],"hostAliases":[{"ip":"10.0.0.1","hostnames":["x","y"]}]},
"status":{"phase":"Pending","conditions":[{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"},
{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"containers with unready status: [main]","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"},
{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"}],
"qosClass":"BestEffort","containerStatuses":[{"name":"main","state":{"waiting":{"reason":"ContainerCreating"}},"lastState":{},"ready":false,"restartCount":0,"image":"nginx:1","imageID":"","started":false}]}}`
	podB = `{"metadata":{"name":"web","namespace":"default","uid":"1","labels":{"app":"web","tier":"back","new":"x"},"finalizers":["example.com/a"]},
"spec":{"nodeName":"n1","containers":[{"name":"side","image":"envoy:2"},{"name":"main","image":"nginx:1","ports":[{"containerPort":443,"protocol":"TCP"},{"containerPort":8080}],
"env":[{"name":"B","value":"2"},{"name":"C","value":"3"}],"volumeMounts":[{"name":"conf","mountPath":"/etc/conf"},{"name":"more","mountPath":"/more"}]}],
"volumes":[{"name":"conf","secret":{"secretName":"conf"}},{"name":"data","hostPath":{"path":"/x"}},{"name":"more","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}}],
"tolerations":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}],"imagePullSecrets":[{"name":"two"}],"hostAliases":[{"ip":"10.0.0.1","hostnames":["y"]}]},
"status":{"phase":"Running","conditions":[{"type":"PodReadyToStartContainers","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:09Z"},
{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"},
{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:10Z"}],
"hostIP":"192.168.0.1","hostIPs":[{"ip":"192.168.0.1"},{"ip":"fd00::1"}],"podIP":"10.1.0.7","podIPs":[{"ip":"10.1.0.7"},{"ip":"fd01::7"}],"startTime":"2026-01-02T03:04:05Z",
"qosClass":"BestEffort","containerStatuses":[{"name":"main","state":{"running":{"startedAt":"2026-01-02T03:04:09Z"}},"lastState":{},"ready":true,"restartCount":0,"image":"nginx:1","imageID":"sha256:1","containerID":"containerd://1","started":true,
"allocatedResources":{"cpu":"100m"},"resources":{"requests":{"cpu":"100m"}},"volumeMounts":[{"name":"conf","mountPath":"/etc/conf"}],"allocatedResourcesStatus":[{"name":"claim:gpu","resources":[{"resourceID":"g1","health":"Healthy"}]}]}],
"resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"web-gpu-1"},{"name":"nic"}]}}`
	nodeA = `{"metadata":{"name":"n1","uid":"u","resourceVersion":"7","labels":{"kubernetes.io/hostname":"n1"},"annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true"}},
"spec":{"podCIDR":"10.1.0.0/24","podCIDRs":["10.1.0.0/24","fd01::/64"]},
"status":{"capacity":{"cpu":"4","memory":"16Gi","pods":"110"},"allocatable":{"cpu":"3900m","memory":"15Gi","pods":"110"},
"conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-01-02T03:04:05Z","lastTransitionTime":"2026-01-02T03:00:00Z","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available"},
{"type":"Ready","status":"False","lastHeartbeatTime":"2026-01-02T03:04:05Z","lastTransitionTime":"2026-01-02T03:00:00Z","reason":"KubeletNotReady","message":"no"}],
"addresses":[{"type":"InternalIP","address":"192.168.0.1"},{"type":"InternalIP","address":"fd00::1"},{"type":"Hostname","address":"n1"}],
"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":{"machineID":"m","systemUUID":"s","bootID":"b","kernelVersion":"6.1","osImage":"Debian","containerRuntimeVersion":"containerd://2","kubeletVersion":"v1.36.3","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"},
"images":[{"names":["a@sha256:1","a:1"],"sizeBytes":100},{"names":["b:1"],"sizeBytes":50}],"volumesInUse":["kubernetes.io/csi/x^1"],"volumesAttached":[{"name":"kubernetes.io/csi/x^1","devicePath":""}]}}`
	nodeB = `{"metadata":{"name":"n1","uid":"u","resourceVersion":"7","labels":{"kubernetes.io/hostname":"n1","zone":"z1"},"annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true","csi.volume.kubernetes.io/nodeid":"{\"x\":\"n1\"}"}},
"spec":{"podCIDR":"10.1.0.0/24","podCIDRs":["10.1.0.0/24","fd01::/64"],"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}]},
"status":{"capacity":{"cpu":"4","memory":"16Gi","pods":"110","example.com/gpu":"2"},"allocatable":{"cpu":"3900m","memory":"15Gi","pods":"120"},
"conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-01-02T03:04:15Z","lastTransitionTime":"2026-01-02T03:00:00Z","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available"},
{"type":"DiskPressure","status":"False","lastHeartbeatTime":"2026-01-02T03:04:15Z","lastTransitionTime":"2026-01-02T03:00:00Z","reason":"KubeletHasNoDiskPressure","message":"kubelet has no disk pressure"},
{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-02T03:04:15Z","lastTransitionTime":"2026-01-02T03:04:15Z","reason":"KubeletReady","message":"kubelet is posting ready status"}],
"addresses":[{"type":"InternalIP","address":"192.168.0.2"},{"type":"InternalIP","address":"fd00::1"},{"type":"Hostname","address":"n1"}],
"daemonEndpoints":{"kubeletEndpoint":{"Port":10251}},"nodeInfo":{"machineID":"m","systemUUID":"s","bootID":"c","kernelVersion":"6.1","osImage":"Debian","containerRuntimeVersion":"containerd://2","kubeletVersion":"v1.36.3","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"},
"images":[{"names":["b:1"],"sizeBytes":50}],"runtimeHandlers":[{"name":"runc","features":{"recursiveReadOnlyMounts":true}}],"features":{"supplementalGroupsPolicy":true}}}`
)

// Each is printed both ways.
var pairs = []pair{
	{"Pod", `{}`, podA},
	{"Pod", podA, podB},
	{"Pod", `{}`, podB},
	{"Pod", podA, podA},
	{"Node", nodeA, nodeB},
	{"Node", `{}`, nodeA},
	{"Node", nodeB, nodeB},
	// Order alone, of objects; one in the middle; all of them.
	{"Pod", `{"spec":{"imagePullSecrets":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`, `{"spec":{"imagePullSecrets":[{"name":"c"},{"name":"a"},{"name":"b"}]}}`},
	{"Pod", `{"spec":{"imagePullSecrets":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`, `{"spec":{"imagePullSecrets":[{"name":"a"},{"name":"c"}]}}`},
	{"Pod", `{"spec":{"imagePullSecrets":[{"name":"a"},{"name":"b"}]}}`, `{"spec":{"imagePullSecrets":[{"name":"c"},{"name":"d"}]}}`},
	{"Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[]}}`},
	{"Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{}}`},
	// Scalars that are merged.
	{"Pod", `{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"finalizers":["a","d"]}}`},
	{"Pod", `{"metadata":{"finalizers":["a","b"]}}`, `{"metadata":{"finalizers":["a","b","c"]}}`},
	{"Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{}}`},
	{"Node", `{"spec":{"podCIDRs":["10.0.0.0/24"]}}`, `{"spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]}}`},
	// Another source of the same volume; a source that goes; a claim by template.
	{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/a","type":"Directory"}}]}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/a"}}]}}`, `{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/b"}}]}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v"}]}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"a"}}]}}]}}`, `{"spec":{"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"b"}},{"configMap":{"name":"c"}}]}}]}}`},
	{"Pod", `{"spec":{"resourceClaims":[{"name":"g","resourceClaimName":"one"}]}}`, `{"spec":{"resourceClaims":[{"name":"g","resourceClaimTemplateName":"two"}]}}`},
	{"Pod", `{"status":{"resourceClaimStatuses":[{"name":"g","resourceClaimName":"one"},{"name":"h"}]}}`, `{"status":{"resourceClaimStatuses":[{"name":"g"},{"name":"h","resourceClaimName":"two"}]}}`},
	// Numbers as keys, sorted as text; several elements of one key.
	{"Pod", `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":80},{"containerPort":9},{"containerPort":443}]}]}}`, `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":443,"hostPort":1},{"containerPort":9},{"containerPort":1000}]}]}}`},
	{"Pod", `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]}]}}`, `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"UDP","name":"u"},{"containerPort":53,"protocol":"TCP"}]}]}}`},
	{"Pod", `{"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}]}}`, `{"spec":{"topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"},{"maxSkew":1,"topologyKey":"h","whenUnsatisfiable":"DoNotSchedule"}]}}`},
	// Fields of inlined structs, pointers, values of several forms, maps.
	{"Pod", `{"spec":{"containers":[{"name":"c","livenessProbe":{"httpGet":{"port":80},"periodSeconds":5}}]}}`, `{"spec":{"containers":[{"name":"c","livenessProbe":{"exec":{"command":["x"]},"periodSeconds":6}}]}}`},
	{"Pod", `{"spec":{"containers":[{"name":"c","livenessProbe":{"httpGet":{"port":80,"httpHeaders":[{"name":"a","value":"b"}]}}}]}}`, `{"spec":{"containers":[{"name":"c","livenessProbe":{"httpGet":{"port":"http","httpHeaders":[{"name":"c","value":"b"}]}}}]}}`},
	{"Pod", `{"spec":{"terminationGracePeriodSeconds":0,"shareProcessNamespace":false,"securityContext":{"runAsUser":0}}}`, `{"spec":{"terminationGracePeriodSeconds":30,"securityContext":{"runAsUser":1,"supplementalGroups":[1,2]}}}`},
	{"Pod", `{"metadata":{"annotations":{"a":"1","b":"2","q\"<&>":"\u2028\u00e9"}}}`, `{"metadata":{"annotations":{"b":"3","c":""}}}`},
	{"Pod", `{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u","controller":true}]}}`, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"m","uid":"u"},{"apiVersion":"v1","kind":"Node","name":"n","uid":"w"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"r","message":"m","lastProbeTime":"2026-01-02T03:04:05Z"}]}}`, `{"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":3}]}}`},
	// Other types that a node agent patches, or whose lists are merged.
	{"Event", `{"metadata":{"name":"e"},"involvedObject":{},"count":1,"message":"a","lastTimestamp":"2026-01-02T03:04:05Z"}`, `{"metadata":{"name":"e"},"involvedObject":{},"count":2,"message":"b","lastTimestamp":"2026-01-02T03:05:05Z"}`},
	{"PersistentVolumeClaim", `{"status":{"capacity":{"storage":"1Gi"},"conditions":[{"type":"Resizing","status":"True"}],"accessModes":["ReadWriteOnce"],"allocatedResourceStatuses":{"storage":"NodeResizeInProgress"}}}`, `{"status":{"capacity":{"storage":"2Gi"},"accessModes":["ReadWriteMany"]}}`},
	{"Service", `{"spec":{"ports":[{"port":53,"protocol":"UDP","targetPort":53},{"port":80,"targetPort":"http"}]}}`, `{"spec":{"ports":[{"port":80,"targetPort":8080}],"externalIPs":["1.2.3.4"]}}`},
	{"ServiceAccount", `{"secrets":[{"name":"a"}],"imagePullSecrets":[{"name":"a"}]}`, `{"secrets":[{"name":"b"}],"imagePullSecrets":[{"name":"b"}]}`},
	{"CSINode", `{"spec":{"drivers":[{"name":"a","nodeID":"1","topologyKeys":["z"]}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"1","topologyKeys":null,"allocatable":{"count":3}},{"name":"b","nodeID":"2","topologyKeys":[]}]}}`},
	{"CSINode", `{"spec":{"drivers":null}}`, `{"spec":{"drivers":[]}}`},
	{"ResourceClaim", `{"status":{"reservedFor":[{"resource":"pods","name":"a","uid":"1"}],"devices":[{"driver":"d","pool":"p","device":"x","conditions":null}]}}`, `{"status":{"reservedFor":[{"resource":"pods","name":"b","uid":"2"}],"devices":[{"driver":"d","pool":"p","device":"x","conditions":null,"data":{"a":{"b":[1,2.50]}}}]}}`},
	{"ConfigMap", `{"data":{"a":"1"},"binaryData":{"b":"AAEC"}}`, `{"data":{"a":"2"},"immutable":true}`},
	// No key to merge by.
	{"Pod", `{"spec":{"imagePullSecrets":[{"name":"a"},{}]}}`, `{"spec":{"imagePullSecrets":[{"name":"a"}]}}`},
}

// Objects and the patches that are applied to them.
var applies = []pair{
	// What others added meanwhile.
	{"Pod", `{"status":{"conditions":[{"type":"A"},{"type":"Foreign"},{"type":"B"}]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"B"},{"type":"A"},{"type":"C"}],"conditions":[{"type":"C","status":"True"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"},{"type":"Foreign"},{"type":"B"}]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"B"},{"type":"C"}],"conditions":[{"type":"C"},{"$patch":"delete","type":"A"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"},{"type":"F1"},{"type":"B"},{"type":"F2"},{"type":"C"}]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"C"},{"type":"D"},{"type":"E"}],"conditions":[{"type":"D"},{"type":"E"},{"$patch":"delete","type":"A"},{"$patch":"delete","type":"B"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"},{"type":"B"}]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"B"},{"type":"A"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"},{"type":"B"},{"type":"C"}]}}`, `{"status":{"conditions":[{"type":"C","status":"x"},{"type":"N"},{"type":"A","status":"y"}]}}`},
	{"Pod", `{"status":{}}`, `{"status":{"$setElementOrder/conditions":[{"type":"B"},{"type":"A"}],"conditions":[{"type":"B","reason":null},{"type":"A"},{"$patch":"delete","type":"X"}]}}`},
	{"Pod", `{"status":{}}`, `{"status":{"$setElementOrder/conditions":[{"type":"B"}]}}`},
	{"Pod", `{}`, `{"status":{"conditions":[{"type":"B","reason":null},{"$patch":"delete","type":"X"}],"phase":null,"podIP":"1"}}`},
	// Several of one key.
	{"Pod", `{"status":{"conditions":[{"type":"A","status":"1"},{"type":"B"},{"type":"A","status":"2"}]}}`, `{"status":{"conditions":[{"type":"A","status":"3"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A","status":"1"},{"type":"B"},{"type":"A","status":"2"}]}}`, `{"status":{"conditions":[{"type":"A","$patch":"delete"}]}}`},
	// Directives.
	{"Node", `{"status":{"addresses":[{"type":"InternalIP","address":"1"},{"type":"InternalIP","address":"2"},{"type":"Hostname","address":"n"}]}}`, `{"status":{"addresses":[{"type":"InternalIP","address":"3"},{"type":"InternalIP","address":"4"},{"$patch":"replace"}]}}`},
	{"Node", `{"status":{"addresses":[{"type":"InternalIP","address":"1"}]}}`, `{"status":{"addresses":[{"$patch":"replace"}]}}`},
	{"Node", `{"status":{}}`, `{"status":{"addresses":[{"type":"InternalIP","address":"3"},{"$patch":"replace"}]}}`},
	{"Pod", `{"metadata":{"labels":{"a":"1"},"annotations":{"b":"2"}}}`, `{"metadata":{"labels":{"$patch":"replace","c":"3"},"annotations":{"$patch":"delete"}}}`},
	{"Pod", `{"metadata":{"name":"n"}}`, `{"metadata":{"labels":{"$patch":"replace","c":"3"},"annotations":{"$patch":"delete"}}}`},
	{"Pod", `{"metadata":{"name":"n"},"spec":{"nodeName":"x"}}`, `{"$patch":"replace","metadata":{"uid":"1"}}`},
	{"Pod", `{"metadata":{"name":"n"}}`, `{"$patch":"delete"}`},
	{"Pod", `{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["b","x"]}}`},
	{"Pod", `{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["b"],"$setElementOrder/finalizers":["d","c"],"finalizers":["d"]}}`},
	{"Pod", `{"metadata":{"finalizers":["a","b","a"]}}`, `{"metadata":{"finalizers":["c","a"]}}`},
	{"Pod", `{"metadata":{}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"w"}]}}`, `{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/a"},"$retainKeys":["name","hostPath"]}]}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","emptyDir":null,"$retainKeys":["name"]}]}}`},
	// Lists that are replaced, scalars, other kinds of values.
	{"Pod", `{"spec":{"tolerations":[{"key":"a"}],"hostNetwork":true,"nodeName":"n"}}`, `{"spec":{"tolerations":[{"key":"b","value":null}],"hostNetwork":false,"nodeName":null}}`},
	{"Pod", `{"spec":{"containers":[{"name":"c","livenessProbe":{"httpGet":{"port":80}}}]}}`, `{"spec":{"containers":[{"name":"c","livenessProbe":{"httpGet":{"port":"http"}}}]}}`},
	{"Pod", `{"spec":{"containers":null}}`, `{"spec":{"containers":[{"name":"c","image":null}]}}`},
	{"Pod", `{"spec":{"containers":[]}}`, `{"spec":{"containers":[]}}`},
	{"Pod", `{"spec":{"containers":[{"name":"c"}]}}`, `{"spec":{"containers":[]}}`},
	{"Pod", `{"metadata":{"labels":null}}`, `{"metadata":{"labels":{"a":"1","b":null}}}`},
	{"Pod", `{"spec":{"nodeName":"n"}}`, `{"spec":null}`},
	{"Pod", `{}`, `{}`},
	// Malformed.
	{"Pod", `{}`, `[]`},
	{"Pod", `{}`, `{"a":`},
	{"Pod", `{"status":{}}`, `{"status":{"$patch":"merge"}}`},
	{"Pod", `{"status":{}}`, `{"status":{"$patch":"invent"}}`},
	{"Pod", `{"status":{}}`, `{"status":{"$patch":7}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"conditions":[{"$patch":"invent","type":"A"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"conditions":[{"$patch":"merge","type":"A"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"conditions":[{"$patch":"delete"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"conditions":[{"status":"x"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"conditions":["A"]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"A"}],"conditions":[{"type":"B"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"A"},{"type":"B"}],"conditions":[{"type":"B"},{"type":"A"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"$setElementOrder":[{"type":"A"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"$setElementOrder/conditions":"A"}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"$setElementOrder/invented":[{"type":"A"}]}}`},
	{"Pod", `{"status":{"conditions":[{"type":"A"}]}}`, `{"status":{"$setElementOrder/conditions":[{"status":"A"}]}}`},
	{"Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"$deleteFromPrimitiveList":["a"]}}`},
	{"Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":[7]}}`},
	{"Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":[["a"]]}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","emptyDir":{},"$retainKeys":["name"]}]}}`},
	{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","$retainKeys":"name"}]}}`},
	{"Pod", `{"invented":{"a":"1"}}`, `{"invented":{"b":"2"}}`},
}

var statusPairs = []pair{
	{"Pod", podA, podA},
	{"Pod", podA, podB},
	{"Pod", `{"metadata":{"name":"p","namespace":"d"}}`, `{"metadata":{"name":"p","namespace":"d","labels":{"a":"not told"}},"status":{"phase":"Pending"}}`},
	{"Node", nodeA, nodeA},
	{"Node", nodeA, nodeB},
	{"Node", `{"metadata":{"name":"n1"}}`, nodeA},
	{"Node", `{"metadata":{"name":"n1"},"status":{"addresses":[{"type":"InternalIP","address":"1"}]}}`, `{"metadata":{"name":"n1"}}`},
	{"Node", `{"metadata":{"name":"n1"},"status":{"addresses":[{"type":"InternalIP","address":"1"},{"type":"InternalIP","address":"2"}]}}`, `{"metadata":{"name":"n1"},"status":{"addresses":[{"type":"InternalIP","address":"2"},{"type":"InternalIP","address":"1"}]}}`},
	{"Node", `{"metadata":{"name":"n1"},"spec":{"unschedulable":true}}`, `{"metadata":{"name":"n1"},"spec":{"unschedulable":false}}`},
}
