// SPDX-License-Identifier: Apache-2.0
// The step counters of a folded linear.
#include "hardware/design/timing/handshake/linear.hpp"

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

bool RowSteps::step() {
  if (++column_ < columns_) return false;
  column_ = 0;
  if (++pass_ < passes_) return false;
  pass_ = 0;
  return true;
}

std::int64_t RowSteps::quiet(const Pipe& pipe) const {
  if (waits() || !pipe.enable()) return pipe.quiet();
  return std::min(pipe.quiet(), columns_ - 1 - column_);
}

LinearHandshake::LinearHandshake(const ModuleParameters& parameters, Stages kept)
    : steps_(parameters.integer("SF"), parameters.integer("NF")),
      pipe_(accumulate_stages(parameters, parameters.integer("SIMD")), kept) {}

void LinearHandshake::clock(std::span<const std::uint8_t> taken,
                            std::span<const std::uint8_t> given) {
  const bool step = pipe_.enable() && (!steps_.waits() || taken[0] != 0);
  pipe_.step(step && steps_.ends_pass(), given[0] != 0);
  if (step) steps_.step();
}

}  // namespace mase::design
