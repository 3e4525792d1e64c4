// SPDX-License-Identifier: Apache-2.0
// Questions about a program.
#include "hardware/integer/program.hpp"

#include <algorithm>
#include <numeric>

namespace mase::integer {
namespace {

struct Namer {
  std::string operator()(const Cast&) const { return "cast"; }
  std::string operator()(const Linear&) const { return "linear"; }
  std::string operator()(const Convolution& convolution) const {
    return convolution.groups == convolution.window.channels && convolution.groups > 1
               ? "depthwise"
               : "convolution";
  }
  std::string operator()(const ScaleShift&) const { return "scale_shift"; }
  std::string operator()(const ChannelShift&) const { return "channel_shift"; }
  std::string operator()(const Lookup& lookup) const { return lookup.function; }
  std::string operator()(const Pool& pool) const {
    return pool.kind == PoolKind::max ? "max_pool" : "sum_pool";
  }
  std::string operator()(const Binary& binary) const {
    switch (binary.kind) {
      case BinaryKind::add:
        return "add";
      case BinaryKind::subtract:
        return "subtract";
      case BinaryKind::multiply:
        return "multiply";
      case BinaryKind::maximum:
        return "maximum";
      case BinaryKind::minimum:
        return "minimum";
    }
    return "";
  }
  std::string operator()(const Concat&) const { return "concat"; }
  std::string operator()(const Slice&) const { return "slice"; }
  std::string operator()(const Gather&) const { return "gather"; }
  std::string operator()(const ArgMax&) const { return "argmax"; }
  std::string operator()(const Quotient&) const { return "divide"; }
  std::string operator()(const MatrixProduct&) const { return "matmul"; }
  std::string operator()(const RowReduce& reduce) const {
    return reduce.kind == PoolKind::max ? "row_max" : "row_sum";
  }
  std::string operator()(const Repeat&) const { return "repeat"; }
  std::string operator()(const SquareRoot&) const { return "sqrt"; }
  std::string operator()(const Insert&) const { return "insert"; }
  std::string operator()(const Embedding&) const { return "embedding"; }
  std::string operator()(const Piecewise& pieces) const { return pieces.function; }
};

}  // namespace

std::string operation_name(const Operation& operation) { return std::visit(Namer{}, operation); }

Wide Piecewise::operator()(std::int64_t code) const {
  const auto bits = static_cast<std::uint64_t>(code);
  const std::size_t segment = (bits >> low_bits) & (slope.size() - 1);
  return base[segment] + Wide{slope[segment]} * (bits & ((std::uint64_t{1} << low_bits) - 1));
}

// Digit by digit: bits of the root from the highest on, each kept where its square still fits.
Wide SquareRoot::operator()(Wide x) const {
  Wide rest = (x << shift) + addend, root = 0;
  int digit = signed_width(0, rest) / 2;
  for (; digit >= 0; --digit) {
    const Wide taken = (root << (digit + 1)) + (Wide{1} << (2 * digit));
    if (taken > rest) continue;
    rest -= taken;
    root += Wide{1} << digit;
  }
  return root;
}

std::vector<int> Program::consumers(ValueId id) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (std::ranges::find(steps[i].inputs, id) != steps[i].inputs.end())
      found.push_back(static_cast<int>(i));
  return found;
}

bool only_moves(const Operation& operation) {
  return std::holds_alternative<Concat>(operation) || std::holds_alternative<Slice>(operation) ||
         std::holds_alternative<Gather>(operation) || std::holds_alternative<Repeat>(operation) ||
         std::holds_alternative<Insert>(operation);
}

namespace {

/// Whether every `count` elements from a multiple of it on come from `count` such elements.
bool move_together(const std::vector<std::int64_t>& places, std::int64_t count) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i) % count;
    const std::int64_t first = places[i - at(offset)];
    if (first >= 0 && first % count != 0) return false;
    if (places[i] != (first < 0 ? first : first + offset)) return false;
  }
  return true;
}

/// Whether the places fall into `parts` equal ones, each of its own part of the frame and alike.
bool repeats(const std::vector<std::int64_t>& places, std::int64_t elements, std::int64_t parts) {
  const std::size_t count = places.size() / at(parts);
  const std::int64_t period = elements / parts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t first = places[i % count];
    const auto part = static_cast<std::int64_t>(i / count);
    if (first >= period || places[i] != (first < 0 ? first : first + part * period)) return false;
  }
  return true;
}

}  // namespace

Gather gather_of(std::vector<std::int64_t> places, std::int64_t elements, std::int64_t outside) {
  std::int64_t parts = std::gcd(elements, static_cast<std::int64_t>(places.size()));
  while (std::gcd(elements, static_cast<std::int64_t>(places.size())) % parts != 0 ||
         !repeats(places, elements, parts))
    --parts;
  places.resize(places.size() / at(parts));
  return {std::move(places), elements / parts, outside};
}

std::int64_t Gather::block() const {
  const auto common = std::gcd(period, static_cast<std::int64_t>(places.size()));
  for (std::int64_t parts = 1; parts < common; ++parts)
    if (common % parts == 0 && move_together(places, common / parts)) return common / parts;
  return 1;
}

}  // namespace mase::integer
