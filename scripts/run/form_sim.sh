# ./dev run --sim N: static pods on the simulated runtime. Sourced by node.sh.

# Mostly servers; of each hundred one that crashes, one short job, and ten with an init container and a sidecar.
sim_manifest() { # NUMBER
  local name=server policy=Always command='sleep inf' init=
  case $(($1 % 100)) in
    7) name=crash command='sleep 1; exit 3' ;;
    11) name=job policy=OnFailure command='sleep 3; exit 0' ;;
    20 | 21 | 22 | 23 | 24 | 25 | 26 | 27 | 28 | 29)
      name=sidecar
      init="
  initContainers:
  - {name: prepare, image: example.org/prepare:1, command: [sh, -c, exit 0]}
  - {name: side, image: example.org/side:1, restartPolicy: Always}"
      ;;
  esac
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s-%s, namespace: default}\nspec:\n  restartPolicy: %s\n  terminationGracePeriodSeconds: 1%s\n  containers:\n  - {name: main, image: example.org/main:1, command: [sh, -c, "%s"]}\n' \
    "$name" "$1" "$policy" "$init" "$command"
}

begin_sim() {
  local i
  for ((i = 0; i < pods; ++i)); do sim_manifest "$i" >"$folder/manifests/pod-$i.yaml"; done
  write_config "${alone[@]}" "maxPods: $((pods + 10))"
  start cri_sim "$cri_sim" --socket "$sockets/runtime.sock" --control "$sockets/control.sock" --image-folder "$folder" \
    --latency 'RunPodSandbox=20ms' --latency 'StartContainer=5ms'
  soon "the start of the simulated runtime" "$pid" test -S "$sockets/runtime.sock"
  program ask "exec $cri_sim --ask $sockets/control.sock \"\$@\""
  start agent "${agent_command[@]}" --container-runtime-endpoint "unix://$sockets/runtime.sock"
  agent=$pid
}

hints_sim() {
  cat <<HINTS
To try, in another terminal:
  $shown/ctl pods                  $shown/ctl pod server-0-$node
  $shown/ctl pleg                  $shown/ctl metrics
  $shown/ask '{"do":"exit","pod":"default/server-0-$node","container":"main","code":1}'
  $shown/ask '{"do":"crash","downtime":"5s","keepState":true}'
  rm $shown/manifests/pod-0.yaml
Logs: $shown/agent.log of the agent, $shown/logs of containers. Ctrl-C ends all.
HINTS
}

end_sim() { :; }
