// SPDX-License-Identifier: Apache-2.0
// Between float batches and codes.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/lowering/layout.hpp"
#include "ir/masks.hpp"

namespace mase::integer {
namespace {

/// Rounds |v| < 2^51 to an integer: the sum has no fraction bits, so the addition rounds to the
/// nearest, ties to even.
double nearest_even(double v) {
  constexpr double no_fraction = 0x1.8p52;
  return (v + no_fraction) - no_fraction;
}

double rounded(double v, formats::Rounding rounding) {
  const double nearest = nearest_even(v);
  if (rounding == formats::Rounding::nearest_even) return nearest;
  if (rounding == formats::Rounding::floor) return nearest > v ? nearest - 1.0 : nearest;
  return std::abs(v - nearest) == 0.5 ? v + std::copysign(0.5, v) : nearest;
}

/// x * 2^frac is exact in double for every float; clamping to integers before rounding is the same
/// as after it, and keeps the codes small enough to round.
/// If masks have a code, `least` is the lower bound of all other elements.
void encode_span(const float* in, std::int64_t* out, std::size_t count, const FixedType& type,
                 formats::Rounding rounding, std::optional<std::int64_t> least) {
  const double scale = std::ldexp(1.0, type.frac);
  const auto low = static_cast<double>(least.value_or(static_cast<std::int64_t>(type.low())));
  const auto high = static_cast<double>(type.high());
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int64_t>(
        rounded(std::clamp(static_cast<double>(in[i]) * scale, low, high), rounding));
  for (std::size_t i = 0; least && i < count; ++i)
    if (in[i] <= ir::mask_bound) out[i] = static_cast<std::int64_t>(type.low());
}

/// Rounds a batch to a format with blocks, whose numbers are all multiples of 2^-frac.
void encode_blocks(std::span<const float> in, Codes& out, const formats::Format& format,
                   const Shape& shape, const StreamValue& value) {
  for (std::size_t i = 0; i < in.size(); ++i)
    if (std::isinf(in[i]))
      file_error("input '" + value.name + "': element " + std::to_string(i) +
                 " is infinite, which format '" + format.text() + "' has no number for");
  std::vector<float> rounded(in.size());
  format.quantize(in, rounded, shape);
  std::ranges::transform(rounded, out.begin(), [&](float number) {
    return static_cast<std::int64_t>(std::ldexp(static_cast<double>(number), value.type.frac));
  });
}

/// code * 2^-frac, rounded once: codes above 2^53 keep a sticky last bit that stands for the bits
/// shifted out, far below float32's last one.
float decoded(std::int64_t code, int frac) {
  if (std::abs(code) >= std::int64_t{1} << 52) {
    const std::int64_t lost = code & 0x3ff;
    return static_cast<float>(
        std::ldexp(static_cast<double>((code >> 10) | (lost != 0 ? 1 : 0)), 10 - frac));
  }
  return static_cast<float>(std::ldexp(static_cast<double>(code), -frac));
}

void check_frames(const StreamValue& value, const Array& batch) {
  const Shape& shape = batch.shape();
  if (shape.empty() || Shape(shape.begin() + 1, shape.end()) != value.torch_shape)
    file_error("input '" + value.name + "' has the shape " + shape_text(shape) +
               ", the integers are for a batch of " + shape_text(value.torch_shape) +
               "; mase transform with an example of another size (--input-shape) makes others");
}

/// Calls `see` with each step whose table has rows that elements of an input choose, and their
/// number.
template <class See>
void for_each_table(const Program& program, ValueId input, See&& see) {
  std::set<ValueId> ids{input};  // the input, and what its elements are moved to
  for (const Step& step : program.steps) {
    const auto reads = [&](ValueId id) { return ids.contains(id); };
    if (std::ranges::none_of(step.inputs, reads)) continue;
    if (const auto rows = index_end(step.operation)) see(step, *rows);
    if (keeps_numbers(step.operation)) ids.insert(step.output);
  }
}

void check_ids(const Program& program, std::size_t input, const Array& batch) {
  const ValueId id = program.inputs[input];
  for_each_table(program, id, [&](const Step& step, std::int64_t rows) {
    const Array numbers = batch.to_float32();
    for (const float number : numbers.span<float>())
      if (number < 0 || number >= static_cast<float>(rows))
        file_error("input '" + program.value(id).name + "' has the number " +
                   std::to_string(static_cast<std::int64_t>(number)) + ", but the table of node '" +
                   step.layer + "' has rows 0 to " + std::to_string(rows - 1));
  });
}

}  // namespace

Codes encode_input(const Program& program, std::size_t input, const Array& batch) {
  check_ids(program, input, batch);
  return encode_saturated(program, input, batch);
}

Codes encode_saturated(const Program& program, std::size_t input, const Array& batch) {
  const StreamValue& value = program.value(program.inputs[input]);
  check_frames(value, batch);
  Array numbers = batch.to_float32();
  for (const double step : value.scales)
    for (float& number : numbers.mutable_span<float>()) number /= static_cast<float>(step);
  const auto floats = numbers.span<float>();
  for (std::size_t i = 0; i < floats.size(); ++i)
    if (std::isnan(floats[i]))
      file_error("input '" + value.name + "': element " + std::to_string(i) +
                 " is NaN, which has no integer code");
  Codes codes(floats.size());
  if (const Levels* levels = program.input_levels[input].get())
    std::ranges::transform(floats, codes.begin(), [&](float number) {
      const std::int64_t level = levels->code_of(number);
      return value.code ? value.code->code(level).value() : level;
    });
  else if (const auto& blocks = program.input_blocks[input])
    encode_blocks(floats, codes, *blocks, batch.shape(), value);
  else
    encode_span(floats.data(), codes.data(), codes.size(), value.type,
                program.input_rounding[input], program.input_masks[input]);
  if (value.order.empty()) return codes;
  Codes ordered(codes.size());
  const std::size_t size = value.order.size();
  for (std::size_t first = 0; first < codes.size(); first += size)
    for (std::size_t i = 0; i < size; ++i) ordered[first + i] = codes[first + at(value.order[i])];
  return ordered;
}

namespace {

/// What an element of the stream is multiplied by.
double scale_of(const StreamValue& value, std::size_t element) {
  return value.scales.empty() ? 1 : value.scales[element % value.scales.size()];
}

/// The codes as numbers of T in torch's order.
template <class T, class Number>
Array decoded_by(const StreamValue& value, const Codes& codes, std::int64_t frames,
                 Number&& number) {
  Shape shape{frames};
  shape.insert(shape.end(), value.torch_shape.begin(), value.torch_shape.end());
  Array result(DTypeOf<T>::value, shape);
  const auto numbers = result.template mutable_span<T>();
  MASE_CHECK(numbers.size() == codes.size(), "codes and frames of '" + value.name + "' differ");
  const std::size_t size = at(value.elements());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::size_t place = value.order.empty() ? i : i - i % size + at(value.order[i % size]);
    numbers[place] = number(codes[i], i % size);
  }
  return result;
}

}  // namespace

