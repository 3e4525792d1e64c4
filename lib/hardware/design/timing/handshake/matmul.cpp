// SPDX-License-Identifier: Apache-2.0
// The counters of a product of streams.
#include "hardware/design/timing/handshake/matmul.hpp"

namespace mase::design {
namespace {

/// Beats of a frame of matrices.
std::int64_t matrix_beats(const ModuleParameters& p) {
  const char* banks = p.integer("TRANSPOSED") != 0 ? "SIMD" : "PE";
  return p.integer("SETS") * p.integer("NF") * p.integer("SF") * p.integer(banks);
}

}  // namespace

MatmulHandshake::MatmulHandshake(const ModuleParameters& p, Stages kept)
    : steps_(p.integer("SF"), p.integer("NF")),
      rows_(p.integer("SETS") * p.integer("REPEAT") * p.integer("ROUNDS")),
      beats_(matrix_beats(p)),
      pipe_(accumulate_stages({read_group<Operands>(p), {}, read_group<Multiplication>(p), {}},
                              p.integer("SIMD")),
            kept) {}

bool MatmulHandshake::advance() {
  if (!steps_.step() || ++row_ < rows_) return false;
  row_ = 0;
  return true;
}

void MatmulHandshake::clock(std::span<const std::uint8_t> taken,
                            std::span<const std::uint8_t> given) {
  const bool step = pipe_.enable() && (!steps_.waits() || taken[0] != 0);
  pipe_.step(step && steps_.ends_pass(), given[0] != 0);
  if (step && advance()) --full_;
  if (taken[1] == 0 || ++beat_ < beats_) return;
  beat_ = 0;
  ++full_;
}

}  // namespace mase::design
