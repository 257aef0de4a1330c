#!/usr/bin/env bash
# import.sh FOLDER: imports the archives in FOLDER where CRI looks for images. containerd's CRI hears of them by an event.
set -euo pipefail
for archive in "$1"/*.tar; do ctr --namespace k8s.io images import "$archive"; done
