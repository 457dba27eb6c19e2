# Stages that run beside others: sourced by scripts/test and .ci/run. Each keeps what it prints until it is joined, so that
# nothing is mixed; what still runs when the script ends, however it ends, is ended with all that it started.
kept="$(mktemp -d)"

beside() { # beside NAME COMMAND…: start it
  set -m # a process group of its own
  "${@:2}" >"$kept/$1.out" 2>&1 &
  set +m
  echo $! >"$kept/$1.group"
}

joined() { # joined NAME: wait for it, print what it said, and give its exit code
  local code=0
  wait "$(<"$kept/$1.group")" || code=$?
  rm "$kept/$1.group"
  cat "$kept/$1.out"
  return $code
}

end_stages() { # for the EXIT trap
  local group
  for group in "$kept"/*.group; do
    [[ ! -f "$group" ]] || kill -- "-$(<"$group")" 2>/dev/null || true
  done
  rm -rf "$kept"
}
