// SPDX-License-Identifier: Apache-2.0
// The sums of batch norm, and batch norm with 2 x 2 max pooling and ReLU, over planes of bundles.
// Included by kernels.simd.cpp.
#pragma once

#include "simd/lanes.hpp"
#include "torch/train/lanes/kernels.hpp"

namespace mase::train {
namespace {

using simd::all;
using simd::lanes;
using simd::load;
using simd::Mask;
using simd::select;
using simd::store;
using simd::Vec;

/// Sums in four independent parts, so that additions need not wait for each other.
template <class Term>
MASE_SIMD void sum_terms(const float* plane, std::size_t count, const Term& term, float* to) {
  Vec sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t p = 0; p < 4; ++p) sums[p] = sums[p] + term(load(plane + (i + p) * lanes));
  for (; i < count; ++i) sums[0] = sums[0] + term(load(plane + i * lanes));
  store(to, (sums[0] + sums[1]) + (sums[2] + sums[3]));
}

struct Itself {
  MASE_SIMD Vec operator()(Vec x) const { return x; }
};

struct SquareAbout {
  Vec about;
  MASE_SIMD Vec operator()(Vec x) const { return (x - about) * (x - about); }
};

MASE_SIMD_TARGET void plane_sum(const float* plane, std::size_t count, float* sum) {
  sum_terms(plane, count, Itself{}, sum);
}

MASE_SIMD_TARGET void plane_squares(const float* plane, std::size_t count, const float* about,
                                    float* sum) {
  sum_terms(plane, count, SquareAbout{load(about)}, sum);
}

/// The larger of two numbers, or NaN if one of them is NaN.
MASE_SIMD Vec largest(Vec a, Vec b) { return select(b <= a, a, select(a == a, b, a)); }

/// Computes y = x * by + plus.
struct Normalised {
  Vec by, plus;

  MASE_SIMD static Normalised of(const NormalisedPlane& plane) {
    return {all(plane.by), all(plane.plus)};
  }
  MASE_SIMD Vec operator()(Vec x) const { return x * by + plus; }
};

/// The four x and y of a square, in reading order, and the largest y.
struct Square {
  Vec x[4], y[4], most;

  MASE_SIMD static Square of(const float* at, std::size_t row, const Normalised& normalised) {
    Square square{{load(at), load(at + lanes), load(at + row), load(at + row + lanes)}, {}, {}};
    for (std::size_t i = 0; i < 4; ++i) square.y[i] = normalised(square.x[i]);
    square.most = largest(largest(square.y[0], square.y[1]), largest(square.y[2], square.y[3]));
    return square;
  }
  /// Selects from four numbers the one that belongs to the first largest y.
  MASE_SIMD Vec of_winner(const Vec (&values)[4]) const {
    return select(y[0] == most, values[0],
                  select(y[1] == most, values[1], select(y[2] == most, values[2], values[3])));
  }
};

struct Bounds {
  Vec low, high;

  template <class From>
  MASE_SIMD static Bounds of(const From& from) {
    return {all(from.low), all(from.high)};
  }
};

template <Activation activation>
MASE_SIMD Vec activated(Vec y, const Bounds& bounds) {
  if constexpr (activation == Activation::relu) return select(y < Vec{}, Vec{}, y);
  if constexpr (activation == Activation::clamp)
    return select(y < bounds.low, bounds.low, select(bounds.high < y, bounds.high, y));
  return y;
}

/// The gradient where the activation passes it (as in LibTorch, also at NaN), otherwise 0.
template <Activation activation>
MASE_SIMD Vec passed(Vec gradient, Vec y, const Bounds& bounds) {
  if constexpr (activation == Activation::relu) return select(y <= Vec{}, Vec{}, gradient);
  if constexpr (activation == Activation::clamp)
    return select((y <= bounds.low) | (bounds.high <= y), Vec{}, gradient);
  return gradient;
}

template <Activation activation>
MASE_SIMD void pooled_forward(const NormalisedPlane& plane, float* out, float* winners) {
  const Normalised normalised = Normalised::of(plane);
  const Bounds bounds = Bounds::of(plane);
  const std::size_t row = plane.width * lanes;
  for (std::size_t y = 0; y < plane.height / 2; ++y) {
    const float* x = plane.x + 2 * y * row;
    for (std::size_t i = 0; i < plane.width / 2; ++i, x += 2 * lanes, out += lanes) {
      const Square square = Square::of(x, row, normalised);
      store(out, activated<activation>(square.most, bounds));
      if (!winners) continue;
      store(winners, square.of_winner(square.x));
      winners += lanes;
    }
  }
}

template <Joint joint, Activation activation>
MASE_SIMD_TARGET void tail_forward(const NormalisedPlane& plane, float* out, float* winners) {
  if constexpr (joint == Joint::pool) return pooled_forward<activation>(plane, out, winners);
  const Normalised normalised = Normalised::of(plane);
  const Bounds bounds = Bounds::of(plane);
  for (std::size_t i = 0; i < plane.height * plane.width * lanes; i += lanes) {
    Vec y = normalised(load(plane.x + i));
    if constexpr (joint == Joint::sum) y = y + load(plane.addend + i);
    store(out + i, activated<activation>(y, bounds));
  }
}

template <Activation activation>
MASE_SIMD_TARGET void tail_sums(const TailGradient& of, float* sum, float* product) {
  const Bounds bounds = Bounds::of(of);
  Vec sums{}, products{};
  for (std::size_t i = 0; i < of.count * lanes; i += lanes) {
    const Vec given = passed<activation>(load(of.gradient + i), load(of.out + i), bounds);
    if (of.passed) store(of.passed + i, given);
    sums = sums + given;
    products = products + (load(of.x + i) - all(of.mean)) * given;
  }
  store(sum, sums);
  store(product, products);
}

/// Writes d loss / d x.
struct GradientWriter {
  float* into;
  Vec mean, average, slope, factor;

