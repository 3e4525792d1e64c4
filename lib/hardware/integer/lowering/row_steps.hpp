// SPDX-License-Identifier: Apache-2.0
// Rows of a stream: what is reduced together, and steps on them that come before a node's own.
// Internal to lib/hardware/integer.
#pragma once

#include <string>
#include <vector>

#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/function_step.hpp"

namespace mase::integer {

/// A stream in rows, one after another, whose elements differ along reduced dimensions only.
struct RowStream {
  StreamView x;
  std::int64_t length = 1;  ///< elements of a row
  Layout results;           ///< one element for each row: reduced dimensions of 1
};

/// The stream in rows along these dimensions of its frame: as it comes where its elements lie so,
/// else behind one gather.
RowStream in_rows(const Call& call, const StreamView& x, const std::vector<bool>& reduced);
/// Along one dimension.
RowStream in_rows(const Call& call, const StreamView& x, std::size_t dim);

/// Steps on rows, each named by the node and a suffix.
class RowSteps {
 public:
  RowSteps(const Call& call, RowStream rows) : call_(call), rows_(std::move(rows)) {}

  const StreamView& x() const { return rows_.x; }
  std::int64_t length() const { return rows_.length; }
  const Layout& results() const { return rows_.results; }

  /// For every element: codes of the accumulator, or of a range that it never leaves.
  StreamView each(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                  const Accumulator& accumulator) const;
  StreamView each(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                  const Accumulator& accumulator, const Interval& range) const;
  StreamView each(const std::string& name, FunctionStep function,
                  std::vector<ValueId> inputs) const;
  /// Once for every row.
  StreamView once(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                  const Accumulator& accumulator) const;
  StreamView once(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                  const Accumulator& accumulator, const Interval& range) const;
  StreamView once(const std::string& name, FunctionStep function,
                  std::vector<ValueId> inputs) const;
  /// The maximum or the sum of every row, whose results lie in a range.
  StreamView reduced(const std::string& name, PoolKind kind, const StreamView& x,
                     const Interval& range) const;
  /// What there is once for every row, for each of its elements.
  StreamView repeated(const std::string& name, const StreamView& once) const;

 private:
  const Call& call_;
  RowStream rows_;
};

}  // namespace mase::integer
