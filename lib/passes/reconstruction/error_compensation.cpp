// SPDX-License-Identifier: Apache-2.0
// The linear algebra of error compensation.
#include "passes/reconstruction/error_compensation.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace mase::passes {
namespace {

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Doubles> matrix(const InputProducts& products) {
  return {products.sums().data(), products.columns(), products.columns()};
}

/// The order of the columns, and how a column's error spreads over later ones: row s of the upper
/// Cholesky factor of the inverse of H (damped, in that order), divided by its diagonal.
struct Spread {
  std::vector<Eigen::Index> order;
  Doubles factors;
};

Spread spread_of(const InputProducts& products, double damping) {
  const auto h = matrix(products);
  Spread spread;
  spread.order.resize(static_cast<std::size_t>(products.columns()));
  std::iota(spread.order.begin(), spread.order.end(), Eigen::Index{0});
  std::ranges::stable_sort(spread.order, std::ranges::greater{},
                           [&](Eigen::Index column) { return h(column, column); });
  Doubles sorted = h(spread.order, spread.order);
  const double mean = sorted.diagonal().mean();
  // A column without energy spreads no error, whatever is added to its diagonal.
  sorted.diagonal().array() += mean > 0 ? damping * mean : 1.0;
  const Eigen::Index n = sorted.rows();
  const Doubles inverse = Eigen::LLT<Doubles>(sorted).solve(Doubles::Identity(n, n));
  spread.factors = Eigen::LLT<Doubles>(inverse).matrixU();
  for (Eigen::Index s = 0; s < n; ++s) spread.factors.row(s) /= spread.factors(s, s);
  return spread;
}

/// True when every element is quantized by itself, so that columns can be quantized alone.
bool is_elementwise(const formats::Format& format, const Array& weight) {
  const formats::Encoded encoded = format.encode(weight.span<float>(), weight.shape());
  return encoded.shared.empty() && encoded.scales.empty();
}

/// The state of a compensation: the weight in double, with rounded columns on the grid.
class Compensation {
 public:
  Compensation(const Array& weight, const formats::Format& format,
               std::span<const InputProducts> products, double damping)
      : format_(format), shape_(weight.shape()), elementwise_(is_elementwise(format, weight)) {
    for (const InputProducts& group : products) spreads_.push_back(spread_of(group, damping));
    const Eigen::Index columns = products.front().columns();
    values_ =
        Eigen::Map<const Floats>(weight.span<float>().data(), weight.size() / columns, columns)
            .cast<double>();
  }

  std::vector<float> run() {
    for (Eigen::Index step = 0; step < values_.cols(); ++step) round_column(step);
    const Floats floats = values_.cast<float>();
    return {floats.data(), floats.data() + floats.size()};
  }

 private:
  const Spread& spread_of_row(Eigen::Index row) const {
    const auto groups = static_cast<Eigen::Index>(spreads_.size());
    return spreads_[static_cast<std::size_t>(row * groups / values_.rows())];
  }

  Eigen::Index column_of(Eigen::Index row, Eigen::Index step) const {
    return spread_of_row(row).order[static_cast<std::size_t>(step)];
  }

  /// The element of this step in every row, on the format's grid.
  std::vector<float> quantized(Eigen::Index step) const {
    std::vector<float> column(static_cast<std::size_t>(values_.rows()));
    if (elementwise_) {
      for (std::size_t row = 0; row < column.size(); ++row)
        column[row] = static_cast<float>(value(row, step));
      format_.quantize(column, column, {values_.rows()});
      return column;
    }
    Floats all = values_.cast<float>();
    const std::span<float> span(all.data(), static_cast<std::size_t>(all.size()));
    format_.quantize(span, span, shape_);
    for (std::size_t row = 0; row < column.size(); ++row) {
      const auto index = static_cast<Eigen::Index>(row);
      column[row] = all(index, column_of(index, step));
    }
    return column;
  }

  double value(std::size_t row, Eigen::Index step) const {
    const auto index = static_cast<Eigen::Index>(row);
    return values_(index, column_of(index, step));
  }

  void round_column(Eigen::Index step) {
    const std::vector<float> grid = quantized(step);
    for (Eigen::Index row = 0; row < values_.rows(); ++row) {
      const Spread& spread = spread_of_row(row);
      const double rounded = grid[static_cast<std::size_t>(row)];
      const double error = values_(row, column_of(row, step)) - rounded;
      for (Eigen::Index later = step + 1; later < values_.cols(); ++later)
        values_(row, spread.order[static_cast<std::size_t>(later)]) -=
            error * spread.factors(step, later);
      values_(row, column_of(row, step)) = rounded;
    }
  }

  const formats::Format& format_;
  Shape shape_;
  bool elementwise_;
  std::vector<Spread> spreads_;  ///< by group
  Doubles values_;
};

}  // namespace

InputProducts::InputProducts(std::int64_t columns)
    : columns_(columns), sums_(static_cast<std::size_t>(columns * columns)) {}

void InputProducts::add(std::span<const float> rows) {
  const Eigen::Index count = static_cast<Eigen::Index>(rows.size()) / columns_;
  const Eigen::Map<const Floats> inputs(rows.data(), count, columns_);
  // Sums in single precision over a bounded number of rows are added up in double.
  constexpr Eigen::Index block = 1024;
  Eigen::Map<Doubles> sums(sums_.data(), columns_, columns_);
  for (Eigen::Index first = 0; first < count; first += block) {
    const auto part = inputs.middleRows(first, std::min(block, count - first));
    const Floats products = part.transpose() * part;
    sums += products.cast<double>();
  }
  rows_ += count;
}

double output_error(std::span<const float> weight, std::span<const float> changed,
                    std::span<const InputProducts> products) {
  const Eigen::Index columns = products.front().columns();
  const Eigen::Index rows = static_cast<Eigen::Index>(weight.size()) / columns;
  const Doubles difference =
      Eigen::Map<const Floats>(changed.data(), rows, columns).cast<double>() -
      Eigen::Map<const Floats>(weight.data(), rows, columns).cast<double>();
  const Eigen::Index per_group = rows / static_cast<Eigen::Index>(products.size());
  double error = 0;
  for (std::size_t group = 0; group < products.size(); ++group) {
    const auto part =
        difference.middleRows(static_cast<Eigen::Index>(group) * per_group, per_group);
    error += (part * matrix(products[group])).cwiseProduct(part).sum();
  }
  return error;
}

std::vector<float> compensate(const Array& weight, const formats::Format& format,
                              std::span<const InputProducts> products, double damping) {
  return Compensation(weight, format, products, damping).run();
}

}  // namespace mase::passes
