#!/usr/bin/env bash
# A real control plane for tests: etcd and kube-apiserver, where asked for also kube-controller-manager and
# kube-scheduler, on free ports of the loopback, with certificates of their own. It is ready in a few seconds.
#
#   control_plane.sh up FOLDER [--owner PID] [--minutes N]   starts one in FOLDER and returns when it is ready
#   control_plane.sh use FOLDER [--with LIST] COMMAND...     runs the command in its environment
#   control_plane.sh down FOLDER                             stops it and removes FOLDER
#   control_plane.sh run [--with LIST] COMMAND...            the three in one, in a folder that nobody else has
#
# LIST is of controller-manager and scheduler, with commas between; what is started once stays until the end.
# An instance ends by itself when its owner (up: the caller) is gone, or after N minutes (15; 0: never).
#
# A command that it runs sees kubectl in its PATH and
#   KUBECONFIG, DENSELET_KUBECONFIG   a cluster administrator's
#   DENSELET_APISERVER                127.0.0.1:PORT
#   DENSELET_PKI                      a folder: NAME.crt and NAME.key of ca, admin (system:masters) and others, and
#                                     other-ca.crt, which signed nothing here
#   DENSELET_CONTROL_PLANE            FOLDER: run/NAME.pid and log/NAME.log of each process, and node-audit.jsonl, what
#                                     nodes have asked
# and may call
#   control_plane.sh start|stop|restart NAME   one of etcd, kube-apiserver, kube-controller-manager, kube-scheduler
#   control_plane.sh compact REVISION          makes etcd forget what was before; the API server may remember some of it
#   control_plane.sh node-kubeconfig NODE      prints a kubeconfig with the client certificate of that node
#   control_plane.sh bootstrap-kubeconfig      prints one with a token that may ask for a node's certificate
# Tests share an instance: each keeps to a namespace of its own.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in pki credentials components instance; do
  # shellcheck source=/dev/null
  . "$here/control_plane/$part.sh"
done

die() {
  echo "control_plane.sh: $*" >&2
  exit 1
}

# take_options ARGS...: sets with, owner and minutes, and rest to what is left.
take_options() {
  with=() owner=$PPID minutes=15
  while [ $# -gt 0 ]; do
    case $1 in
      --with) IFS=, read -r -a with <<<"${2:?}" ;;
      --owner) owner=${2:?} ;;
      --minutes) minutes=${2:?} ;;
      *) break ;;
    esac
    shift 2
  done
  rest=("$@")
}

verb_up() {
  folder=$(realpath -m -- "${1:?which folder?}")
  take_options "${@:2}"
  trap end_supervisor EXIT # when it does not become ready
  bring_up
  trap - EXIT
}

verb_use() {
  folder=$(realpath -m -- "${1:?which folder?}")
  take_options "${@:2}"
  trap end_command EXIT
  enter_instance
  run_inside
}

verb_down() {
  folder=$(realpath -m -- "${1:?which folder?}")
  check_folder
  end_supervisor
  rm -rf "$folder"
}

verb_run() {
  take_options "$@"
  owner=$$
  folder=$(mktemp -d)
  trap 'end_command; verb_down "$folder"' EXIT
  bring_up temporary
  enter_instance
  run_inside
}

trap 'exit 130' INT
trap 'exit 143' TERM
verb=${1:-help}
[ $# -gt 0 ] && shift
case $verb in
  up | use | down | run) "verb_$verb" "$@" ;;
  start | stop | restart | compact | node-kubeconfig | bootstrap-kubeconfig)
    folder=${DENSELET_CONTROL_PLANE:?run this inside of an instance}
    case $verb in
      start | restart) ask_supervisor "$verb" "${1:?which process?}" && wait_until_ready "$1" ;;
      stop) ask_supervisor stop "${1:?which process?}" && wait_until_gone "$1" ;;
      compact) compact_etcd "${1:?up to which revision?}" ;;
      node-kubeconfig) node_kubeconfig "${1:?which node?}" ;;
      bootstrap-kubeconfig) bootstrap_kubeconfig ;;
    esac
    ;;
  help | -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" ;;
  *) die "unknown verb '$verb' (control_plane.sh help)" ;;
esac
