# SPDX-License-Identifier: Apache-2.0
# Keeps the figures of benchmarks. scripts/bench/run sources this file.

# keep_figures HISTORY NAME TITLE COMMAND...: runs a benchmark and shows what it prints. It adds the name, the title and
# the standard output to the history, with file names relative to the repository. The standard error is only shown; for
# a crash the history has the exit status.
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
