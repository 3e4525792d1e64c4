// SPDX-License-Identifier: Apache-2.0
// Lowering of add, subtract, multiply, divide, maximum and minimum, of two streams and of a stream
// and constants, and of rounding to whole numbers.
#include "hardware/integer/lowering/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hardware/integer/lowering/clamp.hpp"
#include "hardware/integer/lowering/divide.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/masked.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/movement.hpp"
#include "hardware/integer/lowering/scaled.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {

StreamView repeated(const Call& call, const StreamView& x, const Shape& to, std::string_view port) {
  const Shape& from = x.layout.torch_shape;
  if (from == to) return x;
  const auto fits = [&] {
    for (std::size_t d = 0; d < from.size(); ++d)
      if (from[d] != 1 && from[d] != to[d]) return false;
    return from.size() == to.size();
  };
  if (!fits())
    throw Refusal{"one of its operands has the shape " + shape_text(from) +
                  ", which does not stretch to " + shape_text(to) + " along dimensions of 1"};
  const std::vector<std::int64_t> source =
      moved_elements(from, to, [&](std::size_t d, std::int64_t i) { return from[d] == 1 ? 0 : i; });
  const Layout wanted = is_channels_last(x.layout) ? channels_last(to) : row_major(to);
  return call.lowering.moved(x, source, wanted, call.node, std::string(port) + "_repeat");
}

namespace {

enum class Arithmetic { add, subtract, multiply, divide, maximum, minimum };

BinaryKind kind_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    using enum Arithmetic;
    case add:
      return BinaryKind::add;
    case subtract:
      return BinaryKind::subtract;
    case multiply:
      return BinaryKind::multiply;
    case maximum:
      return BinaryKind::maximum;
    case minimum:
      return BinaryKind::minimum;
    case divide:
      break;
  }
  MASE_CHECK(false, "a quotient is a step of its own");
}

/// Values of the accumulator; the shifted operands of a choice stand in it too.
Interval joined(BinaryKind kind, const Interval& a, const Interval& b) {
  if (kind == BinaryKind::add) return sum(a, b);
  if (kind == BinaryKind::subtract) return sum(a, {-b.high, -b.low});
  return kind == BinaryKind::multiply ? product(a, b) : hull(a, b);
}

/// Whether a stream is read as layers want it.
bool is_usual(const Layout& layout) {
  return is_channels_last(layout) || layout.order == row_major(layout.torch_shape).order;
}

/// The sum or difference of streams with different scales.
std::optional<Scaled> scaled_sum(const Call& call, Arithmetic kind, std::string_view first,
                                 std::string_view second) {
  const Scaled *x = call.scaled(first), *y = call.scaled(second);
  const bool adds = kind == Arithmetic::add, subtracts = kind == Arithmetic::subtract;
  if (!x || !y || (!adds && !subtracts) || call.lowering.on_codes(call.node)) return std::nullopt;
  Scaled a = *x, b = *y;
  std::tie(a.codes, b.codes) = alike(call, x->codes, y->codes, first, second);
  return sum_of(std::move(a), b, adds ? 1 : -1);
}

Operand lower_streams(const Call& call, Arithmetic kind, std::string_view first,
                      std::string_view second) {
  if (auto sum = scaled_sum(call, kind, first, second)) return std::move(*sum);
  const StreamView x = call.stream(first), y = call.stream(second);
  if (call.lowering.masked(x.id) || call.lowering.masked(y.id))
    return masked_sum(call, kind_of(kind), x, y);
  const auto [a, b] = alike(call, x, y, first, second);
  if (kind == Arithmetic::divide) return divide(call, a, b);
  return combined(call, kind_of(kind), a, b);
}

