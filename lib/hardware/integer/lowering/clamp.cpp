// SPDX-License-Identifier: Apache-2.0
// Lowering of clamps: relu, relu6, hardtanh, clamp and its one-sided forms.
#include "hardware/integer/lowering/clamp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/masked.hpp"

namespace mase::integer {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const char* const no_codes =
    "its bounds are not codes of its input's format; give it a data_out format, or its readers the "
    "same data_in format (pass quantize)";

struct Bounds {
  double low = -infinity, high = infinity;
};

/// Python numbers run as float32.
double bound(const Call& call, std::string_view name, double otherwise) {
  const double number = static_cast<float>(call.number(name, otherwise));
  if (std::isnan(number)) throw Refusal{"one of its bounds is NaN; give it a number"};
  return number;
}

double limit(Wide code, const FixedType& type) {
  return std::ldexp(static_cast<double>(code), -type.frac);
}

/// The bounds that clamp anything: those inside the type's range or beyond its other end.
struct ActiveBounds {
  std::optional<double> low, high;
};

ActiveBounds active_bounds(const Bounds& bounds, const FixedType& type) {
  ActiveBounds active;
  if (bounds.low > limit(type.low(), type)) active.low = bounds.low;
  if (bounds.high < limit(type.high(), type)) active.high = bounds.high;
  return active;
}

/// The least fraction of at least `frac` bits at which a bound is a code of at most 62 bits.
int fraction_for(const std::optional<double>& number, int frac) {
  if (!number) return frac;
  while (std::abs(*number) < std::ldexp(1.0, 61 - frac)) {
    const double code = std::ldexp(*number, frac);
    if (code == std::floor(code)) return frac;
    ++frac;
  }
  throw Refusal{no_codes};
}

/// Without a format for the result: the clamp on the input's grid, made finer where a bound asks.
Operand exact_clamp(const Call& call, const StreamView& x, const Bounds& bounds) {
  const FixedType type = call.lowering.value(x.id).type;
  const ActiveBounds active = active_bounds(bounds, type);
  if (!active.low && !active.high) return x;
  const int frac =
      std::max(fraction_for(active.low, type.frac), fraction_for(active.high, type.frac));
  const int finer = frac - type.frac;
  if (finer + type.width > 124) throw Refusal{no_codes};
  const Interval range = shifted(interval_of(type), finer);
  Requantise clamp{-finer, 1, formats::Rounding::nearest_even, range.low, range.high};
  if (active.low) clamp.low = static_cast<Wide>(std::ldexp(*active.low, frac));
  if (active.high) clamp.high = static_cast<Wide>(std::ldexp(*active.high, frac));
  // A bound beyond the other end: every value becomes that bound.
  if (active.low) clamp.high = std::max(clamp.high, clamp.low);
  if (active.high) clamp.low = std::min(clamp.low, clamp.high);
  if (finer > 0 && signed_width(clamp.low, clamp.high) > 62) throw Refusal{no_codes};
  return call.lowering.emit(call.node, Cast{}, {x.id}, {interval_of(type), type.frac}, clamp, frac,
                            call.lowering.layout_of(x));
}

double on_grid(double number, const Grid& grid) {
  return std::ldexp(static_cast<double>(code_of(number, grid)), -grid.type.frac);
}

/// q(clamp(x, a, b)) = clamp(q(x), q(a), q(b)) for the monotone quantizer q of the result.
Operand clamp_to(const Call& call, const StreamView& x, const Bounds& bounds, const Grid& grid) {
  const FixedType type = call.lowering.value(x.id).type;
  if (holds(grid.type, type))  // q(x) = x: only the bounds are quantized
    return exact_clamp(call, x, {on_grid(bounds.low, grid), on_grid(bounds.high, grid)});
  const Accumulator accumulator{interval_of(type), type.frac};
  Requantise requantise = to_grid(accumulator, grid);
  requantise.low = code_of(bounds.low, grid);
  requantise.high = code_of(bounds.high, grid);
  return call.lowering.emit(call.node, Cast{}, {x.id}, accumulator, requantise, grid.type.frac,
                            call.lowering.layout_of(x));
}

/// A bound of numbers that have one already: clamping twice.
void add_bound(std::optional<Scaled::Bound>& known, double bound, bool low) {
  const Scaled::Bound own{Exact(bound)};
  const auto reaches = [&] {
    const int side = compare(own.number * known->divisor, known->number);
    return low ? side > 0 : side < 0;
  };
  if (std::isfinite(bound) && (!known || reaches())) known = own;
}

/// A clamp behind a scale, which the next rounding does.
std::optional<Scaled> scaled_clamp(const Call& call, const Bounds& bounds) {
  const Scaled* x = call.scaled("self");
  if (!x || call.lowering.on_codes(call.node) || bounds.low > bounds.high) return std::nullopt;
  Scaled clamped = *x;
  add_bound(clamped.low, bounds.low, true);
  add_bound(clamped.high, bounds.high, false);
  const bool crossed = clamped.low && clamped.high &&
                       compare(clamped.low->number * clamped.high->divisor,
                               clamped.high->number * clamped.low->divisor) > 0;
  return crossed ? std::nullopt : std::optional(std::move(clamped));
}

Operand lower_clamp(const Call& call, const Bounds& bounds) {
  if (auto scaled = scaled_clamp(call, bounds)) return std::move(*scaled);
  return clamp_between(call, call.stream("self"), bounds.low, bounds.high);
}

}  // namespace

Operand clamp_between(const Call& call, const StreamView& x, double low, double high) {
  // clamp(x, low, high) with low > high is high everywhere.
  const Bounds bounds{std::min(low, high), high};
  const auto grid = call.lowering.target(call.node);
  return around_masks(call, x, [&](const StreamView& others) {
    return grid ? clamp_to(call, others, bounds, *grid) : exact_clamp(call, others, bounds);
  });
}

std::vector<LoweringRow> clamp_rows() {
  return {
      {"relu",
       [](const Call& call) {
         return lower_clamp(call, {0, infinity});
       },
       true, Factors::none},
      {"relu6",
       [](const Call& call) {
         return lower_clamp(call, {0, 6});
       },
       true, Factors::none},
      {"hardtanh",
       [](const Call& call) {
         return lower_clamp(call, {bound(call, "min_val", -1), bound(call, "max_val", 1)});
       },
       true, Factors::none},
      {"clamp",
       [](const Call& call) {
         return lower_clamp(call, {bound(call, "min", -infinity), bound(call, "max", infinity)});
       },
       true, Factors::none},
      {"clamp_min",
       [](const Call& call) {
         return lower_clamp(call, {bound(call, "min", -infinity), infinity});
       },
       true, Factors::none},
      {"clamp_max",
       [](const Call& call) {
         return lower_clamp(call, {-infinity, bound(call, "max", infinity)});
       },
       true, Factors::none},
  };
}

}  // namespace mase::integer
