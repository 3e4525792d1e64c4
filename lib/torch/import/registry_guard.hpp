// SPDX-License-Identifier: Apache-2.0
// While LibTorch loads a file, it already runs code: it folds expressions that depend only on
// numbers and text. Therefore the registry of operators itself
// must be made safe.
#pragma once

namespace mase::libtorch {

/// While an object exists, operators of LibTorch's registry that are not allowed fail if this
/// thread runs them, and operators with demands check their arguments first. The first object of
/// the process changes the registry. Use one wherever TorchScript of a file is loaded or evaluated.
class RegistryGuard {
 public:
  RegistryGuard();
  ~RegistryGuard();
  RegistryGuard(const RegistryGuard&) = delete;
  RegistryGuard& operator=(const RegistryGuard&) = delete;
};

}  // namespace mase::libtorch
