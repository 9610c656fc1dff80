#!/usr/bin/env bash
# Change lab3.py in every way that cosmic-ray knows, and see whether a test notices.
# It works on clones of what is committed, two at a time, never on the checkout itself.
set -euo pipefail
set -m  # the workers get a process group, to be ended as one
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
folder="$(mktemp -d)"
session="$folder/session.sqlite"

TMPDIR="$folder" cr-http-workers tests/cosmic_ray.toml "$PWD" > "$folder/log" 2>&1 &
workers=$!
trap 'kill -INT -- "-$workers"; rm -rf "$folder"' EXIT
sleep 5
if grep -i "address already in use" "$folder/log"; then exit 1; fi

cosmic-ray init tests/cosmic_ray.toml "$session"
cosmic-ray baseline tests/cosmic_ray.toml
cosmic-ray exec tests/cosmic_ray.toml "$session"
cr-report --show-diff --surviving-only "$session"
