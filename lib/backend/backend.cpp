// SPDX-License-Identifier: Apache-2.0
// Opens the LibTorch part on first use and keeps it open until the process ends.
#include "backend/backend.hpp"

#include <optional>

#include "backend/isolated.hpp"
#include "backend/libtorch.hpp"
#include "base/error.hpp"
#include "base/library.hpp"
#include "base/log.hpp"
#include "sandbox/policy.hpp"

namespace mase::backend {
namespace {

std::optional<int> wanted_threads;
std::string wanted_device = "cpu", device_in_use = "cpu";
int wanted_local_rank = 0;
Backend* opened = nullptr;

Backend* open_part() {
  using Factory = Backend* (*)();
  return reinterpret_cast<Factory>(open_library(
      "libmase_torch.so", "mase_backend", LibraryScope::global, "the LibTorch part", "LibTorch"))();
}

/// After the sandbox is entered, because drivers start threads.
void use_device() {
  device_in_use = opened->set_device(wanted_device, wanted_local_rank);
  if (wanted_device == "auto") log::info("device auto is " + device_in_use);
}

/// Opens it with the LibTorch that MASE_LIBTORCH names, otherwise with the one that it was linked
/// to, otherwise with the first one found on this machine.
Backend* open_backend() {
  if (libtorch_version().empty()) return open_part();
  load_chosen_libtorch();
  try {
    return open_part();
  } catch (const Error&) {
    const std::vector<std::string> folders = find_libtorch();
    if (folders.empty() || !loaded_libtorch().empty()) throw;
    load_libtorch(folders.front());
  }
  return open_part();
}

/// Loads LibTorch's libraries, which are trusted, before the sandbox is entered, because models
/// need not read the places where they are. Without a sandbox, this process reads model files.
Backend* open_wanted() {
  Backend* const inner = open_backend();
  if (sandbox::chosen() == sandbox::Mode::off) return inner;
  sandbox::may_read(loaded_libtorch());
  // pip puts the libraries of CUDA beside the package, and they open others of them when needed.
  if (wanted_device != "cpu") sandbox::may_read(loaded_libtorch() + "/../../nvidia");
  sandbox::enter();
  static const std::unique_ptr<Backend> outer = isolated(*inner);
  return outer.get();
}

}  // namespace

std::string no_tensor_argument(const std::string& name, const std::string& type) {
  return "the model's argument '" + name + "' is a " + type +
         ", but inputs must be tensors. Fix a number or text with --fix or [cf_args]; "
         "for a list or dict, wrap the model in a module whose forward takes tensors";
}

Backend& open() {
  if (opened == nullptr) {
    opened = open_wanted();
    if (wanted_threads) opened->set_threads(*wanted_threads);
    if (wanted_device != "cpu") use_device();
  }
  return *opened;
}

void set_device(const std::string& name, int local_rank) {
  wanted_device = name;
  wanted_local_rank = local_rank;
  if (name != "cpu") sandbox::may_use_accelerators();
}

const std::string& device() { return device_in_use; }

bool is_open() { return opened != nullptr; }

void set_threads(int threads) {
  wanted_threads = threads;
  if (opened != nullptr) opened->set_threads(threads);
}

}  // namespace mase::backend
