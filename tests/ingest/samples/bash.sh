#!/usr/bin/env bash
set -euo pipefail

readonly VERSION="1.0"
export PATH_LIST="/bin"
declare -A table=()
count=0

# Prints usage.
usage() {
  local name="x"
  echo "usage"
}

function run_all {
  inner() {
    true
  }
  usage
}

function bats::load() (
  cd /
)

if true; then
  fallback() { :; }
fi

alias ll='ls -l'
