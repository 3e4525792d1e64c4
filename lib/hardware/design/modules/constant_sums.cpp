// SPDX-License-Identifier: Apache-2.0
// Equal partial sums are found by numbering them; each is counted once.
#include "hardware/design/modules/constant_sums.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace mase::design {
namespace {

/// hw_templates/matrix/mase_constant_add of two operands. Beyond the shorter one the chain adds its
/// sign, or passes the other on without a LUT. The carry of signed sums enters from a position of
/// its own.
Cost tree_adder_cost(Width a, Width b, Width sum) {
  const Width& shorter = a.bits < b.bits ? a : b;
  const int longer = std::max(a.bits, b.bits);
  return {.lut = static_cast<double>(shorter.is_signed ? longer : shorter.bits),
          .carry = static_cast<double>(ceiling(sum.bits + (sum.is_signed ? 1 : 0), 4))};
}

/// Numbers for pairs of numbers, handed out by the caller: a hash table that is emptied at no cost.
class PairNumbers {
 public:
  /// Room for so many pairs at a time.
  explicit PairNumbers(std::size_t pairs) : entries_(std::bit_ceil(2 * pairs)) {}
  void clear() { ++round_; }
  /// The number of the pair, by reference, and whether the pair is new.
  std::pair<std::uint32_t&, bool> find(std::uint32_t left, std::uint32_t right) {
    const std::uint64_t key = std::uint64_t{left} << 32 | right;
    for (std::size_t i = key * 0x9e3779b97f4a7c15 >> 32;; ++i) {
      Entry& entry = entries_[i & (entries_.size() - 1)];
      if (entry.round == round_ && entry.key != key) continue;
      const bool fresh = entry.round != round_;
      entry.key = key;
      entry.round = round_;
      return {entry.number, fresh};
    }
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t number = 0, round = 0;  ///< of rounds before this one: empty
  };
  std::vector<Entry> entries_;
  std::uint32_t round_ = 1;
};

/// Weights [output][input] as their codes' bits. A column is a bit of an output's weights.
struct Weights {
  std::vector<std::uint64_t> codes;
  std::size_t inputs, outputs, bits;

  std::size_t columns() const { return outputs * bits; }
};

/// Sums of the inputs that the columns choose, over aligned groups of inputs, as numbers: 0 is the
/// empty sum, and equal choices of inputs get equal numbers, for which the adders are counted once.
class SubsetSums {
 public:
  using Numbers = std::vector<std::uint32_t>;  ///< of every column

  SubsetSums(const Weights& weights, Width input)
      : weights_(weights), input_(input), numbers_(weights.columns()), widths_{{}} {
    widths_.insert(widths_.end(), weights.inputs, input);
    whole_ = sums(levels(), 0);
  }

  Width width(std::size_t column) const { return widths_[whole_[column]]; }
  const Cost& cost() const { return cost_; }

 private:
  /// Groups of four always have both their levels.
  int levels() const {
    return std::max(2, log2_ceiling(static_cast<std::int64_t>(weights_.inputs)));
  }

  /// Over 2^level inputs from `first` on; those beyond the last one are never chosen. Pairs of one
  /// group are not those of another one, so the group's table is small.
  Numbers sums(int level, std::size_t first) {
    if (first >= weights_.inputs) return Numbers(weights_.columns(), 0);
    if (level == 0) return chosen(first);
    Numbers result = sums(level - 1, first);
    const Numbers right = sums(level - 1, first + (std::size_t{1} << (level - 1)));
    numbers_.clear();
    for (std::size_t c = 0; c < result.size(); ++c) result[c] = node(level, result[c], right[c]);
    return result;
  }

  /// One input, number input + 1, where the columns have it.
  Numbers chosen(std::size_t input) const {
    Numbers result;
    result.reserve(weights_.columns());
    for (std::size_t o = 0; o < weights_.outputs; ++o) {
      const std::uint64_t code = weights_.codes[o * weights_.inputs + input];
      for (std::size_t k = 0; k < weights_.bits; ++k)
        result.push_back((code >> k & 1) != 0 ? static_cast<std::uint32_t>(input + 1) : 0);
    }
    return result;
  }

