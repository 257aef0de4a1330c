#!/usr/bin/env bash
# corpus_test.sh PROGRAM OBJECTS: namespaces and objects that the corpus needs, then corpus_apiserver_test, and then
# kubectl: the YAML that the program left behind must be to its liking. Run by control_plane.sh use.
set -euo pipefail
program=$1 objects=$2
export DENSELET_CORPUS_NAMESPACE=corpus-$$
DENSELET_CORPUS_WORK=$(mktemp -d)
export DENSELET_CORPUS_WORK
trap 'rm -rf "$DENSELET_CORPUS_WORK"' EXIT
mkdir "$DENSELET_CORPUS_WORK/written" "$DENSELET_CORPUS_WORK/returned"

# Nothing is kept in namespace corpus: what is sent there is tried only.
for namespace in corpus "$DENSELET_CORPUS_NAMESPACE"; do
  kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace" >/dev/null
  # Where the controller manager runs it makes service accounts too, perhaps at this very moment.
  kubectl apply -n "$namespace" -f "$objects" >/dev/null 2>&1 || kubectl apply -n "$namespace" -f "$objects" >/dev/null
done

"$program"

accepted() { # FOLDER
  local files count
  files=("$DENSELET_CORPUS_WORK/$1"/*.yaml)
  count=$(kubectl apply --dry-run=server --validate=strict -f "$DENSELET_CORPUS_WORK/$1" 2>"$DENSELET_CORPUS_WORK/errors" |
    grep -c '(server dry run)$') || true
  if [ "$count" != "${#files[@]}" ]; then
    echo "kubectl took $count of ${#files[@]} manifests that were $1:" >&2
    cat "$DENSELET_CORPUS_WORK/errors" >&2
    return 1
  fi
}
accepted written
accepted returned