  MASE_SIMD static GradientWriter of(const PlaneGradient& rule, float* into) {
    return {into, all(rule.mean), all(rule.average), all(rule.slope), all(rule.factor)};
  }
  MASE_SIMD void write(std::size_t at, Vec x, Vec gradient) const {
    store(into + at, (gradient - average - (x - mean) * slope) * factor);
  }
};

/// Writes the elements that are not in any square.
MASE_SIMD void write_rest(const float* x, std::size_t at, std::size_t count,
                          const GradientWriter& writer) {
  for (std::size_t end = at + count * lanes; at < end; at += lanes)
    writer.write(at, load(x + at), Vec{});
}

MASE_SIMD void write_square(const Square& square, Vec given, std::size_t at, std::size_t row,
                            const GradientWriter& writer) {
  const Mask a = square.y[0] == square.most, b = square.y[1] == square.most,
             c = square.y[2] == square.most;
  const Vec none{};
  writer.write(at, square.x[0], select(a, given, none));
  writer.write(at + lanes, square.x[1], select(a, none, select(b, given, none)));
  writer.write(at + row, square.x[2], select(a | b, none, select(c, given, none)));
  writer.write(at + row + lanes, square.x[3], select(a | b | c, none, given));
}

template <Activation activation>
MASE_SIMD void pooled_backward(const NormalisedPlane& plane, const float* gradient,
                               const GradientWriter& writer) {
  const Normalised normalised = Normalised::of(plane);
  const Bounds bounds = Bounds::of(plane);
  const std::size_t row = plane.width * lanes, squares = plane.width / 2;
  for (std::size_t y = 0; y < plane.height / 2; ++y) {
    std::size_t at = 2 * y * row;
    for (std::size_t i = 0; i < squares; ++i, at += 2 * lanes, gradient += lanes) {
      const Square square = Square::of(plane.x + at, row, normalised);
      const Vec given = passed<activation>(load(gradient), square.most, bounds);
      write_square(square, given, at, row, writer);
    }
    write_rest(plane.x, at, plane.width % 2, writer);
    write_rest(plane.x, at + row, plane.width % 2, writer);
  }
  if (plane.height % 2) write_rest(plane.x, (plane.height - 1) * row, plane.width, writer);
}

template <Joint joint, Activation activation>
MASE_SIMD_TARGET void tail_backward(const NormalisedPlane& plane, const float* gradient,
                                    const PlaneGradient& rule, float* into) {
  const GradientWriter writer = GradientWriter::of(rule, into);
  if constexpr (joint == Joint::pool) return pooled_backward<activation>(plane, gradient, writer);
  constexpr Activation left = joint == Joint::sum ? Activation::none : activation;
  const Normalised normalised = Normalised::of(plane);
  const Bounds bounds = Bounds::of(plane);
  for (std::size_t i = 0; i < plane.height * plane.width * lanes; i += lanes) {
    const Vec x = load(plane.x + i);
    writer.write(i, x, passed<left>(load(gradient + i), normalised(x), bounds));
  }
}

template <Joint joint, Activation activation>
constexpr Tail tail{tail_forward<joint, activation>, tail_sums<activation>,
                    tail_backward<joint, activation>};

}  // namespace
}  // namespace mase::train
