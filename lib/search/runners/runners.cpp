// SPDX-License-Identifier: Apache-2.0
// The table of runners, made from their declarations.
#include "search/runners/runners.hpp"

#include <algorithm>
#include <utility>

namespace mase::search {
namespace {

constexpr auto members = Runners::members();

/// A runner whose table has more than fields reads and describes the table itself.
template <class Options>
concept ReadsTable = requires(const Tree& table, Diagnostics& diagnostics) {
  { Options::read(table, diagnostics) } -> std::same_as<Options>;
};
template <class Options>
concept DescribesItself = requires {
  Options::describe();
};
template <class Options>
concept Tells = requires {
  Options::told;
};

template <class Options>
Options read_options_of(const Tree& table, Diagnostics& diagnostics) {
  if constexpr (ReadsTable<Options>) {
    return Options::read(table, diagnostics);
  } else {
    Options options;
    read_fields(table, options, diagnostics);
    return options;
  }
}

template <class Options>
std::vector<FieldInfo> describe_options() {
  if constexpr (DescribesItself<Options>)
    return Options::describe();
  else
    return describe_fields<Options>();
}

template <std::size_t i>
RunnerRow describe_runner() {
  using Member = std::decay_t<decltype(std::declval<Runners>().*std::get<i>(members))>;
  using Options = typename Member::value_type;
  RunnerRow row;
  row.name = Options::doc.name;
  row.doc = Options::doc.sentence;
  row.kind = Options::doc.kind;
  row.needs_labels = Options::doc.needs_labels;
  row.fields = describe_options<Options>();
  row.metrics = Options::metrics;
  if constexpr (Tells<Options>) row.told = Options::told;
  row.read = [](const Tree& table, Runners& runners, Diagnostics& diagnostics) {
    runners.*std::get<i>(members) = read_options_of<Options>(table, diagnostics);
  };
  row.is_given = [](const Runners& runners) { return (runners.*std::get<i>(members)).has_value(); };
  row.make = [](const Runners& runners, const Bench& bench) {
    return (runners.*std::get<i>(members))->make(bench);
  };
  return row;
}

template <std::size_t... i>
std::vector<RunnerRow> describe_all(std::index_sequence<i...>) {
  return {describe_runner<i>()...};
}

}  // namespace

bool RunnerRow::delivers(std::string_view metric) const {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](const MetricDoc& entry) { return entry.name == metric; });
}

std::string RunnerRow::table() const {
  return std::string(kind_table(kind)) + "." + std::string(name);
}

const std::vector<RunnerRow>& runner_table() {
  static const std::vector<RunnerRow> table =
      describe_all(std::make_index_sequence<std::tuple_size_v<decltype(members)>>());
  return table;
}

std::vector<const RunnerRow*> given_rows(const Runners& runners) {
  std::vector<const RunnerRow*> rows;
  for (const RunnerRow& row : runner_table())
    if (row.is_given(runners)) rows.push_back(&row);
  return rows;
}

}  // namespace mase::search