/// The exact reciprocals of powers of two; refused for anything else.
Constants reciprocal(const Constants& constants) {
  std::vector<float> values;
  for (const std::int64_t code : constants.codes) {
    int exponent = 0;
    const double value = std::ldexp(static_cast<double>(code), -constants.type.frac);
    if (std::abs(std::frexp(value, &exponent)) != 0.5)
      throw Refusal{
          "divisors that differ or are negative have a datapath only as powers of two; multiply "
          "by their reciprocals"};
    values.push_back(static_cast<float>(1.0 / value));
  }
  int frac = constants.type.frac;
  Constants result{constants.shape, {}, {}};
  for (const float value : values) {
    int exponent = 0;
    std::frexp(value, &exponent);
    frac = std::max(frac, 1 - exponent);
  }
  for (const float value : values) {
    const double code = std::ldexp(static_cast<double>(value), frac);
    if (std::abs(code) >= 0x1p31) throw Refusal{"its divisors are too far apart"};
    result.codes.push_back(static_cast<std::int64_t>(code));
  }
  result.fit(frac);
  return result;
}

/// x * 2^-bits: the same codes at another binary point.
Operand lower_power_of_two(const Call& call, const StreamView& x, int bits) {
  const FixedType& type = call.lowering.value(x.id).type;
  return call.lowering.emit(call.node, Cast{}, {x.id}, {interval_of(type), type.frac + bits},
                            call.lowering.layout_of(x));
}

Operand multiply(const Call& call, const StreamView& x, Constants scale) {
  if (!scale.any && scale.codes.size() == 1 && scale.codes[0] == 1)
    return lower_power_of_two(call, x, scale.type.frac);
  return scale_and_shift(call, x, std::move(scale), std::nullopt);
}

bool is_power_of_two(std::int64_t code) { return code != 0 && (code & (code - 1)) == 0; }

/// By powers of two, or by one positive number: the requantisation divides.
Operand divide(const Call& call, const StreamView& x, const Constants& divisors) {
  check_fixed(divisors);
  const std::int64_t first = divisors.codes.front();
  const bool one = std::all_of(divisors.codes.begin(), divisors.codes.end(),
                               [&](std::int64_t code) { return code == first; });
  if (!one || first <= 0 || is_power_of_two(first)) return multiply(call, x, reciprocal(divisors));
  const FixedType& type = call.lowering.value(x.id).type;
  return call.lowering.emit(call.node, Cast{}, {x.id},
                            {interval_of(type), type.frac - divisors.type.frac, first},
                            call.lowering.layout_of(x));
}

/// The larger or the smaller of a stream and one number.
Operand lower_choice(const Call& call, const StreamView& x, const Constants& constants, bool most) {
  check_fixed(constants);
  const auto differs = [&](std::int64_t code) { return code != constants.codes.front(); };
  if (std::any_of(constants.codes.begin(), constants.codes.end(), differs))
    throw Refusal{"constants that differ have no datapath; one number for all has"};
  const double bound =
      std::ldexp(static_cast<double>(constants.codes.front()), -constants.type.frac);
  return clamp_between(call, x, most ? bound : -HUGE_VAL, most ? HUGE_VAL : bound);
}

/// A stream and constants; `reversed`: the constants are the first operand.
Operand lower_constants(const Call& call, Arithmetic kind, StreamView x, Constants constants,
                        bool reversed) {
  if (constants.codes.size() > 1)
    x = repeated(call, x, call.frame_shape(), reversed ? "other" : "self");
  constants = in_stream_order(call, x, std::move(constants));
  if (kind == Arithmetic::maximum || kind == Arithmetic::minimum)
    return lower_choice(call, x, constants, kind == Arithmetic::maximum);
  if (kind == Arithmetic::multiply) return multiply(call, x, std::move(constants));
  if (kind == Arithmetic::divide) {
    if (reversed)
      throw Refusal{
          "a constant over a stream has no datapath; multiply torch.reciprocal of the stream by "
          "it"};
    return divide(call, x, constants);
  }
  const bool minus = kind == Arithmetic::subtract;
  if (minus && !reversed) constants.negate();
  return scale_and_shift(call, x, call.constant(minus && reversed ? -1.0 : 1.0),
                         std::move(constants));
}

