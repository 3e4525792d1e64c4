// SPDX-License-Identifier: Apache-2.0
// A statistic: declared once as a struct with `doc`, options, `add` and `result`, and listed in one
// row of statistic_table.cpp.
//
//   struct Count {
//     static constexpr StatisticDoc doc{"count", "Number of values."};
//     static constexpr auto fields() { return std::tuple{}; }
//     void add(const Samples& samples);
//     Tree result() const;  // a dict
//   };
//
// A member `Dims dims` becomes the option `dims`.
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <vector>

#include "base/field.hpp"
#include "passes/statistics/samples.hpp"

namespace mase::passes {

/// The name of a statistic, and a sentence on what it is.
struct StatisticDoc {
  std::string_view name, sentence;
};

/// Collects one statistic over any number of batches.
class Collector {
 public:
  virtual ~Collector() = default;
  virtual void add(const Samples& samples) = 0;
  virtual Tree result() const = 0;
};

/// One row of the table.
struct StatisticRow {
  StatisticDoc doc;
  std::vector<FieldInfo> fields;
  /// Reads the options; adds problems to `diagnostics`.
  std::unique_ptr<Collector> (*make)(const Tree& options, Diagnostics& diagnostics);
  /// The options with every default filled in.
  Tree (*resolve)(const Tree& options);
};

const std::vector<StatisticRow>& statistic_table();
const StatisticRow* find_statistic(std::string_view name);
std::vector<std::string> statistic_names();

/// The option `dims` as documentation shows it.
FieldInfo dims_field();

template <class T>
concept HasDims = requires(T statistic) {
  { statistic.dims } -> std::same_as<Dims&>;
};

template <class T>
T read_statistic(const Tree& options, Diagnostics& diagnostics) {
  T statistic;
  if constexpr (HasDims<T>) {
    read_fields(options, statistic, diagnostics, {"dims"});
    if (const Tree* dims = options.find("dims")) statistic.dims.read(*dims, diagnostics);
  } else {
    read_fields(options, statistic, diagnostics);
  }
  return statistic;
}

/// The Collector of a statistic declared as T.
template <class T>
class StatisticCollector final : public Collector {
 public:
  explicit StatisticCollector(T statistic) : statistic_(std::move(statistic)) {}
  void add(const Samples& samples) override { statistic_.add(samples); }
  Tree result() const override { return statistic_.result(); }

 private:
  T statistic_;
};

/// The row of the table for a statistic declared as T.
template <class T>
StatisticRow statistic_row() {
  StatisticRow row{T::doc, describe_fields<T>(), nullptr, nullptr};
  if constexpr (HasDims<T>) row.fields.push_back(dims_field());
  row.make = [](const Tree& options, Diagnostics& diagnostics) -> std::unique_ptr<Collector> {
    return std::make_unique<StatisticCollector<T>>(read_statistic<T>(options, diagnostics));
  };
  row.resolve = [](const Tree& options) {
    Diagnostics ignored;
    const T statistic = read_statistic<T>(options, ignored);
    Tree resolved = write_fields(statistic);
    if constexpr (HasDims<T>) resolved["dims"] = statistic.dims.write();
    return resolved;
  };
  return row;
}

}  // namespace mase::passes
