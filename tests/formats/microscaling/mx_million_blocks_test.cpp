// SPDX-License-Identifier: Apache-2.0
// Blocks of every OCP format and of nvfp4 against a definition that shares nothing with the
// library: the nearest of all element values, found among the midpoints between them. First each
// midpoint and its two neighbours in float32 under every scale, then random blocks: `ctest -L
// slow`, or test_formats "[mx_blocks]"; MASE_MX_BLOCKS sets their number per format.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "formats/format_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Magnitudes 0 = v_0 < v_1 < ... by code, and the midpoints between neighbours.
class Magnitudes {
 public:
  explicit Magnitudes(std::vector<double> values) : values_(std::move(values)) {
    midpoints_.fill(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i + 1 < values_.size(); ++i)
      midpoints_[i] = (values_[i] + values_[i + 1]) / 2;
  }

  /// The nearest value to a finite y; of two, that of the even code. Beyond the largest: the
  /// largest.
  double nearest(double y) const {
    std::size_t code = 0;  // midpoints below y
    for (std::size_t half = 64; half > 0; half /= 2)
      code += midpoints_[code + half - 1] < y ? half : 0;
    if (midpoints_[code] == y && code % 2 == 1) ++code;
    return values_[code];
  }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::array<double, 128> midpoints_{};
};

/// All codes from 0 to `last` of a minifloat without its sign.
Magnitudes minifloat(int fraction_bits, int bias, int last) {
  std::vector<double> values;
  const int ones = 1 << fraction_bits;
  for (int code = 0; code <= last; ++code) {
    const int exponent = code / ones, fraction = code % ones;
    values.push_back(exponent == 0
                         ? fraction * std::pow(2.0, 1 - bias - fraction_bits)
                         : (1.0 + fraction / double(ones)) * std::pow(2.0, exponent - bias));
  }
  return Magnitudes(std::move(values));
}

Magnitudes integers(int width) {
  std::vector<double> values;
  for (int m = 0; m < 1 << (width - 1); ++m) values.push_back(m * std::pow(2.0, 2 - width));
  return Magnitudes(std::move(values));
}

/// 2^-160 ... 2^160.
const std::array<double, 321> powers = [] {
  std::array<double, 321> table{};
  for (int e = -160; e <= 160; ++e) table[static_cast<std::size_t>(e + 160)] = std::pow(2.0, e);
  return table;
}();
double power(int e) { return powers[static_cast<std::size_t>(e + 160)]; }

/// The largest magnitude; NaN when one is no finite number.
float peak(std::span<const float> block) {
  float largest = 0;
  bool finite = true;
  for (const float x : block) {
    finite = finite && std::isfinite(x);
    largest = std::fmax(largest, std::fabs(x));
  }
  return finite ? largest : nan;
}

/// A block under a power of two that takes its largest magnitude to the largest binade.
struct PowerScaled {
  Magnitudes values;
  int top = 0;
  bool signed_zero = true;

  const Magnitudes& elements() const { return values; }
  static std::vector<double> scales() { return {powers.begin() + 33, powers.end() - 33}; }

  void operator()(std::span<const float> in, std::span<float> out) const {
    const float p = peak(in);
    if (std::isnan(p)) {
      std::ranges::fill(out, nan);
      return;
    }
    const int x = p > 0 ? std::max(-127, std::ilogb(p) - top) : -127;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double value = values.nearest(std::fabs(double(in[i])) * power(-x)) * power(x);
      out[i] = static_cast<float>(std::signbit(in[i]) ? -value : value);
      if (out[i] == 0 && !signed_zero) out[i] = 0.0F;
    }
  }
};

/// nvfp4 of one level: the operations in float32 as they are written down, roundings by search.
struct Nvfp4Scaled {
  Magnitudes values = minifloat(1, 1, 7), scale_values = minifloat(3, 7, 126);

  const Magnitudes& elements() const { return values; }
  const std::vector<double>& scales() const { return scale_values.values(); }

  void operator()(std::span<const float> in, std::span<float> out) const {
    const float p = peak(in);
    if (std::isnan(p)) {
      std::ranges::fill(out, nan);
      return;
    }
    const float a = std::fmin(std::fmax(p / 6.0F, 0.015625F), 448.0F);
    const auto s = static_cast<float>(scale_values.nearest(a));
    const float r = 1.0F / s;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto element = static_cast<float>(values.nearest(std::fabs(in[i] * r)));
      out[i] = std::copysign(element * s, in[i]);
    }
  }
};

/// xorshift64*: enough for test data, and fast.
class Source {
 public:
  std::uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1dULL) >> 32);
  }

 private:
  std::uint64_t state_ = 88172645463325252ULL;
};

constexpr std::uint32_t sign_and_fraction = 0x807fffff;

/// Exponents spread over `spread` binades from `lowest` on, any fraction.
std::uint32_t near_bits(std::uint32_t word, std::uint32_t lowest, std::uint32_t spread) {
  const std::uint32_t exponent = std::min(lowest + (word >> 8) % spread, 254U);
  return (word & sign_and_fraction) | (exponent << 23);
}

