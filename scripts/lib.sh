# Shared by the scripts, which source it from the repository root: messages, and where LibTorch is.

torch_version=2.13.0
optuna_version=5.0.0
mkdocs_version=1.6.1
torch_link=.venv/libtorch  # a link to the installed wheel's torch folder, stable across Python versions

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
fail() { printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Prints the folder of TorchConfig.cmake: Torch_DIR of the environment, else the wheel in .venv.
# Prints nothing when CMake should look in the system's own places.
torch_dir() {
  if [ -n "${Torch_DIR:-}" ]; then
    printf '%s\n' "$Torch_DIR"
  elif [ -f "$torch_link/share/cmake/Torch/TorchConfig.cmake" ]; then
    printf '%s\n' "$PWD/$torch_link/share/cmake/Torch"
  fi
}
