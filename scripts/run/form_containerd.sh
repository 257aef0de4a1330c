# ./dev run: static pods on a containerd of its own, in namespaces of its own. Sourced by node.sh.

runtime_endpoint=unix:///run/containerd/containerd.sock # as seen inside

# begin_runtime: containerd, which ends with this script at the latest. Sets cgroup.
begin_runtime() {
  echo "Starting containerd"
  containerd.sh up "$folder/containerd" --owner $$ --minutes 0 9>&-
  # shellcheck source=/dev/null
  . "$folder/containerd/settings"
  program ctr "exec $e2e/containerd.sh use $folder/containerd ctr \"\$@\""
}

runtime_config=("cgroupDriver: cgroupfs" "cgroupsPerQOS: false")

begin_containerd() {
  begin_runtime
  cp "$root"/samples/static/*.yaml "$folder/manifests"
  write_config "${alone[@]}" "${runtime_config[@]}" "cgroupRoot: $cgroup"
  start agent "$e2e/containerd.sh" use "$folder/containerd" "${agent_command[@]}" --container-runtime-endpoint "$runtime_endpoint"
  agent=$pid
}

hints_containerd() {
  cat <<HINTS
To try, in another terminal:
  $shown/ctl pods                  $shown/ctl pod server-$node
  $shown/ctl pleg                  $shown/ctl metrics
  $shown/ctr tasks ls              # containers, as containerd has them
  $shown/ctr tasks kill -s KILL CONTAINER
  rm $shown/manifests/crash.yaml   # the files there are the pods; write some of your own
Logs: $shown/agent.log of the agent, $shown/logs of containers. Ctrl-C ends all.
HINTS
}

end_containerd() { containerd.sh down "$folder/containerd"; }
