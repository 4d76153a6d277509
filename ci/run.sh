#!/usr/bin/env bash
# Everything that a submission must pass, from nothing but Python 3.11 or newer.
# README.md of this folder says what runs where, and why in this order.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PYTHONPATH PYTHONHOME

python3 -c 'import sys
if sys.version_info < (3, 11):
  sys.exit(f"python3 is {sys.version.split()[0]}: gnomon needs Python 3.11 or newer")'

# An environment of our own: packages that lie about on the machine prove nothing, and
# some systems refuse to install into their Python.
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place"
. "$place/bin/activate"

failed=()
step() {
  printf '\n=== %s (after %d s)\n' "$*" "$SECONDS"
  "$@" || failed+=("$*")  # the rest still runs, so that one run shows everything
}

python3 -m pip install --quiet nox
step python3 -m nox -s static docs
step python3 -m nox -s digits
step python3 -m nox -s "jaxlib(newest)"
# the README's command, last, so that its closing line is the run's
step bash -c 'python3 -m pip install nox && python3 -m nox -s tests'

printf '\n=== %d s\n' "$SECONDS"
if ((${#failed[@]})); then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
