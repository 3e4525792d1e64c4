// SPDX-License-Identifier: Apache-2.0
// Lowering of layer, group, instance and RMS norm, as steps that are exact each. With n elements a
// row, all in codes of x:
//
//   c = n x - sum(x),  v = n sum(x^2) - sum(x)^2,  r = floor(2^k sqrt(v + n^2 eps)),
//   q = 2^k c / r rounded once,  y = gain q + bias rounded once;
//
// RMS norm leaves sum(x) out. No v is negative (Cauchy-Schwarz), and v is at most n^2 / 4 times the
// square of the range of x (Popoviciu). A v above 0 is at least n - 1, so that r, which is cut by
// less than 1, moves a q of at most sqrt(n - 1) by less than 2^-k. The k of r and the fraction bits
// of q are `root_guard` and `quotient_guard` more than the result needs for the largest gain: y is
// within one place of the real function, 1/4 from r, 2^-9 from q, one half from its own rounding.
// With e = n^2 eps in codes r moves q by less than 2^-k sqrt(n v) / (v + e), which is at most
// 2^-k sqrt(n / (4 e)): where this is small, k has fewer bits.
// Only rows whose variance is next to nothing come near the first; of the others the second decides
// how many results are not the nearest ones (fewer than one in a thousand). A row without variance
// and eps is 0.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/divide.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/row_steps.hpp"

namespace mase::integer {
namespace {

using Index = std::int64_t;

constexpr int root_guard = 2, quotient_guard = 8;
constexpr int radicand_bits = 124;

/// What a norm is taken of.
struct Norm {
  StreamView x;
  std::vector<bool> reduced;
  double eps = 0;
  bool centred = true;  ///< the mean is taken away
};

/// The steps of a norm up to its quotient.
class NormSteps {
 public:
  NormSteps(const Call& call, const Norm& norm, int root_frac)
      : call_(call),
        norm_(norm),
        rows_(call, in_rows(call, norm.x, norm.reduced)),
        type_(call.lowering.value(rows_.x().id).type),
        range_(interval_of(type_)),
        frac_(std::max(root_frac - spared_bits(), 0)) {
    for (odd_ = rows_.length(); odd_ % 2 == 0; odd_ /= 2) ++even_;
  }

  Index length() const { return rows_.length(); }
  const Layout& layout() const { return rows_.x().layout; }

  /// The division c / r, and its streams.
  DivideStep divide(const Grid& to) {
    const StreamView sum = norm_.centred ? row_sum("sum", rows_.x(), range_) : StreamView{};
    numerator_ = scaled("scaled", rows_.x(), range_, layout());
    FixedType type = call_.lowering.value(numerator_.id).type;
    type.frac -= even_;
    if (norm_.centred) {
      numerator_ = centred(sum);
      type = call_.lowering.value(numerator_.id).type;
    }
    divisor_ = rows_.repeated("root", root(sum));
    return divide_step(type, call_.lowering.value(divisor_.id).type, to, largest());
  }
  /// No quotient is larger.
  double largest() const { return std::sqrt(static_cast<double>(length())) + 1; }
  std::vector<ValueId> operands() const { return {numerator_.id, divisor_.id}; }

 private:
  Wide n() const { return rows_.length(); }

  StreamView row_sum(const std::string& name, const StreamView& x, const Interval& range) const {
    return rows_.reduced(name, PoolKind::sum, x, product(range, {n(), n()}));
  }

  /// A stream times the odd part of n.
  StreamView scaled(const std::string& name, const StreamView& x, const Interval& range,
                    const Layout& layout) const {
    if (odd_ == 1) return x;
    auto [step, accumulator] =
        scale_step(call_, x, {{1}, type_for(odd_, odd_, 0), {odd_}}, std::nullopt);
    accumulator.range = product(range, {odd_, odd_});
    return call_.lowering.emit_before(call_.node, name, std::move(step), {x.id}, accumulator,
                                      exactly(accumulator.range), layout);
  }

  StreamView centred(const StreamView& sum) const {
    const Wide reach = (n() - 1) * (range_.high - range_.low);
    const Interval scaled = product(range_, {n(), n()});
    return rows_.each("centred", Binary{BinaryKind::subtract, even_, 0},
                      {numerator_.id, rows_.repeated("sum", sum).id},
                      {integer::sum(scaled, {-scaled.high, -scaled.low}), type_.frac},
                      {-reach, reach});
  }

