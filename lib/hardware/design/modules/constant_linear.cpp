// SPDX-License-Identifier: Apache-2.0
// What constant_linear costs and how deep its pipeline is, from its weights.
#include "hardware/design/modules/constant_linear.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hardware/design/handshake/pipe.hpp"
#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

const HexBits& constant(const ModuleParameters& parameters, const std::string& name) {
  for (const auto& [key, value] : parameters.items())
    if (key == name) return std::get<HexBits>(value);
  static const HexBits none;
  return none;
}

/// hw_templates/matrix/mase_constant_add of two operands. Beyond the shorter one the chain adds its
/// sign, or passes the other on without a LUT. The carry of signed sums enters from a position of
/// its own.
Cost tree_adder_cost(Width a, Width b, Width sum) {
  const Width& shorter = a.bits < b.bits ? a : b;
  const int longer = std::max(a.bits, b.bits);
  return {.lut = static_cast<double>(shorter.is_signed ? longer : shorter.bits),
          .carry = static_cast<double>(ceiling(sum.bits + (sum.is_signed ? 1 : 0), 4))};
}

/// Sums over aligned groups of inputs, as numbers: 0 is the empty sum, and equal choices of inputs
/// get equal numbers, for which the adders are counted once.
class SubsetSums {
 public:
  SubsetSums(std::int64_t inputs, Width input)
      : input_(input), widths_{{}}, seen_(levels(inputs) + 1) {
    widths_.insert(widths_.end(), static_cast<std::size_t>(inputs), input);
  }

  /// The sum of the inputs that are chosen.
  std::size_t add(const std::vector<bool>& chosen) {
    std::vector<std::size_t> sums(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) sums[i] = chosen[i] ? i + 1 : 0;
    for (std::size_t level = 1; level < seen_.size(); ++level) {
      const std::size_t half = (sums.size() + 1) / 2;
      for (std::size_t j = 0; j < half; ++j)
        sums[j] = node(level, sums[2 * j], 2 * j + 1 < sums.size() ? sums[2 * j + 1] : 0);
      sums.resize(half);
    }
    return sums[0];
  }
  Width width(std::size_t sum) const { return widths_[sum]; }
  const Cost& cost() const { return cost_; }

 private:
  /// Groups of four always have both their levels.
  static std::size_t levels(std::int64_t inputs) {
    return static_cast<std::size_t>(std::max(2, log2_ceiling(inputs)));
  }

  std::size_t node(std::size_t level, std::size_t left, std::size_t right) {
    if (left == 0 && right == 0) return 0;
    const auto [it, fresh] = seen_[level].try_emplace(left << 32 | right, widths_.size());
    if (!fresh) return it->second;
    const Width a = widths_[left], b = widths_[right];
    Width sum{std::max(a.bits, b.bits), left != 0 ? a.is_signed : b.is_signed};
    if (left != 0 && right != 0) {
      // The module's width: Yosys sees leading zeros, not repeated signs.
      sum.bits =
          input_.is_signed ? input_.bits + std::max(2, static_cast<int>(level)) : sum.bits + 1;
      cost_ += tree_adder_cost(a, b, sum);
    }
    // Registers: after the subset sums of four, then every second level and the last.
    if (level == 2 || (level > 2 && (level % 2 == 0 || level + 1 == seen_.size())))
      cost_.ff += sum.bits;
    widths_.push_back(sum);
    return it->second;
  }

  Width input_;
  std::vector<Width> widths_;                                       ///< of every sum
  std::vector<std::unordered_map<std::size_t, std::size_t>> seen_;  ///< by level and both halves
  Cost cost_;
};

