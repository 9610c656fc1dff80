#!/usr/bin/env bash
# Change lab3.py in every way that cosmic-ray knows, and see whether a test notices.
# It works on clones of what is committed, two at a time, never on the checkout itself.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
session="$(mktemp -d)/session.sqlite"

cr-http-workers tests/cosmic_ray.toml "$PWD" > "$session.log" 2>&1 &
trap 'kill %1' EXIT
sleep 5

cosmic-ray init tests/cosmic_ray.toml "$session"
cosmic-ray baseline tests/cosmic_ray.toml
cosmic-ray exec tests/cosmic_ray.toml "$session"
cr-report --show-diff --surviving-only "$session"