Array decode_value(const StreamValue& value, const Codes& codes, std::int64_t frames) {
  const int frac = value.type.frac;
  if (!value.scales.empty())
    return decoded_by<float>(value, codes, frames, [&](std::int64_t code, std::size_t element) {
      return static_cast<float>(std::ldexp(static_cast<double>(code), -frac) *
                                scale_of(value, element));
    });
  return decoded_by<float>(value, codes, frames, [&](std::int64_t code, std::size_t) {
    return decoded(value.code ? value.code->number(code) : code, frac);
  });
}

Array decode_output(const Program& program, std::size_t output, const Codes& codes,
                    std::int64_t frames) {
  const StreamValue& value = program.value(program.outputs[output]);
  const std::int64_t unit = std::int64_t{1} << std::max(-value.type.frac, 0);
  const auto whole = [&]<class Integer>(Integer) {
    return decoded_by<Integer>(value, codes, frames, [&](std::int64_t code, std::size_t) {
      return static_cast<Integer>((value.code ? value.code->number(code) : code) * unit);
    });
  };
  switch (program.output_dtypes[output]) {
    case DType::boolean:
      return decoded_by<bool>(value, codes, frames,
                              [](std::int64_t code, std::size_t) { return code != 0; });
    case DType::int64:
      return whole(std::int64_t{});
    case DType::int32:
      return whole(std::int32_t{});
    case DType::int16:
      return whole(std::int16_t{});
    case DType::int8:
      return whole(std::int8_t{});
    case DType::uint8:
      return whole(std::uint8_t{});
    default:
      return decode_value(value, codes, frames);
  }
}

}  // namespace mase::integer