  std::uint32_t node(int level, std::uint32_t left, std::uint32_t right) {
    if (left == 0 && right == 0) return 0;
    const auto [number, fresh] = numbers_.find(left, right);
    if (!fresh) return number;
    const Width a = widths_[left], b = widths_[right];
    Width sum{std::max(a.bits, b.bits), left != 0 ? a.is_signed : b.is_signed};
    if (left != 0 && right != 0) {
      // The module's width: Yosys sees leading zeros, not repeated signs.
      sum.bits = input_.is_signed ? input_.bits + std::max(2, level) : sum.bits + 1;
      cost_ += tree_adder_cost(a, b, sum);
    }
    // Registers: after the subset sums of four, then every second level and the last.
    if (level == 2 || (level > 2 && (level % 2 == 0 || level == levels()))) cost_.ff += sum.bits;
    number = static_cast<std::uint32_t>(widths_.size());
    widths_.push_back(sum);
    return number;
  }

  const Weights& weights_;
  Width input_;
  PairNumbers numbers_;        ///< of the sums of a group, by both halves
  std::vector<Width> widths_;  ///< of every sum
  Numbers whole_;              ///< the sums over all inputs
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

Weights weights_of(const ConstantWeights& constants) {
  Weights weights{{},
                  static_cast<std::size_t>(constants.inputs),
                  static_cast<std::size_t>(constants.outputs),
                  static_cast<std::size_t>(constants.bits)};
  weights.codes.resize(weights.inputs * weights.outputs);
  std::int64_t bit = 0;
  for (std::uint64_t& code : weights.codes) {
    code = hex_bits(constants.digits, bit, static_cast<int>(constants.bits));
    bit += constants.bits;
  }
  return weights;
}

/// Columns of one output's weights: per bit the sum of the inputs that have it.
std::vector<Width> columns_of(const SubsetSums& sums, std::size_t output, std::size_t bits) {
  std::vector<Width> columns;
  for (std::size_t k = 0; k < bits; ++k) columns.push_back(sums.width(output * bits + k));
  return columns;
}

ConstantSums sums_of(const ConstantWeights& constants, Width input) {
  const Weights weights = weights_of(constants);
  const SubsetSums sums(weights, input);
  const int column_bits = signed_bits(input) + std::max(2, log2_ceiling(constants.inputs));
  ConstantSums result;
  for (std::size_t o = 0; o < weights.outputs; ++o) {
    const std::vector<Width> columns = columns_of(sums, o, weights.bits);
    if (std::all_of(columns.begin(), columns.end(), [](Width w) { return w.bits == 0; })) continue;
    result.joins.push_back(join_cost(columns, column_bits, constants.is_signed));
  }
  result.shared = sums.cost();
  return result;
}

/// What the adders are counted for.
std::string key_of(const ConstantWeights& constants, Width input) {
  std::string key = constants.digits;
  for (const std::int64_t number :
       {constants.inputs, constants.outputs, std::int64_t{constants.bits},
        std::int64_t{constants.is_signed}, std::int64_t{input.bits}, std::int64_t{input.is_signed}})
    key += ' ' + std::to_string(number);
  return key;
}

}  // namespace

// A search counts the adders of the same few matrices again and again, under every fold and trial.
ConstantSums constant_sums(const ConstantWeights& constants, Width input) {
  constexpr std::size_t most = 1024;
  static std::mutex mutex;
  static std::map<std::string, ConstantSums> known;
  std::string key = key_of(constants, input);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  ConstantSums sums = sums_of(constants, input);
  const std::lock_guard lock(mutex);
  if (known.size() == most) known.clear();
  known.insert_or_assign(std::move(key), sums);
  return sums;
}

}  // namespace mase::design
