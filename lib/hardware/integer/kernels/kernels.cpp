// Choosing the kernels of the running machine.
#include "hardware/integer/kernels/kernels.hpp"

namespace mase::integer::kernels {

std::vector<const KernelTable*> available_tables() {
  std::vector<const KernelTable*> tables{&portable_table()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) tables.push_back(&avx2_table());
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni"))
    tables.push_back(&avx512_table());
#endif
  return tables;
}

const KernelTable& best_table() {
  static const KernelTable* best = available_tables().back();
  return *best;
}

}  // namespace mase::integer::kernels
