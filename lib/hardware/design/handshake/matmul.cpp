// SPDX-License-Identifier: Apache-2.0
// The counters of a product of streams.
#include "hardware/design/handshake/matmul.hpp"

#include <algorithm>

#include "hardware/design/handshake/linear.hpp"

namespace mase::design {
namespace {

/// Beats of a frame of matrices.
std::int64_t matrix_beats(const ModuleParameters& p) {
  const char* banks = p.integer("TRANSPOSED") != 0 ? "SIMD" : "PE";
  return p.integer("SETS") * p.integer("NF") * p.integer("SF") * p.integer(banks);
}

}  // namespace

MatmulHandshake::MatmulHandshake(const ModuleParameters& p, Stages kept)
    : columns_(p.integer("SF")),
      passes_(p.integer("NF")),
      rows_(p.integer("SETS") * p.integer("REPEAT") * p.integer("ROUNDS")),
      beats_(matrix_beats(p)),
      pipe_(accumulate_stages(p, p.integer("SIMD")), kept) {}

bool MatmulHandshake::advance() {
  if (++column_ < columns_) return false;
  column_ = 0;
  if (++pass_ < passes_) return false;
  pass_ = 0;
  if (++row_ < rows_) return false;
  row_ = 0;
  return true;
}

void MatmulHandshake::clock(std::span<const std::uint8_t> taken,
                            std::span<const std::uint8_t> given) {
  const bool step = pipe_.enable() && (pass_ != 0 || taken[0] != 0);
  pipe_.step(step && column_ == columns_ - 1, given[0] != 0);
  if (step && advance()) --full_;
  if (taken[1] == 0 || ++beat_ < beats_) return;
  beat_ = 0;
  ++full_;
}

/// As that of a linear.
std::int64_t MatmulHandshake::quiet() const {
  if (pass_ == 0 || !pipe_.enable()) return pipe_.quiet();
  return std::min(pipe_.quiet(), columns_ - 1 - column_);
}

void MatmulHandshake::skip(std::int64_t edges) {
  pipe_.skip(edges);
  if (pass_ != 0) column_ += edges;
}

}  // namespace mase::design
