// SPDX-License-Identifier: Apache-2.0
// The format `binary` in TorchScript.
#include "base/error.hpp"
#include "formats/low_bit/binary.hpp"
#include "formats/slices_torchscript.hpp"

namespace mase::formats {

std::string Binary::torchscript(int rank) const {
  const BinarySpec binary = spec();
  if (binary.stochastic)
    unsupported_error(
        "stochastic signs have no TorchScript form that gives the same numbers; use "
        "stochastic=false to write a checkpoint");
  const bool exact = binary.profile == Profile::exact;
  const std::string in = binary.scaled ? "rows" : "x";
  std::string values = "torch.where(torch." + std::string(bipolar ? "ge(" : "gt(") + in +
                       ", 0.0), torch.ones_like(" + in + "), torch.full_like(" + in + ", " +
                       (bipolar ? "-1.0" : "0.0") + "))";
  if (!binary.scaled) return return_torchscript(values, in, exact);
  const std::string chosen =
      exact ? "torch.isfinite(rows)" : "torch.ones_like(rows, dtype=torch.bool)";
  return slices_torchscript(rank) + mean_torchscript("alpha", chosen, binary.profile) +
         return_torchscript(values + " * alpha.to(torch.float32)", in, exact);
}

}  // namespace mase::formats
