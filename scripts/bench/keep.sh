# SPDX-License-Identifier: Apache-2.0
# Keeps the figures of benchmarks: sourced by scripts/bench/run.

# keep_figures HISTORY NAME TITLE COMMAND...: runs a benchmark and shows what it prints. Its name, its title and its
# standard output are added to the history, with file names as they are from here. What it complains of is only shown:
# of a crash the history has the status.
keep_figures() {
  local history=$1 status=0
  printf '\n=== %s: %s\n' "$2" "$3" | tee -a "$history"
  "${@:4}" | sed -u "s|$PWD/||g" | tee -a "$history" || status=${PIPESTATUS[0]}
  [ "$status" -eq 0 ] || printf 'ended with status %d\n' "$status" | tee -a "$history"
  return "$status"
}

# The machine in words that name no single one: processor, its widest vectors that kernels use, how many.
machine_kind() {
  local vectors=""
  for set in avx512f avx2; do
    if grep -qw "$set" /proc/cpuinfo; then vectors=" with ${set%f}"; break; fi
  done
  printf '%s%s, %d processors\n' "$(uname -m)" "$vectors" "$(nproc --all)"
}
