// Costs of linear and depthwise from their parts, and of constant_linear from its weights.
#include "hw/modules/matrix_cost.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "hw/control/linear.hpp"
#include "hw/modules/arithmetic_cost.hpp"

namespace mase::hw {
namespace {

int width_of(const Parameters& parameters, const char* width, const char* sign) {
  return static_cast<int>(parameters.integer(width)) + (parameters.integer(sign) != 0 ? 0 : 1);
}

/// hw_templates/matrix/accumulate. With a carry of the dot product's the choice between bias and sum
/// merges into the adder; else Yosys makes that choice the operand that a CARRY4 needs plain.
Cost accumulate_cost(std::int64_t columns, int bits, bool booth) {
  Cost cost = adder_cost(bits);
  if (columns > 1 && !booth) cost.lut *= 2;
  cost.ff = bits;
  return cost;
}

/// hw_templates/matrix/multiply_accumulate without its skid: `columns` words for each of `rows`.
Cost datapath_cost(const Design& design, const Instance& instance, std::int64_t columns,
                   std::int64_t rows, std::int64_t simd, std::int64_t pe) {
  const Parameters& parameters = instance.parameters;
  const auto acc = static_cast<int>(parameters.integer("ACCW"));
  const bool booth = parameters.integer("MULTIPLIER") == 2,
             bias = parameters.integer("HAS_BIAS") != 0;
  const DotShape dot{simd, width_of(parameters, "AW", "ASIGNED"),
                     width_of(parameters, "WW", "WSIGNED"), acc};
  Cost each = booth ? dot_booth_cost(dot) : dot_multiply_cost(dot);
  // Of two words half of the weights' bits are constants.
  if (columns * rows == 2 && each.dsp == 0) each.lut *= booth ? 0.74 : 0.52;
  each += accumulate_cost(columns, acc, booth);
  each += clamp_cost(instance, acc);
  each.lut -= static_cast<double>(parameters.integer("OW"));  // merged with the skid's
  Cost cost = scaled(each, static_cast<double>(pe));
  cost += rom_cost(pe * simd * parameters.integer("WW"), columns * rows,
                   image_of(design, instance, "WEIGHT_FILE"));
  if (bias)
    cost += rom_cost(pe * parameters.integer("BW"), rows, image_of(design, instance, "BIAS_FILE"));
  cost += counter_cost(columns);
  if (rows > 1) cost += counter_cost(columns * rows);
  if (bias) cost += counter_cost(rows);
  const int stages = 2 + adder_stages(simd);
  cost += Cost{.lut = 10, .ff = 3.0 * stages + 1};
  return cost;
}

}  // namespace

Cost linear_cost(const Design& design, const Instance& instance) {
  const Parameters& parameters = instance.parameters;
  const std::int64_t sf = parameters.integer("SF"), nf = parameters.integer("NF"),
                     simd = parameters.integer("SIMD"), pe = parameters.integer("PE"),
                     beat = simd * parameters.integer("AW");
  Cost cost = datapath_cost(design, instance, sf, nf * parameters.integer("SETS"), simd, pe);
  if (nf > 1) {
    cost += replay_cost(beat, sf);
    cost += counter_cost(nf);
    cost.lut += 3;
  } else {
    cost.ff += static_cast<double>(beat);
  }
  cost += buffer_cost(pe * parameters.integer("OW"));
  return cost;
}

Cost depthwise_cost(const Design& design, const Instance& instance) {
  const Parameters& parameters = instance.parameters;
  const std::int64_t lanes = parameters.integer("LANES");
  Cost cost =
      datapath_cost(design, instance, parameters.integer("N"), parameters.integer("BLOCKS"), 1, lanes);
  cost.ff += static_cast<double>(lanes * parameters.integer("AW"));
  cost += buffer_cost(lanes * parameters.integer("OW"));
  return cost;
}

namespace {

/// The bits of a hexadecimal constant.
class Bits {
 public:
  explicit Bits(const HexBits& hex) : digits_(hex.digits) {}
  bool operator[](std::int64_t index) const {
    const auto digit = static_cast<std::size_t>(index / 4);
    if (digit >= digits_.size()) return false;
    const char c = digits_[digits_.size() - 1 - digit];
    const int value = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    return (value >> (index % 4) & 1) != 0;
  }

