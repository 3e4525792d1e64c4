// Opens the LibTorch part on first use and keeps it for the life of the process.
#include "backend/backend.hpp"

#include <optional>

#include "base/library.hpp"

namespace mase::backend {
namespace {

std::optional<int> wanted_threads;
Backend* opened = nullptr;

Backend* open_backend() {
  using Factory = Backend* (*)();
  return reinterpret_cast<Factory>(open_library(
      "libmase_torch.so", "mase_backend", LibraryScope::global, "the LibTorch part", "LibTorch"))();
}

}  // namespace

Backend& open() {
  if (opened == nullptr) {
    opened = open_backend();
    if (wanted_threads) opened->set_threads(*wanted_threads);
  }
  return *opened;
}

void set_threads(int threads) {
  wanted_threads = threads;
  if (opened != nullptr) opened->set_threads(threads);
}

}  // namespace mase::backend
