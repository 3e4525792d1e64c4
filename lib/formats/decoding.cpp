// SPDX-License-Identifier: Apache-2.0
// The text of decoding functions.
#include "formats/decoding.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace mase::formats {
namespace {

using Lines = std::string;

// Wider integers do not fit float32.
constexpr int widest_float_code = 24;

std::string line(const std::string& statement) { return "  " + statement + "\n"; }

std::string list_text(const Shape& sizes) {
  std::vector<std::string> texts;
  for (const std::int64_t size : sizes) texts.push_back(std::to_string(size));
  return "[" + join(texts, ", ") + "]";
}

// Code `index` of eight codes in `bits` bytes, from the columns of `b` that hold its bits.
std::string code_of_group(int index, int bits) {
  const int first = index * bits, end = first + bits;
  std::string sum;
  for (int byte = first / 8; byte * 8 < end; ++byte) {
    const std::string column = "torch.select(b, 1, " + std::to_string(byte) + ")";
    const int shift = byte * 8 - first;
    const std::string part =
        shift < 0 ? "torch.floor_divide(" + column + ", " + std::to_string(1 << -shift) + ")"
                  : "torch.mul(" + column + ", " + std::to_string(std::int64_t{1} << shift) + ")";
    sum = sum.empty() ? part : "torch.add(" + sum + ", " + part + ")";
  }
  return "torch.remainder(" + sum + ", " + std::to_string(std::int64_t{1} << bits) + ")";
}

std::string first_codes(const std::string& values, std::int64_t count) {
  return "torch.narrow(torch.reshape(" + values + ", [-1]), 0, 0, " + std::to_string(count) + ")";
}

// Defines `to`, the `count` codes of `bits` bits in the uint8 tensor `from`, as uint8 if a byte
// holds whole codes, otherwise as int64.
Lines unpacked(const std::string& to, const std::string& from, int bits, std::int64_t count) {
  if (bits == 8) return line(to + " = " + from);
  std::vector<std::string> parts;
  if (8 % bits == 0) {
    for (int shift = 0; shift < 8; shift += bits)
      parts.push_back("torch.bitwise_and(torch.bitwise_right_shift(" + from + ", " +
                      std::to_string(shift) + "), " + std::to_string((1 << bits) - 1) + ")");
    return line(to + " = " + first_codes("torch.stack([" + join(parts, ", ") + "], -1)", count));
  }
  const std::int64_t groups = (count + 7) / 8, bytes = (count * bits + 7) / 8;
  for (int index = 0; index < 8; ++index) parts.push_back(code_of_group(index, bits));
  return line("b = torch.reshape(torch.constant_pad_nd(" + from + ", [0, " +
              std::to_string(groups * bits - bytes) + "]), [" + std::to_string(groups) + ", " +
              std::to_string(bits) + "]).to(torch.int64)") +
         line(to + " = " + first_codes("torch.stack([" + join(parts, ", ") + "], -1)", count));
}

std::string looked_up(const std::string& table, const std::string& codes) {
  return "torch.take(" + table + ".to(" + codes + ".device), " + codes + ".to(torch.int64))";
}

// Defines `v`, the values of elements, from the codes `c`.
Lines element_lines(const Decoding& decoding) {
  if (!decoding.elements.empty()) return line("v = " + looked_up("elements", "c"));
  const std::string real = decoding.fits_float() ? "torch.float32" : "torch.float64";
  Lines text;
  if (decoding.is_signed) {
    const std::string sign = std::to_string(std::int64_t{1} << (decoding.bits - 1));
    text = decoding.bits == 8
               ? line("c = c.to(torch.int8)")
               : line("c = c.to(torch.int64)") +
                     line("c = torch.sub(c, torch.mul(torch.bitwise_and(c, " + sign + "), 2))");
  }
  text += line("v = c.to(" + real + ")");
  if (decoding.step != 1) text += line("v = torch.mul(v, " + double_text(decoding.step) + ")");
  return text;
}

// The numbers of tiles along each dimension, in the stored order of shared codes.
Shape stored_counts(const Decoding& decoding) {
  Shape counts = decoding.tiling->counts();
  if (decoding.last_dimension < 0) return counts;
  const auto moved = counts.begin() + decoding.last_dimension;
  std::rotate(moved, moved + 1, counts.end());
  return counts;
}

// Defines `s`, the scales of tiles, with the numbers of tiles as shape.
Lines scale_lines(const Decoding& decoding) {
  Lines text;
  if (decoding.shared_bits > 0) {
    text += unpacked("u", "shared", decoding.shared_bits, decoding.tiling->tiles());
    text += line("s = torch.reshape(" + looked_up("factors", "u") + ", " +
                 list_text(stored_counts(decoding)) + ")");
    if (decoding.last_dimension >= 0)
      text += line("s = torch.movedim(s, -1, " + std::to_string(decoding.last_dimension) + ")");
  }
  if (decoding.scales == Decoding::Scales::none) return text;
  const std::string given =
      decoding.scales == Decoding::Scales::of_tensor
          ? "scales"
          : "torch.reshape(scales, " + list_text(decoding.tiling->counts()) + ")";
  return text + line(decoding.shared_bits > 0 ? "s = torch.mul(s, " + given + ")" : "s = " + given);
}

// Repeats the scales `s` until they fit the elements; dimensions with one tile are broadcast.
Lines repeat_lines(const Tiling& tiling) {
  Lines text;
  const Shape counts = tiling.counts();
  for (std::size_t d = 0; d < counts.size(); ++d) {
    if (counts[d] == 1 || tiling.tile[d] == 1) continue;
    const std::string at = std::to_string(d);
    text +=
        line("s = torch.repeat_interleave(s, " + std::to_string(tiling.tile[d]) + ", " + at + ")");
    if (counts[d] * tiling.tile[d] != tiling.shape[d])
      text += line("s = torch.narrow(s, " + at + ", 0, " + std::to_string(tiling.shape[d]) + ")");
  }
  return text;
}

bool all_fit_float(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) {
    return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
  });
}

}  // namespace

bool Decoding::fits_float() const {
  const bool narrow = !elements.empty() || bits <= widest_float_code;
  return narrow && all_fit_float(elements) && all_fit_float(factors);
}

std::string decoding_source(const Decoding& decoding, const Shape& shape) {
  std::vector<std::string> arguments{"codes"};
  if (!decoding.elements.empty()) arguments.push_back("elements");
  if (decoding.shared_bits > 0) arguments.insert(arguments.end(), {"shared", "factors"});
  if (decoding.scales != Decoding::Scales::none) arguments.push_back("scales");
  Lines text = unpacked("c", "codes", decoding.bits, numel(shape)) + element_lines(decoding);
  if (decoding.tiling) {
    text += scale_lines(decoding) + repeat_lines(*decoding.tiling);
    text += line("v = torch.mul(torch.reshape(v, " + list_text(decoding.tiling->shape) + "), s)");
  }
  if (!decoding.fits_float()) text += line("v = v.to(torch.float32)");
  return "(" + join(arguments, ", ") + "):\n" + text +
         line("return torch.reshape(v, " + list_text(shape) + ")");
}

}  // namespace mase::formats