/// A factor that takes every code but 0 beyond the grid of the result, as one that is no larger
/// than that needs: -3.4e38 in front of a mask.
double saturating(const Call& call, const StreamView& x, double factor) {
  const auto grid = call.lowering.target(call.node);
  if (!grid) return factor;
  const FixedType &from = call.lowering.value(x.id).type, &to = grid->type;
  const double enough = std::ldexp(1.0, to.width - to.frac + from.frac);
  return std::clamp(factor, -enough, enough);
}

/// The factor of a product that makes masks; none of any other product.
std::optional<double> mask_factor(const Call& call, std::string_view argument) {
  if (!call.lowering.keeps_masks(call.node)) return std::nullopt;
  const Parameter* parameter = call.parameter(argument);
  const Array values = parameter ? call.values(*parameter) : Array();
  const double factor = parameter ? values.span<float>()[0] : call.number(argument, 0);
  if (factor > 0) return std::nullopt;  // it passes them on
  if (parameter && values.size() != 1)
    throw Refusal{"it makes masks by factors that differ; one number has a datapath"};
  return factor;
}

/// Takes the masks out of the constants of a sum: 1 where there is none. Nothing without masks.
std::optional<Constants> taken_masks(const Call& call, std::string_view argument,
                                     Constants& constants) {
  const Parameter* parameter = call.parameter(argument);
  if (!parameter || !call.lowering.keeps_masks(call.node)) return std::nullopt;
  const Array values = call.values(*parameter);
  Constants kept{values.shape(), {1, 0, false}, {}, {}, Interval{0, 1}};
  for (std::size_t i = 0; i < constants.codes.size(); ++i) {
    const bool is_mask = values.span<float>()[i] <= ir::mask_bound;
    kept.codes.push_back(is_mask ? 0 : 1);
    if (is_mask) constants.codes[i] = 0;
  }
  return kept;
}

/// The sum of a stream and constants of which some are masks.
Operand masked_constants(const Call& call, const StreamView& x, Constants constants,
                         Constants kept) {
  if (call.frame_shape() != x.layout.torch_shape)
    throw Refusal{"its masks make the stream larger; expand the stream before it"};
  StreamView sum = x;
  const auto is_zero = [](std::int64_t code) { return code == 0; };
  if (constants.any || !std::ranges::all_of(constants.codes, is_zero)) {
    auto [step, accumulator] =
        scale_step(call, x, call.constant(1.0), in_stream_order(call, x, std::move(constants)));
    const auto grid = call.lowering.target(call.node);
    sum = call.lowering.emit_before(call.node, "others", std::move(step), {x.id}, accumulator,
                                    grid ? to_grid(accumulator, *grid) : exactly(accumulator.range),
                                    call.lowering.layout_of(x));
  }
  sum = on_result_grid(call, sum);
  return masked_where(call, sum, in_stream_order(call, sum, std::move(kept)));
}

Constants constants_of(const Call& call, Arithmetic kind, const StreamView& x,
                       std::string_view argument) {
  if (call.has_tensor(argument)) return call.constants(argument, true);
  const ir::Value* value = call.node.find(argument);
  if (!value || value->is_node())
    throw Refusal{"argument '" + std::string(argument) + "' is not a constant"};
  const double number = call.number(argument, 0);
  return call.constant(kind == Arithmetic::multiply ? saturating(call, x, number) : number);
}

Operand added_constants(const Call& call, const StreamView& x, std::string_view argument) {
  Constants constants = constants_of(call, Arithmetic::add, x, argument);
  if (auto kept = taken_masks(call, argument, constants))
    return masked_constants(call, x, std::move(constants), std::move(*kept));
  return lower_constants(call, Arithmetic::add, x, std::move(constants), false);
}

void check_options(const Call& call) {
  if (call.number("alpha", 1) != 1) throw Refusal{"an alpha other than 1 has no datapath"};
  if (call.find("rounding_mode")) throw Refusal{"a rounded quotient has no datapath"};
}

