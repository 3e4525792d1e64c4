// Instruction sets that kernels are compiled for, and the best one of the running machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mase::formats::kernels {

enum class Isa : std::uint8_t { portable, avx2, avx512 };

std::string_view isa_name(Isa isa);
bool is_available(Isa isa);         ///< compiled in and supported by this machine
std::vector<Isa> available_isas();  ///< from portable to the best
Isa best_isa();                     ///< found once

/// From here on (32 MiB) the output outgrows the caches, and stores past them save reading it
/// first: a quarter of the time in bench_formats. Smaller outputs stay cached for their reader.
constexpr std::size_t streaming_count = std::size_t{8} << 20;
/// Makes streamed outputs visible to other threads.
void stream_fence();

}  // namespace mase::formats::kernels