/// Columns of one output joined pairwise; widths of 0 bits are columns without any input. The last
/// column is `negative` for signed weights. `bits`: of a signed column.
Cost join_cost(std::vector<Width> columns, int bits, bool negative) {
  Cost cost;
  for (int half = 1, level = 1; columns.size() > 1; half *= 2, ++level) {
    std::vector<Width> next;
    bits += half + 1;
    for (std::size_t j = 0; j < columns.size(); j += 2) {
      Width sum = columns[j];
      const bool subtracts = negative && j + 2 >= columns.size();
      if (j + 1 < columns.size() && columns[j + 1].bits > 0) {
        const Width high = columns[j + 1], low{std::max(sum.bits - half, 0), sum.is_signed};
        const bool adds = sum.bits > 0 || subtracts;
        sum.is_signed = high.is_signed || subtracts || (sum.bits > 0 && sum.is_signed);
        sum.bits = std::max(low.bits, high.bits) + (adds ? 1 : 0);
        if (adds && sum.is_signed) sum.bits = bits - half;
        if (adds) cost += tree_adder_cost(low, high, sum);
        sum.bits += half;
      }
      next.push_back(sum);
      if (level % 2 == 0 || columns.size() <= 2) cost.ff += sum.bits;
    }
    columns = next;
  }
  return cost;
}

/// Weights [output][input] as their codes' bits.
std::vector<std::uint64_t> unpacked(const HexBits& hex, std::int64_t count, std::int64_t bits) {
  std::vector<std::uint64_t> weights(static_cast<std::size_t>(count), 0);
  for (std::int64_t i = 0; i < count * bits; ++i)
    weights[static_cast<std::size_t>(i / bits)] |= std::uint64_t{hex_bit(hex.digits, i)}
                                                   << (i % bits);
  return weights;
}

/// Columns of one output's weights: per bit the sum of the inputs that have it.
std::vector<Width> columns_of(SubsetSums& sums, std::span<const std::uint64_t> weights,
                              std::int64_t bits) {
  std::vector<Width> columns;
  std::vector<bool> chosen(weights.size());
  for (std::int64_t k = 0; k < bits; ++k) {
    for (std::size_t i = 0; i < weights.size(); ++i) chosen[i] = (weights[i] >> k & 1) != 0;
    columns.push_back(sums.width(sums.add(chosen)));
  }
  return columns;
}

}  // namespace

Cost constant_linear_cost(const Design&, const Instance& instance) {
  const ModuleParameters& parameters = instance.parameters;
  const std::int64_t inputs = parameters.integer("INPUTS"), outputs = parameters.integer("OUTPUTS"),
                     bits = parameters.integer("WW"), acc = parameters.integer("ACCW");
  const auto row = static_cast<std::size_t>(inputs);
  const std::vector<std::uint64_t> weights =
      unpacked(constant(parameters, "WEIGHTS"), inputs * outputs, bits);
  SubsetSums sums(inputs,
                  {static_cast<int>(parameters.integer("AW")), parameters.integer("ASIGNED") != 0});
  Cost cost = skid_cost(outputs * parameters.integer("OW"));
  cost.ff += static_cast<double>(inputs * parameters.integer("AW"));
  Cost end = requantise_stage_cost(parameters, {static_cast<int>(acc)});
  if (parameters.integer("HAS_BIAS") != 0) end.carry += static_cast<double>(ceiling(acc, 4));
  const int column_bits =
      signed_bits(parameters, "AW", "ASIGNED") + std::max(2, log2_ceiling(inputs));
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::vector<Width> columns =
        columns_of(sums, std::span(weights).subspan(static_cast<std::size_t>(o) * row, row), bits);
    if (std::all_of(columns.begin(), columns.end(), [](Width w) { return w.bits == 0; })) continue;
    cost += join_cost(columns, column_bits, parameters.integer("WSIGNED") != 0);
    cost += end;
  }
  cost += sums.cost();
  return cost;
}

/// Inputs, subset sums of four, every second level of the trees over groups and over bits,
/// rounding.
std::unique_ptr<Handshake> make_constant_linear_handshake(const ModuleParameters& parameters,
                                                          Stages kept) {
  const int groups = log2_ceiling((parameters.integer("INPUTS") + 3) / 4);
  const int bits = log2_ceiling(parameters.integer("WW"));
  return std::make_unique<PipeHandshake>(3 + (groups + 1) / 2 + (bits + 1) / 2, kept);
}

}  // namespace mase::design