std::vector<Exact> exact_numbers(const Constants& constants) {
  std::vector<Exact> numbers;
  for (const std::int64_t code : constants.codes) numbers.emplace_back(code, -constants.type.frac);
  return numbers;
}

/// Whether something else than the host reads a result.
bool is_read_on(const Call& call) {
  const std::vector<ir::NodeId> users = call.lowering.graph().users(call.node.id);
  return std::ranges::any_of(users, [&](ir::NodeId user) {
    return call.lowering.graph().node(user).kind != ir::NodeKind::output;
  });
}

/// What begins a scaled stream: a product or quotient by numbers that are no powers of two, which
/// nothing rounds here.
bool begins_scale(const Call& call, Arithmetic kind, const std::vector<Exact>& constants) {
  const bool scales = kind == Arithmetic::multiply || kind == Arithmetic::divide;
  const auto is_usual = [](const Exact& one) { return one.is_power() || one.sign() <= 0; };
  return scales && std::ranges::none_of(constants, is_usual) && !call.lowering.reloadable() &&
         !call.lowering.keeps_masks(call.node) && !call.lowering.target(call.node) &&
         !call.lowering.asked_levels(call.node) && !call.lowering.asked_blocks(call.node);
}

/// Arithmetic of a stream and constants that moves a scale and no code; nullopt where codes move.
std::optional<Scaled> on_line(const Call& call, Arithmetic kind, std::string_view argument,
                              Constants constants) {
  const Scaled* given = call.scaled(argument);
  if (!given && !begins_scale(call, kind, exact_numbers(constants))) return std::nullopt;
  Scaled x = given ? *given : unscaled(call.stream(argument));
  // A result of the model keeps its fixed point, unless it is whole codes times their scale.
  if (!given && call.lowering.value(x.codes.id).type.frac != 0 && !is_read_on(call))
    return std::nullopt;
  if (constants.codes.size() > 1) {
    if (x.codes.layout.torch_shape != call.frame_shape()) return std::nullopt;
    constants = in_stream_order(call, x.codes, std::move(constants));
    const std::int64_t channels = call.lowering.value(x.codes.id).channels();
    if (std::ssize(constants.codes) != channels) return std::nullopt;
  }
  if (kind == Arithmetic::subtract) constants.negate();
  const std::vector<Exact> numbers = exact_numbers(constants);
  switch (kind) {
    case Arithmetic::multiply:
      return multiplied(std::move(x), numbers);
    case Arithmetic::divide:
      return divided(std::move(x), numbers);
    case Arithmetic::add:
    case Arithmetic::subtract:
      return shifted(std::move(x), numbers);
    case Arithmetic::maximum:
    case Arithmetic::minimum:
      break;
  }
  return std::nullopt;
}

/// The same of a node, whose constant must be its second operand where the order matters.
std::optional<Scaled> on_line(const Call& call, Arithmetic kind) {
  if (ir::base_op(call.node.op) == "aten::rsub" || call.lowering.on_codes(call.node))
    return std::nullopt;
  const bool first = is_stream(call, "self"), second = is_stream(call, "other");
  const bool commutes = kind == Arithmetic::add || kind == Arithmetic::multiply;
  if (first == second || (second && !commutes)) return std::nullopt;
  const std::string_view argument = first ? "self" : "other", constant = first ? "other" : "self";
  if (kind == Arithmetic::multiply && mask_factor(call, constant)) return std::nullopt;
  const Scaled* given = call.scaled(argument);
  const bool masked = !given && call.lowering.masked(call.raw_stream(argument).id);
  if (masked || call.lowering.reloadable()) return std::nullopt;
  const ir::Value* value = call.node.find(constant);
  const bool known = call.has_tensor(constant) || (value && value->is_number());
  if (!known) return std::nullopt;
  return on_line(call, kind, argument,
                 call.has_tensor(constant) ? call.constants(constant, true)
                                           : call.constant(call.number(constant, 0)));
}

