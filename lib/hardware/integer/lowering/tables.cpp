// SPDX-License-Identifier: Apache-2.0
// Functions of one input. With at most 12 bits they are tables: each entry is the double result
// rounded once. With more they are straight pieces, whose results are measured against the double
// ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/text.hpp"
#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/element_step.hpp"
#include "hardware/integer/lowering/fit_octaves.hpp"
#include "hardware/integer/lowering/function_step.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/quantize.hpp"

namespace mase::integer {
namespace {

using Function = std::function<double(double)>;

template <double (*function)(double)>
Function plain(const Call&) {
  return function;
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double hard_sigmoid(double x) { return std::clamp(x + 3.0, 0.0, 6.0) / 6.0; }
double hard_swish(double x) { return x * hard_sigmoid(x); }
double softsign(double x) { return x / (1.0 + std::abs(x)); }

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

Function with_slope(double slope) {
  return [=](double x) { return x < 0 ? slope * x : x; };
}

double leaky_slope(const Call& call) { return call.number("negative_slope", 0.01); }

Function leaky_relu_of(const Call& call) { return with_slope(leaky_slope(call)); }

Operand leaky_relu_by_product(const Call& call, const StreamView& x) {
  return sloped(call, x, call.constant(leaky_slope(call)));
}

/// None where slopes differ between channels, or where another one may be loaded.
Function prelu_of(const Call& call) {
  const Constants slope = call.constants("weight", true);
  if (slope.codes.size() != 1 || slope.any) return {};
  return with_slope(std::ldexp(static_cast<double>(slope.codes.front()), -slope.type.frac));
}

Operand prelu_by_product(const Call& call, const StreamView& x) {
  return sloped(call, x, call.constants("weight", true));
}

Operand abs_by_product(const Call& call, const StreamView& x) {
  return sloped(call, x, call.constant(-1.0));
}

/// Klambauer et al., 2017: the constants at which activations keep mean 0 and variance 1.
double selu(double x) {
  constexpr double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
  return scale * (x > 0 ? x : alpha * std::expm1(x));
}

/// Barron, 2017.
Function celu_of(const Call& call) {
  const double alpha = call.number("alpha", 1);
  return [=](double x) { return x > 0 ? x : alpha * std::expm1(x / alpha); };
}

/// Misra, 2019.
double mish(double x) { return x * std::tanh(std::log1p(std::exp(x))); }

/// log(sigmoid(x)), without the overflow of exp(-x).
double log_sigmoid(double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); }

Function hard_shrink_of(const Call& call) {
  const double lambd = call.number("lambd", 0.5);
  return [=](double x) { return std::abs(x) > lambd ? x : 0.0; };
}

Function soft_shrink_of(const Call& call) {
  const double lambd = call.number("lambd", 0.5);
  return [=](double x) { return x > lambd ? x - lambd : x < -lambd ? x + lambd : 0.0; };
}

Function power_of(const Call& call) {
  const ir::Value* exponent = call.find("exponent");
  if (!exponent || exponent->is_node())
    throw Refusal{"its exponent is computed; a constant one has a datapath"};
  const double power = call.number("exponent", 1);
  return [=](double x) { return std::pow(x, power); };
}

double reciprocal(double x) { return 1.0 / x; }
double reciprocal_root(double x) { return 1.0 / std::sqrt(x); }
double square(double x) { return x * x; }
double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

/// Where the results lie when nobody asks for a grid.
enum class Results { real, on_input_grid, whole };

/// `by_product`: what lowers the op where a table does not, for wide inputs or without a function.
struct TableRow {
  std::string_view op;
  Function (*make)(const Call& call);
  Results results = Results::real;
  Operand (*by_product)(const Call& call, const StreamView& x) = nullptr;
};

constexpr auto functions = std::to_array<TableRow>({
    // Activations.
    {"sigmoid", plain<sigmoid>},
    {"tanh", plain<std::tanh>},
    {"gelu", gelu_of},
    {"silu", plain<silu>},
    {"mish", plain<mish>},
    {"elu", elu_of},
    {"selu", plain<selu>},
    {"celu", celu_of},
    {"softplus", softplus_of},
    {"softsign", plain<softsign>},
    {"hardsigmoid", plain<hard_sigmoid>},
    {"hardswish", plain<hard_swish>},
    {"hardshrink", hard_shrink_of},
    {"softshrink", soft_shrink_of},
    {"logsigmoid", plain<log_sigmoid>},
    {"leaky_relu", leaky_relu_of, Results::real, leaky_relu_by_product},
    {"prelu", prelu_of, Results::real, prelu_by_product},
    // Functions.
    {"sqrt", plain<std::sqrt>},
    {"rsqrt", plain<reciprocal_root>},
    {"reciprocal", plain<reciprocal>},
    {"square", plain<square>},
    {"pow", power_of},
    {"exp", plain<std::exp>},
    {"log", plain<std::log>},
    {"erf", plain<std::erf>},
    {"sin", plain<std::sin>},
    {"cos", plain<std::cos>},
    {"tan", plain<std::tan>},
    {"sinh", plain<std::sinh>},
    {"cosh", plain<std::cosh>},
    {"abs", plain<std::abs>, Results::on_input_grid, abs_by_product},
    {"sign", plain<sign>, Results::whole},
    {"ceil", plain<std::ceil>, Results::whole},
});

/// The code that the low `width` bits of an input stand for.
std::int64_t code_of_bits(std::int64_t bits, const FixedType& type) {
  const bool negative = type.is_signed && ((bits >> (type.width - 1)) & 1) != 0;
  return negative ? bits - (std::int64_t{1} << type.width) : bits;
}

/// Every code of the type, in the order of their bits; some of a wide type.
Codes codes_of(const FixedType& type) {
  if (type.width > most_function_bits) return codes_of_octaves(type);
  Codes codes;
  for (std::int64_t bits = 0; bits < std::int64_t{1} << type.width; ++bits)
    codes.push_back(code_of_bits(bits, type));
  return codes;
}

/// What codes stand for. Code 0 is +0.
std::vector<double> values_of(const Codes& codes, const FixedType& type) {
  std::vector<double> values;
  for (const std::int64_t code : codes)
    values.push_back(std::ldexp(static_cast<double>(code), -type.frac));
  return values;
}

std::vector<double> results_of(std::string_view name, const Function& function,
                               const std::vector<double>& values) {
  std::vector<double> results;
  for (const double x : values) {
    results.push_back(function(x));
    if (std::isnan(results.back()))
      throw Refusal{std::string(name) + " of " + double_text(x) +
                    ", a value of its input's format, is not a number; give it a data_in format "
                    "with is_signed = false (pass quantize)"};
  }
  return results;
}

/// The grid or the levels that the result is asked for on; else the least one that holds exact
/// results.
Grid grid_for(const Call& call, const TableRow& row, const FixedType& type,
              const std::vector<double>& results) {
  if (const auto grid = call.lowering.target(call.node)) return *grid;
  if (const auto levels = call.lowering.asked_levels(call.node)) return grid_of_levels(levels);
  if (row.results == Results::real) return call.needed_grid();
  const int frac = row.results == Results::whole ? 0 : type.frac;
  const auto [low, high] = std::ranges::minmax(results);
  const auto code = [&](double result) { return static_cast<Wide>(std::ldexp(result, frac)); };
  return {type_for(code(low), code(high), frac), formats::Rounding::nearest_even};
}

/// Without a sign where no code has one.
Interval range_of(const std::vector<double>& results, const Grid& grid) {
  if (grid.blocks)
    return {code_of(std::ranges::min(results), grid), code_of(std::ranges::max(results), grid)};
  Interval range = interval_of(grid.type);
  if (code_of(std::ranges::min(results), grid) >= 0) range.low = 0;
  return range;
}

/// The result on the levels of its grid, where that has some.
StreamView emit_function(const Call& call, const StreamView& x, FunctionStep step,
                         const Grid& grid) {
  const StreamView result =
      call.lowering.emit(call.node, std::move(step.operation), {x.id}, step.accumulator,
                         step.requantise, grid.type.frac, call.lowering.layout_of(x));
  if (grid.levels) call.lowering.set_levels(result.id, grid.levels);
  return result;
}

/// The part of an element's step by which results may be off before they are rounded to elements.
constexpr double most_element_error = 0.25;

/// Elements are rounded behind the pieces, which are at most a quarter of an element's step off.
Operand pieces_before_elements(const Call& call, const StreamView& x, const WideFunction& function,
                               const Grid& asked, const std::vector<double>& results) {
  const Grid grid = grid_before_elements(asked);
  const auto blocks = asked.blocks ? block_levels_of(*asked.blocks) : nullptr;
  const auto unit = [&](double place) {
    const double number = std::ldexp(place, -grid.type.frac);
    const double step =
        blocks ? element_step(*blocks, number) : element_step(*asked.levels, number);
    return std::ldexp(step, grid.type.frac);
  };
  return emit_function(
      call, x, octave_step(function, grid, range_of(results, grid), most_element_error, unit),
      grid);
}

/// What readers divide results by that nothing else rounds.
std::optional<AskedStep> asked_step(const Call& call, const TableRow& row) {
  const Lowering& lowering = call.lowering;
  if (row.results != Results::real || lowering.target(call.node) ||
      lowering.asked_levels(call.node) || lowering.asked_blocks(call.node))
    return std::nullopt;
  return lowering.asked_step(call.node);
}

/// Results in steps that are no powers of two: their codes.
Operand table_of_steps(const Call& call, const StreamView& x, const std::string& op,
                       std::vector<double> results, const AskedStep& asked) {
  for (double& result : results) result /= asked.step;
  const Interval range = range_of(results, asked.grid);
  const StreamView codes =
      emit_function(call, x, function_step(op, results, asked.grid, range, 1.0), asked.grid);
  return Scaled{codes, {ExactLine{Exact(asked.step)}}};
}

Operand table_of_codes(const Call& call, const TableRow& row, const StreamView& x,
                       const Function& function) {
  const FixedType type = call.lowering.value(x.id).type;
  const std::string op(row.op);
  std::vector<double> results = results_of(op, function, values_of(codes_of(type), type));
  if (const auto asked = asked_step(call, row); asked && type.width <= most_table_bits)
    return table_of_steps(call, x, op, std::move(results), *asked);
  const Grid grid = grid_for(call, row, type, results);
  if ((grid.levels || grid.blocks) && type.width > most_table_bits)
    return pieces_before_elements(call, x, {op, type, function}, grid, results);
  const double most_error = row.results == Results::real ? 1.0 : 0.5;
  const Interval range = range_of(results, grid);
  FunctionStep step = type.width > most_function_bits
                          ? octave_step({op, type, function}, grid, range, most_error)
                          : function_step(op, results, grid, range, most_error);
  return emit_function(call, x, std::move(step), grid);
}

/// A stream on levels has few values, however wide its codes are: a result for each level.
Operand table_of_levels(const Call& call, const TableRow& row, const StreamView& x,
                        const Function& function) {
  const FixedType type = call.lowering.value(x.id).type;
  const Codes codes = codes_within(*call.lowering.levels(x.id), type);
  const std::vector<double> results = results_of(row.op, function, values_of(codes, type));
  const Grid grid = grid_for(call, row, type, results);
  Quantize step{std::string(row.op), {codes.begin() + 1, codes.end()}, {}};
  for (const double result : results)
    step.levels.push_back(static_cast<std::int64_t>(code_of(result, grid)));
  const auto [low, high] = std::ranges::minmax(step.levels);
  const Interval range{low, high};
  return emit_function(call, x, {std::move(step), {range, grid.type.frac}, exactly(range)}, grid);
}

/// The function of the codes of a scaled stream.
Function of_codes(const Function& function, const Scaled& scaled) {
  const auto number = [](const std::optional<Scaled::Bound>& bound, double otherwise) {
    return bound ? bound->number.rounded() / bound->divisor.rounded() : otherwise;
  };
  const double factor = scaled.lines[0].factor.rounded(), shift = scaled.lines[0].shift.rounded();
  const double divisor = scaled.lines[0].divisor.rounded();
  const double low = number(scaled.low, -HUGE_VAL), high = number(scaled.high, HUGE_VAL);
  return [=](double x) { return function(std::clamp((x * factor + shift) / divisor, low, high)); };
}

/// The operand that a table takes as codes; nullptr where it is numbers.
const Scaled* scaled_operand(const Call& call, const TableRow& row) {
  const Scaled* scaled = call.scaled("self");
  if (!scaled || row.results != Results::real || !scaled->has_one_line()) return nullptr;
  const int width = call.lowering.value(scaled->codes.id).type.width;
  return width <= most_table_bits ? scaled : nullptr;
}

Operand lower_table(const Call& call) {
  const std::string op = op_of(call.lowering.graph(), call.node);
  const TableRow& row = *std::ranges::find(functions, op, &TableRow::op);
  Function function = row.make(call);
  if (const Scaled* scaled = scaled_operand(call, row); scaled && function)
    return table_of_codes(call, row, scaled->codes, of_codes(function, *scaled));
  const StreamView x = call.stream("self");
  const Levels* levels = call.lowering.levels(x.id);
  if (levels && function) return table_of_levels(call, row, x, function);
  const int width = call.lowering.value(x.id).type.width;
  if (row.by_product && (!function || width > most_table_bits)) return row.by_product(call, x);
  return table_of_codes(call, row, x, function);
}

}  // namespace

std::vector<LoweringRow> table_rows() {
  std::vector<LoweringRow> rows;
  for (const TableRow& row : functions) rows.push_back({row.op, lower_table});
  return rows;
}

}  // namespace mase::integer
