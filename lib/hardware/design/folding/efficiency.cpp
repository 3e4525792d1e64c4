// SPDX-License-Identifier: Apache-2.0
// Products by the row of each step.
#include "hardware/design/folding/efficiency.hpp"

#include <algorithm>
#include <vector>

#include "hardware/design/folding/fold_options.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {

std::optional<Products> products_of(const Program& program, const Step& step, const Fold& fold) {
  const StepRow& row = step_row(step);
  if (!row.sums_products) return std::nullopt;
  const std::int64_t at_once = row.rule(program, step, fold).same ? 1 : fold.in_lanes;
  return Products{multiplications(program, step), at_once * fold.out_lanes};
}

std::optional<double> slowest_efficiency(const Design& design) {
  struct Layer {
    std::int64_t interval;
    Products products;
  };
  std::vector<Layer> layers;
  for (const Step& step : design.program->steps) {
    const Fold& fold = design.folding.at(step.name);
    if (const auto products = products_of(*design.program, step, fold))
      layers.push_back({step_interval(*design.program, step, fold), *products});
  }
  if (layers.empty()) return std::nullopt;
  std::ranges::stable_sort(layers, std::ranges::greater(), &Layer::interval);
  layers.resize((layers.size() + 3) / 4);
  Products sum;
  for (const Layer& layer : layers) {
    sum.per_frame += layer.products.per_frame;
    sum.per_cycle += layer.products.per_cycle;
  }
  return sum.efficiency(design.timing.interval);
}

}  // namespace mase::design