/// Few fraction bits, and one float32 more or less: ties of every element format.
std::uint32_t tie_bits(std::uint32_t bits, std::uint32_t word) {
  const std::uint32_t kept = word % 9;
  const std::uint32_t rounded = bits & ~((1U << (23 - kept)) - 1);
  const std::uint32_t step = (word >> 8) % 4;
  return step == 0 ? rounded + 1 : step == 1 && (rounded & 0x7fffffff) != 0 ? rounded - 1 : rounded;
}

/// One block: any finite bits, a few binades, ties and their neighbours, subnormals and zeros, or
/// some NaN and infinities.
void fill(Source& source, std::span<float> block) {
  const std::uint32_t kind = source.next() % 16, lowest = source.next() % 255;
  const std::uint32_t spread = 1 + source.next() % 14;
  for (float& value : block) {
    const std::uint32_t word = source.next();
    std::uint32_t bits = near_bits(word, lowest, spread);
    if (kind < 2) bits = near_bits(word, 0, 255);
    if (kind >= 8) bits = tie_bits(bits, word >> 7);
    if (kind == 7) bits = word & (word % 3 == 0 ? 0x80000000 : sign_and_fraction);
    if (kind == 15 && word % 8 == 0) bits = (word & sign_and_fraction) | 0x7f800000;
    if (kind == 14 && word % 8 == 0) bits = (word & 0x80000000) | 0x7f800000;
    value = std::bit_cast<float>(bits);
  }
}

std::size_t blocks_wanted() {
  const char* text = std::getenv("MASE_MX_BLOCKS");
  return text ? std::strtoull(text, nullptr, 10) : 500'000;
}

/// Under one scale each midpoint between elements and the floats beside it, behind the largest
/// element, which asks for that scale.
void add_midpoints(const std::vector<double>& values, double scale, std::size_t block,
                   std::vector<float>& blocks) {
  const auto add = [&](double value) {
    const auto rounded = static_cast<float>(value);
    if (blocks.size() % block == 0) blocks.push_back(static_cast<float>(values.back() * scale));
    blocks.push_back(blocks.size() % 2 == 0 ? rounded : -rounded);
  };
  if (!std::isfinite(static_cast<float>(values.back() * scale))) return;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const auto middle = static_cast<float>((values[i] + values[i + 1]) / 2 * scale);
    add(middle);
    add(std::nextafter(middle, 0.0F));
    add(std::nextafter(middle, std::numeric_limits<float>::infinity()));
  }
  while (blocks.size() % block != 0) blocks.push_back(0);
}

/// Differences of values and of decoded codes from the definition.
template <class Definition>
std::size_t differing(const Format& format, std::size_t block, const Definition& definition,
                      std::span<const float> in, bool codes) {
  const Shape shape{static_cast<std::int64_t>(in.size() / block), static_cast<std::int64_t>(block)};
  std::vector<float> ours(in.size()), expected(in.size());
  for (std::size_t begin = 0; begin < in.size(); begin += block)
    definition(in.subspan(begin, block), std::span(expected).subspan(begin, block));
  format.quantize(in, ours, shape);
  std::size_t wrong = differences(ours, expected);
  if (!codes) return wrong;
  format.decode(format.encode(in, shape), ours, shape);
  return wrong + differences(ours, expected);
}

template <class Definition>
void compare(const std::string& text, std::size_t block, const Definition& definition) {
  constexpr std::size_t batch = 2500;
  const Format format = parse_format(text);
  std::vector<float> in;
  for (const double scale : definition.scales())
    add_midpoints(definition.elements().values(), scale, block, in);
  std::size_t wrong = differing(format, block, definition, in, true);
  std::printf("%-24s %10zu blocks of midpoints %4zu mismatches\n", text.c_str(), in.size() / block,
              wrong);
  in.resize(batch * block);
  Source source;
  std::size_t done = 0;
  for (; done < blocks_wanted(); done += batch) {
    for (std::size_t b = 0; b < batch; ++b) fill(source, std::span(in).subspan(b * block, block));
    wrong += differing(format, block, definition, in, done % (64 * batch) == 0);
  }
  std::printf("%-24s %10zu blocks of %zu %12zu elements %4zu mismatches in all\n", text.c_str(),
              done, block, done * block, wrong);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("blocks of every OCP format equal the nearest values", "[.][mx_blocks]") {
  compare("mxfp8_e4m3", 32, PowerScaled{minifloat(3, 7, 126), 8});
  compare("mxfp8_e5m2", 32, PowerScaled{minifloat(2, 15, 123), 15});
  compare("mxfp6_e3m2", 32, PowerScaled{minifloat(2, 3, 31), 4});
  compare("mxfp6_e2m3", 32, PowerScaled{minifloat(3, 1, 31), 2});
  compare("mxfp4", 32, PowerScaled{minifloat(1, 1, 7), 2});
  compare("mxint8", 32, PowerScaled{integers(8), 0, false});
  compare("nvfp4(tensor_scale=none)", 16, Nvfp4Scaled{});
}