  /// n sum(x^2), less sum(x)^2 where the mean is taken away; `even_` bits are left to the root
  /// where it is not.
  StreamView variance(const StreamView& sum) const {
    const int frac = 2 * type_.frac;
    const Interval squares{0, std::max(range_.low * range_.low, range_.high * range_.high)};
    const StreamView square =
        rows_.each("square", Binary{BinaryKind::multiply}, {rows_.x().id, rows_.x().id},
                   {product(range_, range_), frac}, squares);
    const StreamView total = row_sum("squares", square, squares);
    const Interval totals = product(squares, {n(), n()});
    const StreamView scaled_total = scaled("scaled_squares", total, totals, rows_.results());
    if (!norm_.centred) return scaled_total;
    const Interval sums = product(range_, {n(), n()});
    const StreamView mean = rows_.once("sum_squared", Binary{BinaryKind::multiply},
                                       {sum.id, sum.id}, {product(sums, sums), frac},
                                       {0, std::max(sums.low * sums.low, sums.high * sums.high)});
    const Wide span = n() * (range_.high - range_.low);
    const Interval minuend = product(totals, {n(), n()});
    return rows_.once(
        "variance", Binary{BinaryKind::subtract, even_, 0}, {scaled_total.id, mean.id},
        {integer::sum(minuend, {-call_.lowering.value(mean.id).type.high(), 0}), frac},
        {0, span * span / 4});
  }

  StreamView root(const StreamView& sum) const {
    const StreamView radicand = variance(sum);
    const FixedType type = call_.lowering.value(radicand.id).type;
    SquareRoot root{2 * frac_ + (norm_.centred ? 0 : even_), addend()};
    if (type.width + root.shift > radicand_bits)
      throw Refusal{"its statistics need " + std::to_string(type.width + root.shift) +
                    " bits, more than " + std::to_string(radicand_bits) +
                    "; give it a narrower data_in format (pass quantize)"};
    return rows_.once("root", root, {radicand.id}, {{0, root(type.high())}, type_.frac + frac_});
  }

  /// The bits of the root that eps makes needless.
  int spared_bits() const {
    if (!(norm_.eps > 0)) return 0;
    const double n = static_cast<double>(length());
    const double root_of_eps = std::ldexp(n * std::sqrt(norm_.eps), type_.frac);
    return std::max(0, std::ilogb(2 * root_of_eps / std::sqrt(n)));
  }

  /// n^2 eps at the point of the radicand.
  std::int64_t addend() const {
    const double n = static_cast<double>(rows_.length());
    const double exact = std::ldexp(n * n * norm_.eps, 2 * (type_.frac + frac_));
    const std::string eps = double_text(norm_.eps);
    if (!(exact >= 0)) throw Refusal{"its eps is " + eps + ", which is not at least 0"};
    if (exact >= 0x1p62)
      throw Refusal{"its eps of " + eps +
                    " needs more than 62 bits at the point of its statistics" +
                    "; give the node formats with fewer fraction bits, or fewer bits of exponent "
                    "(pass quantize)"};
    return std::llround(exact);
  }