Operand lower_arithmetic(const Call& call, Arithmetic kind) {
  check_options(call);
  if (kind == Arithmetic::divide && call.node.find("self")->is_node())
    if (call.lowering.host_step(call.node.find("self")->node())) return call.raw_stream("self");
  if (auto scaled = on_line(call, kind)) return std::move(*scaled);
  const bool first = is_stream(call, "self"), second = is_stream(call, "other");
  const bool swapped = ir::base_op(call.node.op) == "aten::rsub";
  if (first && second)
    return lower_streams(call, kind, swapped ? "other" : "self", swapped ? "self" : "other");
  if (!first && !second) throw Refusal{"it computes a constant; fold it into a parameter"};
  const StreamView x = call.stream(first ? "self" : "other");
  const std::string_view constant = first ? "other" : "self";
  if (kind == Arithmetic::multiply)
    if (const auto factor = mask_factor(call, constant)) return masked_product(call, x, *factor);
  return around_masks(call, x, [&](const StreamView& others) {
    if (kind == Arithmetic::add) return added_constants(call, others, constant);
    return lower_constants(call, kind, others, constants_of(call, kind, others, constant),
                           first == swapped);
  });
}

Operand lower_negation(const Call& call) {
  return multiply(call, call.stream("self"), call.constant(-1.0));
}

/// The clamp that alone reads a result; null for others.
const ir::Node* only_clamp(const Call& call) {
  const ir::Graph& graph = call.lowering.graph();
  const std::vector<ir::NodeId> users = graph.users(call.node.id);
  if (users.size() != 1) return nullptr;
  const ir::Node& user = graph.node(users[0]);
  const ir::Value *low = user.find("min"), *high = user.find("max");
  const bool has_ends = low && high && low->is_number() && high->is_number();
  return ir::base_op(user.op) == "aten::clamp" && has_ends ? &user : nullptr;
}

/// Whole numbers behind a scale, between the ends of the clamp that reads them.
std::optional<StreamView> whole_between(const Call& call, formats::Rounding rounding) {
  const Scaled* x = call.scaled("self");
  const ir::Node* clamp = only_clamp(call);
  if (!x || !clamp || call.lowering.on_codes(call.node)) return std::nullopt;
  const double low = std::ceil(clamp->find("min")->as_double());
  const double high = std::floor(clamp->find("max")->as_double());
  if (!(std::abs(low) < 0x1p31 && std::abs(high) < 0x1p31 && low <= high)) return std::nullopt;
  Scaled between = *x;
  if (!between.low) between.low = Scaled::Bound{Exact(low)};
  if (!between.high) between.high = Scaled::Bound{Exact(high)};
  const FixedType type = type_for(static_cast<Wide>(low), static_cast<Wide>(high), 0);
  return call.lowering.rounded_stream(between, {type, rounding}, call.node, "self");
}

/// floor, and round to even: the codes without their fraction bits.
Operand lower_whole(const Call& call, formats::Rounding rounding) {
  if (call.integer("decimals", 0) != 0)
    throw Refusal{"rounding to decimals has no datapath; round to whole numbers"};
  if (auto whole = whole_between(call, rounding)) return *whole;
  const StreamView x = call.stream("self");
  const FixedType type = call.lowering.value(x.id).type;
  if (type.frac <= 0) return x;
  Requantise whole{type.frac, 1, rounding, type.low(), type.high()};
  const Interval results{whole(type.low()), whole(type.high())};
  whole.low = results.low;
  whole.high = results.high;
  return call.lowering.emit(call.node, Cast{}, {x.id}, {interval_of(type), type.frac}, whole, 0,
                            call.lowering.layout_of(x));
}

}  // namespace

