// SPDX-License-Identifier: Apache-2.0
// Functions of one input of at most 10 bits, as tables: each entry is the double result rounded
// once.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

constexpr int most_bits = 10;

using Function = std::function<double(double)>;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double hard_sigmoid(double x) { return std::clamp(x + 3.0, 0.0, 6.0) / 6.0; }

/// torch.nn.functional.gelu with approximate = "none" (Hendrycks and Gimpel, 2016).
double gelu(double x) { return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2)); }

/// The same with approximate = "tanh".
double gelu_tanh(double x) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(inner));
}

Function gelu_of(const Call& call) {
  const ir::Value* approximate = call.find("approximate");
  if (!approximate || approximate->as_string() == "none") return gelu;
  if (approximate->as_string() == "tanh") return gelu_tanh;
  throw Refusal{"gelu by '" + approximate->as_string() + "' has no datapath"};
}

Function elu_of(const Call& call) {
  const double alpha = call.number("alpha", 1), scale = call.number("scale", 1);
  const double input_scale = call.number("input_scale", 1);
  return [=](double x) { return scale * (x > 0 ? x : alpha * std::expm1(input_scale * x)); };
}

Function softplus_of(const Call& call) {
  const double beta = call.number("beta", 1), threshold = call.number("threshold", 20);
  return [=](double x) { return beta * x > threshold ? x : std::log1p(std::exp(beta * x)) / beta; };
}

Function leaky_relu_of(const Call& call) {
  const double slope = call.number("negative_slope", 0.01);
  return [=](double x) { return x < 0 ? slope * x : x; };
}

/// The value that the low `width` bits of an input stand for.
double value_of(std::int64_t bits, const FixedType& type) {
  const bool negative = type.is_signed && ((bits >> (type.width - 1)) & 1) != 0;
  const std::int64_t code = negative ? bits - (std::int64_t{1} << type.width) : bits;
  return std::ldexp(static_cast<double>(code), -type.frac);
}

Grid grid_for(const Call& call) {
  const auto grid = call.lowering.target(call.node);
  if (grid) return *grid;
  call.lowering.refuse_grid(
      call.node,
      "its table needs a grid for its results; give it a data_out format, or all its readers the "
      "same data_in format (pass quantize)");
}

Operand lower_table(const Call& call, const std::string& name, const Function& function) {
  const StreamView x = call.stream("self");
  const FixedType type = call.lowering.value(x.id).type;
  if (type.width > most_bits)
    throw Refusal{"its input has " + std::to_string(type.width) + " bits, a table at most " +
                  std::to_string(most_bits) +
                  "; give it a narrower data_in format (pass quantize)"};
  const Grid grid = grid_for(call);
  Lookup lookup{name, {}};
  for (std::int64_t bits = 0; bits < std::int64_t{1} << type.width; ++bits)
    lookup.table.push_back(
        static_cast<std::int64_t>(code_of(function(value_of(bits, type)), grid)));
  Interval range = interval_of(grid.type);
  if (std::ranges::all_of(lookup.table, [](std::int64_t code) { return code >= 0; })) range.low = 0;
  return call.lowering.emit(call.node, std::move(lookup), {x.id}, {range, grid.type.frac},
                            {0, 1, formats::Rounding::nearest_even, range.low, range.high},
                            grid.type.frac, call.lowering.layout_of(x));
}

}  // namespace

std::vector<LoweringRow> table_rows() {
  return {
      {"sigmoid", [](const Call& call) { return lower_table(call, "sigmoid", sigmoid); }},
      {"tanh",
       [](const Call& call) {
         return lower_table(call, "tanh", [](double x) { return std::tanh(x); });
       }},
      {"gelu", [](const Call& call) { return lower_table(call, "gelu", gelu_of(call)); }},
      {"silu",
       [](const Call& call) {
         return lower_table(call, "silu", [](double x) { return x * sigmoid(x); });
       }},
      {"elu", [](const Call& call) { return lower_table(call, "elu", elu_of(call)); }},
      {"softplus",
       [](const Call& call) { return lower_table(call, "softplus", softplus_of(call)); }},
      {"hardsigmoid",
       [](const Call& call) { return lower_table(call, "hardsigmoid", hard_sigmoid); }},
      {"hardswish",
       [](const Call& call) {
         return lower_table(call, "hardswish", [](double x) { return x * hard_sigmoid(x); });
       }},
      {"leaky_relu",
       [](const Call& call) { return lower_table(call, "leaky_relu", leaky_relu_of(call)); }},
  };
}

}  // namespace mase::integer
