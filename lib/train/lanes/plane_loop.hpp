// Batch norm's sums, and batch norm followed by 2 x 2 max pooling and ReLU, over planes of bundles.
// Included by the kernel source files.
#pragma once

#include "train/lanes/kernels.hpp"
#include "train/lanes/vectors.hpp"

namespace mase::train {
namespace {

/// Sums in four parts, so that additions need not wait for one another.
template <class Term>
MASE_LANES void sum_terms(const float* plane, std::size_t count, const Term& term, float* to) {
  Vec sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t p = 0; p < 4; ++p) sums[p] = sums[p] + term(load(plane + (i + p) * lanes));
  for (; i < count; ++i) sums[0] = sums[0] + term(load(plane + i * lanes));
  store(to, (sums[0] + sums[1]) + (sums[2] + sums[3]));
}

struct Itself {
  MASE_LANES Vec operator()(Vec x) const { return x; }
};

struct SquareAbout {
  Vec about;
  MASE_LANES Vec operator()(Vec x) const { return (x - about) * (x - about); }
};

MASE_LANES_TARGET void plane_sum(const float* plane, std::size_t count, float* sum) {
  sum_terms(plane, count, Itself{}, sum);
}

MASE_LANES_TARGET void plane_squares(const float* plane, std::size_t count, const float* about,
                                     float* sum) {
  sum_terms(plane, count, SquareAbout{load(about)}, sum);
}

/// The larger, or the one that is NaN.
MASE_LANES Vec largest(Vec a, Vec b) { return select(b <= a, a, select(a == a, b, a)); }

/// y = x * by + plus.
struct Normalised {
  Vec by, plus;

  MASE_LANES static Normalised of(const NormalisedPlane& plane) {
    return {all(plane.by), all(plane.plus)};
  }
  MASE_LANES Vec operator()(const float* x) const { return load(x) * by + plus; }
};

/// The four y of a square, in reading order, and the largest of them.
struct Square {
  Vec y[4], most;

  MASE_LANES static Square of(const float* x, std::size_t row, const Normalised& normalised) {
    Square square;
    square.y[0] = normalised(x);
    square.y[1] = normalised(x + lanes);
    square.y[2] = normalised(x + row);
    square.y[3] = normalised(x + row + lanes);
    square.most = largest(largest(square.y[0], square.y[1]), largest(square.y[2], square.y[3]));
    return square;
  }
};

template <bool relu>
MASE_LANES Vec activated(Vec y) {
  if constexpr (!relu) return y;
  return select(y < Vec{}, Vec{}, y);
}

/// Where the activation lets the gradient through: at NaN too, as LibTorch does.
template <bool relu>
MASE_LANES Vec passed(Vec gradient, Vec y) {
  if constexpr (!relu) return gradient;
  return select(y <= Vec{}, Vec{}, gradient);
}

template <bool pool, bool relu>
MASE_LANES_TARGET void tail_forward(const NormalisedPlane& plane, float* out) {
  const Normalised normalised = Normalised::of(plane);
  if constexpr (!pool) {
    for (std::size_t i = 0; i < plane.height * plane.width * lanes; i += lanes)
      store(out + i, activated<relu>(normalised(plane.x + i)));
    return;
  }
  const std::size_t row = plane.width * lanes;
  for (std::size_t y = 0; y < plane.height / 2; ++y) {
    const float* x = plane.x + 2 * y * row;
    for (std::size_t i = 0; i < plane.width / 2; ++i, x += 2 * lanes, out += lanes)
      store(out, activated<relu>(Square::of(x, row, normalised).most));
  }
}

/// Visits elements that no square holds.
template <class Visitor>
MASE_LANES void visit_rest(std::size_t at, std::size_t count, Visitor& visitor) {
  for (std::size_t i = 0; i < count; ++i) visitor.visit(at + i * lanes, Vec{});
}

/// Visits the gradients of a square's elements.
template <class Visitor>
MASE_LANES void visit_square(const Square& square, Vec given, std::size_t at, std::size_t row,
                             Visitor& visitor) {
  const Mask a = square.y[0] == square.most, b = square.y[1] == square.most,
             c = square.y[2] == square.most;
  const Vec none{};
  visitor.visit(at, select(a, given, none));
  visitor.visit(at + lanes, select(a, none, select(b, given, none)));
  visitor.visit(at + row, select(a | b, none, select(c, given, none)));
  visitor.visit(at + row + lanes, select(a | b | c, none, given));
}

/// Calls visitor.visit(place, gradient of y there) for all elements of the plane.
template <bool pool, bool relu, class Visitor>
MASE_LANES void visit_gradients(const NormalisedPlane& plane, const float* gradient,
                                Visitor& visitor) {
  const Normalised normalised = Normalised::of(plane);
  if constexpr (!pool) {
    for (std::size_t i = 0; i < plane.height * plane.width * lanes; i += lanes)
      visitor.visit(i, passed<relu>(load(gradient + i), normalised(plane.x + i)));
    return;
  }
  const std::size_t row = plane.width * lanes, squares = plane.width / 2;
  for (std::size_t y = 0; y < plane.height / 2; ++y) {
    std::size_t at = 2 * y * row;
    for (std::size_t i = 0; i < squares; ++i, at += 2 * lanes, gradient += lanes) {
      const Square square = Square::of(plane.x + at, row, normalised);
      visit_square(square, passed<relu>(load(gradient), square.most), at, row, visitor);
    }
    visit_rest(at, plane.width % 2, visitor);
    visit_rest(at + row, plane.width % 2, visitor);
  }
  if (plane.height % 2) visit_rest((plane.height - 1) * row, plane.width, visitor);
}

struct GradientSums {
  const float* x;
  Vec mean;
  Vec sum{}, product{};

  MASE_LANES void visit(std::size_t at, Vec gradient) {
    sum = sum + gradient;
    product = product + (load(x + at) - mean) * gradient;
  }
};

template <bool pool, bool relu>
MASE_LANES_TARGET void tail_sums(const NormalisedPlane& plane, const float* gradient, float mean,
                                 float* sum, float* product) {
  GradientSums sums{plane.x, all(mean)};
  visit_gradients<pool, relu>(plane, gradient, sums);
  store(sum, sums.sum);
  store(product, sums.product);
}

struct GradientWriter {
  const float* x;
  float* into;
  Vec mean, average, slope, factor;

  MASE_LANES void visit(std::size_t at, Vec gradient) {
    store(into + at, (gradient - average - (load(x + at) - mean) * slope) * factor);
  }
};

template <bool pool, bool relu>
MASE_LANES_TARGET void tail_backward(const NormalisedPlane& plane, const float* gradient,
                                     const PlaneGradient& rule, float* into) {
  GradientWriter writer{plane.x,         into, all(rule.mean), all(rule.average), all(rule.slope),
                        all(rule.factor)};
  visit_gradients<pool, relu>(plane, gradient, writer);
}

template <bool pool, bool relu>
Tail tail() {
  return {tail_forward<pool, relu>, tail_sums<pool, relu>, tail_backward<pool, relu>};
}

}  // namespace
}  // namespace mase::train
