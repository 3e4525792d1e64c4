// SPDX-License-Identifier: Apache-2.0
// One node with its arguments, as the function that lowers it sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hardware/integer/lowering/constants.hpp"
#include "hardware/integer/lowering/lowering.hpp"

namespace mase::integer {

/// Values rounded to a format as evaluation rounds them.
Array rounded(Array values, const formats::Format& format);

/// One node with its arguments, formats and the lowering in progress.
struct Call {
  Lowering& lowering;
  const ir::Node& node;

  /// An argument or module attribute; null when absent or none.
  const ir::Value* find(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  /// `count` integers; one stands for all, an empty list for `otherwise`.
  std::vector<std::int64_t> integers(std::string_view name, std::size_t count,
                                     std::vector<std::int64_t> otherwise) const;
  /// The torch dimension that an argument names.
  std::size_t torch_dim(std::string_view name, std::int64_t otherwise, std::size_t rank) const;
  /// Torch dimension within a frame; refused for the batch dimension.
  std::size_t frame_dim(std::string_view name, std::int64_t otherwise, std::size_t rank) const;

  /// Refuses a result of another type than float32, which streams stand for.
  void check_type() const;
  /// The grid that the result is asked for on; a refusal that says what would give one.
  Grid needed_grid() const;
  /// The same, but finer than the step by which all readers divide the result, if they do.
  Grid needed_or_finer_grid() const;

  const formats::Format* format(std::string_view port) const;
  /// The constant of the graph that a value is; null for anything else.
  const Parameter* parameter_in(const ir::Value& value) const;
  const Parameter* parameter(std::string_view argument) const;  ///< the same of an argument
  bool has_tensor(std::string_view argument) const;  ///< a constant of the graph or the module
  /// The values of a constant in its format and its order of dimensions; float32.
  Array values(const Parameter& parameter) const;
  /// The constant tensor of an argument as codes of its port's format. Refused when it has none
  /// unless `exact_allowed`: then the least grid that holds the values.
  Constants constants(std::string_view argument, bool exact_allowed = false) const;
  /// Its values as they are in the graph, in their order of dimensions; float32.
  Array tensor_values(std::string_view argument) const;
  /// The same of a weight whose channels, the slices of dimension 0, may have fraction bits or
  /// scales of their own.
  Constants weights() const;
  /// The constant tensor of an argument as codes of a grid.
  Constants constants_on(std::string_view argument, const Grid& grid) const;
  /// One frame of a constant tensor that has a batch dimension of 1, as codes of the grid; without
  /// one those of its format, or else exact.
  Constants frame_constants(const Parameter& parameter, const std::optional<Grid>& grid) const;
  Constants constant(double number) const;  ///< of a Python number, which runs as float32
  /// The numbers of a constant tensor of int64; refused for anything else.
  std::vector<std::int64_t> constant_indices(const ir::Value& value) const;

  /// On the grid of its data_in format. The batch is the first dimension.
  StreamView stream(std::string_view argument) const;
  /// An operand that has a scale and no format at its port.
  const Scaled* scaled(std::string_view argument) const;
  StreamView raw_stream(std::string_view argument) const;  ///< as it was made: ids have no format
  StreamView stream_of(const ir::Value& value, std::string_view argument) const;
  /// The shape of the result, or of the first of several, without its batch dimension; refused when
  /// it does not keep the batch.
  Shape frame_shape() const;
};

}  // namespace mase::integer
