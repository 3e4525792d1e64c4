// SPDX-License-Identifier: Apache-2.0
// The sampler table, with one line per algorithm.
#include "search/samplers/sampler.hpp"

#include <algorithm>
#include <iterator>

#include "search/samplers/rows.hpp"

namespace mase::samplers {
namespace {

std::vector<std::string_view> names_of(const SamplerRow& row) {
  std::vector<std::string_view> names{row.name};
  names.insert(names.end(), row.other_names.begin(), row.other_names.end());
  return names;
}

}  // namespace

const std::vector<SamplerRow>& sampler_table() {
  static const std::vector<SamplerRow> table{tpe_row(), random_row(), nsgaii_row(),  nsgaiii_row(),
                                             qmc_row(), grid_row(),   allocate_row()};
  return table;
}

const SamplerRow* find_sampler(std::string_view name) {
  const auto& table = sampler_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const SamplerRow& entry) {
    const std::vector<std::string_view> names = names_of(entry);
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  return row == table.end() ? nullptr : &*row;
}

std::vector<std::string_view> sampler_names(std::optional<StudyLength> length) {
  std::vector<std::string_view> names;
  for (const SamplerRow& row : sampler_table())
    if (!length || row.length == *length)
      std::ranges::copy(names_of(row), std::back_inserter(names));
  return names;
}

}  // namespace mase::samplers