 private:
  const std::string& digits_;
};

const HexBits& constant(const Parameters& parameters, const std::string& name) {
  for (const auto& [key, value] : parameters.items())
    if (key == name) return std::get<HexBits>(value);
  static const HexBits none;
  return none;
}

/// hw_templates/matrix/constant_add with `bits` of sum: both operands repeat their sign in the last
/// bit, whose LUT is that of the bit before; the carry enters from a position of its own.
Cost tree_adder_cost(int bits) {
  return {.lut = bits - 1.0, .carry = static_cast<double>(ceiling(bits + 1, 4))};
}

/// Sums over aligned groups of inputs whose bit is set; an equal choice of inputs is one sum.
class SubsetTree {
 public:
  SubsetTree(std::int64_t inputs, int width) : inputs_(inputs), width_(width) {}

  /// `chosen` has a character '0' or '1' per input. True when any is chosen.
  bool add(const std::string& chosen) { return node(chosen, 0, span()); }
  const Cost& cost() const { return cost_; }

 private:
  std::size_t span() const {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(4, std::int64_t{1} << log2_ceiling(inputs_)));
  }

  bool node(const std::string& chosen, std::size_t from, std::size_t count) {
    if (from >= chosen.size()) return false;
    const std::string own = chosen.substr(from, count);
    if (own.find('1') == std::string::npos) return false;
    const int level = log2_ceiling(static_cast<std::int64_t>(count));
    const bool is_new =
        seen_.insert(std::to_string(from) + "/" + std::to_string(count) + own).second;
    if (count > 1) {
      const bool left = node(chosen, from, count / 2);
      const bool right = node(chosen, from + count / 2, count / 2);
      if (is_new && left && right) cost_ += tree_adder_cost(width_ + level);
    }
    // Registers: after the subset sums of four, then every second level and the last.
    const bool registered = level == 2 || (level > 2 && (level % 2 == 0 || count == span()));
    if (is_new && registered) cost_.ff += width_ + level;
    return true;
  }

  std::int64_t inputs_;
  int width_;
  std::set<std::string> seen_;
  Cost cost_;
};

/// Columns of one output joined pairwise; `used` says which have any input.
Cost join_cost(std::vector<bool> used, int width) {
  Cost cost;
  for (int level = 1; used.size() > 1; ++level) {
    std::vector<bool> next;
    for (std::size_t j = 0; j < used.size(); j += 2) {
      const bool other = j + 1 < used.size() && used[j + 1];
      const int half = 1 << (level - 1);
      if (used[j] && other) cost += tree_adder_cost(width + half);
      next.push_back(used[j] || other);
      if (next.back() && (level % 2 == 0 || used.size() <= 2)) cost.ff += width + 2 * half;
    }
    used = next;
  }
  return cost;
}

}  // namespace

Cost constant_linear_cost(const Design&, const Instance& instance) {
  const Parameters& parameters = instance.parameters;
  const std::int64_t inputs = parameters.integer("INPUTS"), outputs = parameters.integer("OUTPUTS"),
                     bits = parameters.integer("WW");
  const auto acc = static_cast<int>(parameters.integer("ACCW"));
  const int width = width_of(parameters, "AW", "ASIGNED");
  const Bits weights(constant(parameters, "WEIGHTS"));
  SubsetTree tree(inputs, width);
  Cost cost = buffer_cost(outputs * parameters.integer("OW"));
  cost.ff += static_cast<double>(inputs * parameters.integer("AW"));
  for (std::int64_t o = 0; o < outputs; ++o) {
    std::vector<bool> used;
    for (std::int64_t k = 0; k < bits; ++k) {
      std::string chosen;
      for (std::int64_t i = 0; i < inputs; ++i)
        chosen += weights[(o * inputs + i) * bits + k] ? '1' : '0';
      used.push_back(tree.add(chosen));
    }
    if (std::find(used.begin(), used.end(), true) == used.end()) continue;
    cost += join_cost(used, width + log2_ceiling(inputs));
    if (parameters.integer("HAS_BIAS") != 0) cost += adder_cost(acc / 2.0);
    cost += clamp_cost(instance, acc);
  }
  cost += tree.cost();
  return cost;
}

}  // namespace mase::hw
