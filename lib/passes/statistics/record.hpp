// SPDX-License-Identifier: Apache-2.0
// The statistic `record`: the values themselves.
#pragma once

#include "passes/statistics/statistic.hpp"

namespace mase::passes {

/// Result: "data" (nested lists: the samples joined along dimension 0, or along a new dimension
/// before it), "count" (samples), "size_in_bytes" (of float32 values). Keeps every value.
struct Record {
  static constexpr StatisticDoc doc{"record", "The values themselves."};
  bool add_new_dim_before_concat = false;
  static constexpr auto fields() {
    return std::tuple{Field{"add_new_dim_before_concat", &Record::add_new_dim_before_concat,
                            "stack the samples instead of joining them along dimension 0"}};
  }
  void add(const Samples& samples);
  Tree result() const;

 private:
  Shape sample_;
  std::int64_t count_ = 0;
  std::vector<double> values_;
};

}  // namespace mase::passes
