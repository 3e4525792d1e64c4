// Instruction sets that kernels are compiled for, and the best one of the running machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mase::formats::kernels {

enum class Isa : std::uint8_t { portable, avx2, avx512 };

std::string_view isa_name(Isa isa);
bool is_available(Isa isa);         ///< compiled in and supported by this machine
std::vector<Isa> available_isas();  ///< from portable to the best
Isa best_isa();                     ///< found once

}  // namespace mase::formats::kernels