Constants in_stream_order(const Call& call, const StreamView& x, Constants constants) {
  if (constants.codes.size() == 1) return constants;
  Shape shape{1};
  shape.insert(shape.end(), x.layout.torch_shape.begin(), x.layout.torch_shape.end());
  if (constants.shape.size() > shape.size() ||
      (constants.shape.size() == shape.size() && constants.shape[0] != 1))
    throw Refusal{"its constants mix rows of the batch or add dimensions"};
  const std::size_t skipped = shape.size() - constants.shape.size();
  const auto place = [&](std::int64_t element) {
    std::int64_t index = 0, stride = 1;
    for (std::size_t d = shape.size(); d-- > skipped; element /= shape[d]) {
      const std::int64_t size = constants.shape[d - skipped];
      if (size != 1 && size != shape[d])
        throw Refusal{"its constants " + shape_text(constants.shape) + " do not stretch to " +
                      shape_text(x.layout.torch_shape) + " along dimensions of 1"};
      index += (size == 1 ? 0 : element % shape[d]) * stride;
      stride *= size;
    }
    return index;
  };
  Codes codes, places;
  for (const std::int64_t element : x.layout.order) {
    places.push_back(place(element));
    codes.push_back(constants.codes[at(places.back())]);
  }
  const std::size_t channels = at(call.lowering.value(x.id).channels());
  // Codes that may be replaced are alike only where they are one and the same.
  const Codes& alike = constants.any ? places : codes;
  bool by_channel = true;
  for (std::size_t i = channels; i < codes.size(); ++i)
    by_channel = by_channel && alike[i] == alike[i - channels];
  if (by_channel) codes.resize(channels);
  constants.shape = {static_cast<std::int64_t>(codes.size())};
  constants.codes = std::move(codes);
  return constants;
}

bool is_stream(const Call& call, std::string_view argument) {
  const ir::Value* value = call.node.find(argument);
  if (!value || !value->is_node()) return false;
  const Operand& operand = call.lowering.operand(value->node());
  if (std::holds_alternative<std::monostate>(operand)) throw Refusal{};
  return std::holds_alternative<StreamView>(operand) || std::holds_alternative<Scaled>(operand);
}

std::pair<StreamView, StreamView> alike(const Call& call, std::string_view first,
                                        std::string_view second) {
  return alike(call, call.stream(first), call.stream(second), first, second);
}

std::pair<StreamView, StreamView> alike(const Call& call, StreamView a, StreamView b,
                                        std::string_view first, std::string_view second) {
  const Shape shape = call.frame_shape();
  a = repeated(call, a, shape, first);
  b = repeated(call, b, shape, second);
  // Where the orders differ, the one that layers do not read is changed.
  if (is_usual(a.layout) || !is_usual(b.layout))
    b = call.lowering.reordered(b, call.lowering.layout_of(a), call.node, std::string(second));
  else
    a = call.lowering.reordered(a, call.lowering.layout_of(b), call.node, std::string(first));
  return {a, b};
}

Operand sum_with(const Call& call, const StreamView& x, std::string_view argument) {
  if (!is_stream(call, argument)) return added_constants(call, x, argument);
  const StreamView given = call.stream(argument);
  if (call.lowering.masked(given.id)) return masked_sum(call, BinaryKind::add, given, x);
  const auto [a, b] = alike(call, x, given, "other", argument);
  return combined(call, BinaryKind::add, a, b);
}

std::pair<Binary, Accumulator> binary_step(const Call& call, BinaryKind kind, const StreamView& a,
                                           const StreamView& b) {
  Binary binary{kind};
  const FixedType x = call.lowering.value(a.id).type, y = call.lowering.value(b.id).type;
  int frac = x.frac + y.frac;
  if (kind != BinaryKind::multiply) {
    frac = std::max(x.frac, y.frac);
    binary.shift_a = frac - x.frac;
    binary.shift_b = frac - y.frac;
    if (x.width + binary.shift_a > 124 || y.width + binary.shift_b > 124)
      throw Refusal{"its operands' fractions are too far apart for one accumulator"};
  }
  const Accumulator accumulator{joined(kind, shifted(interval_of(x), binary.shift_a),
                                       shifted(interval_of(y), binary.shift_b)),
                                frac};
  return {binary, accumulator};
}