  const Call& call_;
  const Norm& norm_;
  RowSteps rows_;
  FixedType type_;
  Interval range_;
  int frac_;       ///< bits of the root below those of x
  Index odd_ = 1;  ///< n is this, and
  int even_ = 0;   ///< two so often
  StreamView numerator_, divisor_;
};

/// Bits in front of the point of the largest gain.
int gain_bits(const Constants& gain) {
  const Interval range = gain.range();
  const Wide most = std::max({range.high, -range.low, Wide{1}});
  return signed_width(0, most - 1) - 1 - gain.type.frac;
}

/// Constants for the last dimensions of a frame, or for its channels.
Constants along(Constants constants, std::size_t rank, bool channels) {
  if (channels) constants.shape.insert(constants.shape.end(), rank - 1, 1);
  return constants;
}

/// `channels`: gain and bias belong to the first dimension of the frame, not to its last ones.
Operand normalized(const Call& call, const Norm& norm, bool channels) {
  const Grid grid = call.needed_or_finer_grid();
  const bool has_gain = call.has_tensor("weight"), has_bias = call.has_tensor("bias");
  Constants gain = has_gain ? call.constants("weight") : call.constant(1.0);
  const int needed = grid.type.frac + gain_bits(gain), frac = std::max(needed + quotient_guard, 0);
  NormSteps steps(call, norm, needed + root_guard);
  if (!has_gain && !has_bias) {
    const DivideStep divide = steps.divide(grid);
    const StreamView y = call.lowering.emit(call.node, divide.operation, steps.operands(),
                                            divide.accumulator, steps.layout());
    return StreamView{y.id, reshaped(y.layout, call.frame_shape())};
  }
  const Wide most = static_cast<Wide>(steps.largest()) << frac;
  const FixedType type = type_for(-most, most, frac);
  const DivideStep divide = steps.divide({type});
  StreamView q = call.lowering.emit_before(
      call.node, "normalized", divide.operation, steps.operands(), divide.accumulator,
      to_grid(divide.accumulator, {type, formats::Rounding::nearest_even}), steps.layout());
  q.layout = reshaped(q.layout, call.frame_shape());
  const std::size_t rank = q.layout.torch_shape.size();
  gain = in_stream_order(call, q, along(std::move(gain), rank, channels));
  std::optional<Constants> bias;
  if (has_bias) bias = in_stream_order(call, q, along(call.constants("bias"), rank, channels));
  return scale_and_shift(call, q, std::move(gain), std::move(bias));
}

/// A stream and the eps that its norm has. That of a * x with eps is that of x with eps / a^2, so
/// that codes with a scale are normalized as they are.
std::pair<StreamView, double> operand_of(const Call& call, double eps) {
  const Scaled* scaled = call.scaled("input");
  if (!scaled || !scaled->is_multiple()) return {call.stream("input"), eps};
  call.lowering.check_stream(scaled->codes.id);
  const double scale = scaled->lines[0].factor.rounded() / scaled->lines[0].divisor.rounded();
  return {scaled->codes, eps / (scale * scale)};
}

/// Over the last dimensions.
Operand lower_shaped_norm(const Call& call, double default_eps, bool centred) {
  const auto [x, eps] = operand_of(call, call.number("eps", default_eps));
  const ir::Value* shape = call.find("normalized_shape");
  const std::size_t count =
      shape && shape->kind() == ir::Value::Kind::list ? shape->items().size() : 1;
  const std::size_t rank = x.layout.torch_shape.size();
  if (count > rank) throw Refusal{"it normalizes over the batch"};
  Norm norm{x, std::vector<bool>(rank, false), eps, centred};
  std::fill(norm.reduced.end() - static_cast<std::ptrdiff_t>(count), norm.reduced.end(), true);
  return normalized(call, norm, false);
}

/// The norm of groups of channels: each group is a row.
Operand lower_groups(const Call& call, Index groups) {
  auto [x, eps] = operand_of(call, call.number("eps", 1e-5));
  const Shape& frame = x.layout.torch_shape;
  if (frame.empty() || groups < 1 || frame[0] % groups != 0)
    throw Refusal{"its groups do not divide its channels"};
  x.layout = reshaped(x.layout, {groups, numel(frame) / groups});
  return normalized(call, {x, {false, true}, eps}, true);
}

Operand lower_instance_norm(const Call& call) {
  if (!call.flag("use_input_stats", true))
    throw Refusal{
        "it divides by statistics that it has kept, which has no datapath; write it as batch norm, "
        "and pass fuse_batch_norm makes it a part of its layer"};
  return lower_groups(call, call.frame_shape().at(0));
}

}  // namespace

std::vector<LoweringRow> norm_rows() {
  return {
      {"layer_norm", [](const Call& call) { return lower_shaped_norm(call, 1e-5, true); }},
      {"rms_norm",
       [](const Call& call) {
         return lower_shaped_norm(call, std::numeric_limits<float>::epsilon(), false);
       }},
      {"group_norm",
       [](const Call& call) { return lower_groups(call, call.integer("num_groups", 1)); }},
      {"instance_norm2d", lower_instance_norm},
  };
}

}  // namespace mase::integer
