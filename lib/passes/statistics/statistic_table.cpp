// SPDX-License-Identifier: Apache-2.0
// The table of statistics, one row each.
#include "passes/statistics/histogram_statistic.hpp"
#include "passes/statistics/range.hpp"
#include "passes/statistics/record.hpp"
#include "passes/statistics/variance.hpp"

namespace mase::passes {

const std::vector<StatisticRow>& statistic_table() {
  static const std::vector<StatisticRow> table{
      statistic_row<Record>(),          statistic_row<VarianceOnline>(),
      statistic_row<VariancePrecise>(), statistic_row<RangeNSigma>(),
      statistic_row<RangeMinMax>(),     statistic_row<RangeQuantile>(),
      statistic_row<AbsMean>(),         statistic_row<HistogramStatistic>(),
  };
  return table;
}

FieldInfo dims_field() {
  FieldInfo field;
  field.name = "dims";
  field.type = "string or list of integer";
  field.default_value = "\"all\"";
  field.doc = "dimensions of a sample that are combined: \"all\", \"none\" or a list";
  return field;
}

const StatisticRow* find_statistic(std::string_view name) {
  for (const StatisticRow& row : statistic_table())
    if (row.doc.name == name) return &row;
  return nullptr;
}

std::vector<std::string> statistic_names() {
  std::vector<std::string> names;
  for (const StatisticRow& row : statistic_table()) names.emplace_back(row.doc.name);
  return names;
}

}  // namespace mase::passes
