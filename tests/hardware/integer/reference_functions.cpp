// SPDX-License-Identifier: Apache-2.0
// The ops that are functions of one number.
#include <algorithm>
#include <cmath>

#include "reference_evaluation.hpp"

namespace mase::test {

/// Functions of one number in long double, each in another form than that of the program.
void Evaluation::add_functions(std::map<std::string, Operator>& t) {
  using E = const Evaluation&;
  using R = std::vector<RealTensor>;
  using Wide = long double;
  const auto add = [&t](const char* op, Wide (*function)(Wide x)) {
    t[op] = [=](E e) -> R {
      return {e.table([=](double x) { return static_cast<double>(function(x)); })};
    };
  };
  add("mish", [](Wide x) {
    const Wide y = (1 + std::exp(x)) * (1 + std::exp(x));
    return x * (y - 1) / (y + 1);
  });
  add("selu", [](Wide x) {
    return x > 0 ? 1.0507009873554804934L * x
                 : 1.0507009873554804934L * 1.6732632423543772848L * (std::exp(x) - 1);
  });
  add("softsign", [](Wide x) { return x > 0 ? 1 - 1 / (1 + x) : 1 / (1 - x) - 1; });
  add("logsigmoid", [](Wide x) { return -std::log(1 + std::exp(-x)); });
  add("sqrt", [](Wide x) { return std::sqrt(x); });
  add("rsqrt", [](Wide x) { return std::sqrt(1 / x); });
  add("reciprocal", [](Wide x) { return x == 0 ? HUGE_VALL : 1 / x; });
  add("square", [](Wide x) { return x * x; });
  add("exp", [](Wide x) { return std::expm1(x) + 1; });
  add("log", [](Wide x) { return x == 0 ? -HUGE_VALL : std::log1p(x - 1); });
  add("erf", [](Wide x) { return std::erf(x); });
  add("sin", [](Wide x) { return std::sin(x); });
  add("cos", [](Wide x) { return std::cos(x); });
  add("tan", [](Wide x) { return std::sin(x) / std::cos(x); });
  add("sinh", [](Wide x) { return (std::exp(x) - std::exp(-x)) / 2; });
  add("cosh", [](Wide x) { return (std::exp(x) + std::exp(-x)) / 2; });
  add("abs", [](Wide x) { return std::max(x, -x); });
  add("sign", [](Wide x) { return static_cast<Wide>((x > 0) - (x < 0)); });
  add("ceil", [](Wide x) { return -std::floor(-x); });
  add("floor", [](Wide x) { return x - std::fmod(x, 1.0L) - (std::fmod(x, 1.0L) < 0 ? 1 : 0); });
  add("round", [](Wide x) { return x - std::remainder(x, 1.0L); });
  t["celu"] = [](E e) -> R {
    const double alpha = e.number("alpha", 1);
    return {e.table([=](double x) {
      return std::max(0.0, x) + std::min(0.0, alpha * (std::exp(x / alpha) - 1));
    })};
  };
  t["hardshrink"] = [](E e) -> R {
    const double lambd = e.number("lambd", 0.5);
    return {e.table([=](double x) { return x > lambd || x < -lambd ? x : 0; })};
  };
  t["softshrink"] = [](E e) -> R {
    const double lambd = e.number("lambd", 0.5);
    return {
        e.table([=](double x) { return std::copysign(std::max(std::fabs(x) - lambd, 0.0), x); })};
  };
  t["pow"] = [](E e) -> R {
    const auto power = static_cast<int>(e.number("exponent", 1));
    return {e.table([=](double x) {
      double result = 1;
      for (int i = 0; i < power; ++i) result *= x;
      return result;
    })};
  };
  t["prelu"] = [](E e) -> R {
    const std::vector<Real> slopes = e.parameter("weight").values;
    RealTensor x = e.input("self");
    const Index inner = numel(Shape(x.shape.begin() + 2, x.shape.end()));
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      const std::size_t channel = i / at(inner) % at(x.shape[1]);
      if (x.values[i] < 0) x.values[i] *= slopes.at(slopes.size() == 1 ? 0 : channel);
    }
    return {x};
  };
}

}  // namespace mase::test
