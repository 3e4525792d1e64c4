// The sampler table: every algorithm in one line.
#include "search/samplers/sampler.hpp"

#include <algorithm>

#include "search/samplers/rows.hpp"

namespace mase::samplers {

const std::vector<SamplerRow>& sampler_table() {
  static const std::vector<SamplerRow> table{tpe_row(),    random_row(),  grid_row(),
                                             nsgaii_row(), nsgaiii_row(), qmc_row()};
  return table;
}

const SamplerRow* find_sampler(std::string_view name) {
  const auto& table = sampler_table();
  const std::string_view wanted = name == "bruteforce" ? "grid" : name;
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const SamplerRow& entry) { return entry.name == wanted; });
  return row == table.end() ? nullptr : &*row;
}

}  // namespace mase::samplers
