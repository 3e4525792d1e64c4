# SPDX-License-Identifier: Apache-2.0
# Keeps the figures of benchmarks: sourced by scripts/bench/run.

# keep_figures HISTORY TITLE COMMAND...: runs a benchmark and shows what it prints. The title and its standard output
# are added to the history, with file names as they are from here. What it complains of is only shown: of a crash the
# history has the status.
keep_figures() {
  local history=$1 status=0
  printf '\n=== %s\n' "$2" | tee -a "$history"
  "${@:3}" | sed -u "s|$PWD/||g" | tee -a "$history" || status=${PIPESTATUS[0]}
  [ "$status" -eq 0 ] || printf 'ended with status %d\n' "$status" | tee -a "$history"
  return "$status"
}
