// SPDX-License-Identifier: Apache-2.0
// The kernels of the running machine.
#include "hardware/integer/running/kernels/kernels.hpp"

namespace mase::integer::kernels {

std::vector<const KernelTable*> available_tables() {
  std::vector<const KernelTable*> tables;
  for (const simd::Isa isa : simd::available_isas(simd::integer_isas))
    tables.push_back(&kernel_tables(isa));
  return tables;
}

}  // namespace mase::integer::kernels
