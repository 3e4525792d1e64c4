// SPDX-License-Identifier: Apache-2.0
// LibTorch runs code of a file before anybody asks it to: while it loads a file it folds what is
// computed from numbers and text alone. So its registry of
// operators is what has to be safe.
#pragma once

namespace mase::libtorch {

/// While one exists, the operators of LibTorch's registry that are not allowed fail when this
/// thread runs them, and those with demands look at their arguments first. The first one of the
/// process changes the registry. It stands where TorchScript of a file is loaded or evaluated.
class RegistryGuard {
 public:
  RegistryGuard();
  ~RegistryGuard();
  RegistryGuard(const RegistryGuard&) = delete;
  RegistryGuard& operator=(const RegistryGuard&) = delete;
};

}  // namespace mase::libtorch