StreamView combined(const Call& call, BinaryKind kind, const StreamView& a, const StreamView& b) {
  const auto [binary, accumulator] = binary_step(call, kind, a, b);
  return call.lowering.emit(call.node, binary, {a.id, b.id}, accumulator,
                            call.lowering.layout_of(a));
}

// x + (slope - 1) * min(x, 0): exact before the one rounding of the sum.
Operand sloped(const Call& call, const StreamView& x, Constants slope) {
  const FixedType& type = call.lowering.value(x.id).type;
  if (!type.is_signed) return x;
  if (slope.codes.size() > 1)
    slope.shape.insert(slope.shape.end(), x.layout.torch_shape.size() - 1, 1);
  const std::int64_t one = std::int64_t{1} << slope.type.frac;
  for (std::int64_t& code : slope.codes) code -= one;
  if (slope.any) slope.any = sum(*slope.any, {-one, -one});
  slope.fit(slope.type.frac);
  slope = in_stream_order(call, x, std::move(slope));
  const Layout layout = call.lowering.layout_of(x);
  const Interval range = interval_of(type);
  const StreamView negative = call.lowering.emit_before(
      call.node, "negative", Cast{}, {x.id}, {range, type.frac}, exactly({range.low, 0}), layout);
  auto [scale, accumulator] = scale_step(call, negative, std::move(slope), std::nullopt);
  const StreamView scaled =
      call.lowering.emit_before(call.node, "scaled", std::move(scale), {negative.id}, accumulator,
                                exactly(accumulator.range), layout);
  return combined(call, BinaryKind::add, x, scaled);
}

namespace {

/// Neighbours along one dimension, each minus the one before it.
Operand lower_diff(const Call& call) {
  if (call.integer("n", 1) != 1 || call.find("prepend") || call.find("append"))
    throw Refusal{"only differences of neighbours in its input have a datapath"};
  const StreamView x = call.stream("self");
  const Shape& from = x.layout.torch_shape;
  const Shape to = call.frame_shape();
  const std::size_t along = call.frame_dim("dim", -1, from.size());
  const Layout wanted = is_channels_last(x.layout) ? channels_last(to) : row_major(to);
  const auto part = [&](std::int64_t first, const std::string& suffix) {
    const std::vector<std::int64_t> source = moved_elements(
        from, to, [&](std::size_t d, std::int64_t i) { return d == along ? i + first : i; });
    return call.lowering.moved(x, source, wanted, call.node, suffix);
  };
  const StreamView later = part(1, "later");
  return combined(call, BinaryKind::subtract, later, part(0, "earlier"));
}

}  // namespace

std::vector<LoweringRow> arithmetic_rows() {
  return {
      {"diff", lower_diff},
      {"add", [](const Call& call) { return lower_arithmetic(call, Arithmetic::add); }, false,
       Factors::kept},
      {"sub", [](const Call& call) { return lower_arithmetic(call, Arithmetic::subtract); }, false,
       Factors::kept},
      {"mul", [](const Call& call) { return lower_arithmetic(call, Arithmetic::multiply); }, false,
       Factors::products},
      {"div", [](const Call& call) { return lower_arithmetic(call, Arithmetic::divide); }},
      {"maximum", [](const Call& call) { return lower_arithmetic(call, Arithmetic::maximum); },
       false, Factors::kept},
      {"minimum", [](const Call& call) { return lower_arithmetic(call, Arithmetic::minimum); },
       false, Factors::kept},
      {"neg", lower_negation, false, Factors::kept},
      {"floor", [](const Call& call) { return lower_whole(call, formats::Rounding::floor); }},
      {"round",
       [](const Call& call) { return lower_whole(call, formats::Rounding::nearest_even); }},
  };
}

}  // namespace mase::integer
