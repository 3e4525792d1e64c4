// SPDX-License-Identifier: Apache-2.0
// The step counters of a folded linear.
#include "hardware/design/handshake/linear.hpp"

#include <algorithm>

#include "hardware/design/numbers.hpp"

namespace mase::design {

namespace {

std::int64_t or_none(const ModuleParameters& parameters, std::string_view name) {
  return parameters.contains(name) ? parameters.integer(name) : 0;
}

}  // namespace

std::int64_t operand_stages(const ModuleParameters& parameters) {
  return or_none(parameters, "OPERAND_STAGES");
}

std::int64_t product_stages(const ModuleParameters& parameters) {
  return or_none(parameters, "PRODUCT_STAGES");
}

std::int64_t weight_stages(const ModuleParameters& parameters) {
  return or_none(parameters, "WEIGHT_STAGES");
}

int accumulate_stages(const ModuleParameters& parameters, std::int64_t simd) {
  const int levels = log2_ceiling(simd), moved = static_cast<int>(operand_stages(parameters));
  if (parameters.integer("MULTIPLIER") == 2)  // Booth rows
    return moved + 5 + (levels <= 2 ? 1 : 2 + (levels - 2) / 2);
  const int behind = static_cast<int>(product_stages(parameters));
  const bool unpacks = parameters.contains("KNOWN") && parameters.integer("KNOWN") > 1;
  return moved + 6 + behind + static_cast<int>(std::min<std::int64_t>(4, ceiling(simd, 2))) +
         log2_ceiling(ceiling(simd, 8)) + (unpacks ? 1 : 0);
}

LinearHandshake::LinearHandshake(const ModuleParameters& parameters, Stages kept)
    : columns_(parameters.integer("SF")),
      passes_(parameters.integer("NF")),
      pipe_(accumulate_stages(parameters, parameters.integer("SIMD")), kept) {}

void LinearHandshake::clock(std::span<const std::uint8_t> taken,
                            std::span<const std::uint8_t> given) {
  const bool step = pipe_.enable() && (pass_ != 0 || taken[0] != 0);
  const bool row_end = column_ == columns_ - 1;
  pipe_.step(step && row_end, given[0] != 0);
  if (!step) return;
  column_ = row_end ? 0 : column_ + 1;
  if (row_end) pass_ = pass_ == passes_ - 1 ? 0 : pass_ + 1;
}

/// Up to the end of a row, behind which the next pass, or the wait for beats, begins.
std::int64_t LinearHandshake::quiet() const {
  if (pass_ == 0 || !pipe_.enable()) return pipe_.quiet();
  return std::min(pipe_.quiet(), columns_ - 1 - column_);
}

void LinearHandshake::skip(std::int64_t edges) {
  pipe_.skip(edges);
  if (pass_ != 0) column_ += edges;
}

}  // namespace mase::design
