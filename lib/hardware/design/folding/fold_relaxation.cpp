// SPDX-License-Identifier: Apache-2.0
// Subgradient steps of Polyak's length towards a bound that is hoped for: a little above the
// highest one so far, and higher as long as that is met.
#include "hardware/design/folding/fold_relaxation.hpp"

#include <algorithm>

namespace mase::design {
namespace {

constexpr int iterations = 200;
/// Sums are compared up to what rounding can do to them.
constexpr double slack = 1e-9;

/// A limited resource's use beyond its limit, in limits; an unlimited one has none.
double excess(double use, double limit) {
  return limit == Limits::unlimited ? 0 : (use - limit) / std::max(limit, 1.0);
}

/// No choice that fits has a larger area.
double most_area(const std::vector<FoldOptions>& steps, const Limits& limits) {
  double sum = 0;
  for (const FoldOptions& options : steps) {
    double most = 0;
    for (const FoldOption& option : options) most = std::max(most, area(option.cost));
    sum += most;
  }
  return std::min(sum, area({limits.lut, 0, 0, limits.dsp, limits.bram}));
}

}  // namespace

double Relaxation::Prices::of(const Cost& cost) const {
  return lut * cost.lut + dsp * cost.dsp + bram * cost.bram;
}

Relaxation::Relaxation(const std::vector<FoldOptions>& steps, const Limits& limits)
    : limits_(limits), best_(Limits::unlimited), rest_(steps.size() + 1) {
  improve(steps);
  for (std::size_t i = steps.size(); i-- > 0;) {
    double least = Limits::unlimited;
    for (const FoldOption& option : steps[i]) least = std::min(least, price(option.cost));
    rest_[i] = rest_[i + 1] + least;
  }
}

bool Relaxation::can_win(const Cost& sum, std::size_t count) const {
  return price(sum) + rest_[count] - worth() <= best_ * (1 + slack);
}

/// The sum of the choices that the prices make.
Cost Relaxation::cheapest(const std::vector<FoldOptions>& steps) const {
  Cost sum;
  for (const FoldOptions& options : steps)
    sum += std::ranges::min_element(options, {}, [&](const FoldOption& option) {
             return price(option.cost);
           })->cost;
  return sum;
}

double Relaxation::worth() const {
  const auto of = [](double price, double limit) { return price > 0 ? price * limit : 0; };
  return of(prices_.lut, limits_.lut) + of(prices_.dsp, limits_.dsp) +
         of(prices_.bram, limits_.bram);
}

void Relaxation::improve(const std::vector<FoldOptions>& steps) {
  const double most = most_area(steps, limits_);
  double highest = -Limits::unlimited, hoped = 0;
  Prices best;
  for (int i = 0; i < iterations && !impossible_; ++i) {
    const Cost sum = cheapest(steps);
    if (limits_.fits(sum)) best_ = std::min(best_, area(sum));
    const double bound = price(sum) - worth();
    impossible_ = bound > most * (1 + slack);
    if (i == 0) hoped = bound / 8;
    hoped *= bound > highest ? 1.25 : 0.9;
    if (bound > highest) {
      highest = bound;
      best = prices_;
    }
    raise(sum, highest + hoped - bound);
  }
  prices_ = best;
}

/// Prices of what is short go up, those of the rest down.
void Relaxation::raise(const Cost& sum, double length) {
  const double lut = excess(sum.lut, limits_.lut), dsp = excess(sum.dsp, limits_.dsp),
               bram = excess(sum.bram, limits_.bram);
  const double squares = lut * lut + dsp * dsp + bram * bram;
  if (squares == 0) return;
  const auto step = [&](double& price, double own, double limit) {
    if (limit == Limits::unlimited) return;
    price = std::max(0.0, price + length / squares * own / std::max(limit, 1.0));
  };
  step(prices_.lut, lut, limits_.lut);
  step(prices_.dsp, dsp, limits_.dsp);
  step(prices_.bram, bram, limits_.bram);
}

}  // namespace mase::design
