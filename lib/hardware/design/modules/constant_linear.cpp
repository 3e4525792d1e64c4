// SPDX-License-Identifier: Apache-2.0
// A pipeline of adders whose depth follows from the numbers of inputs and of weight bits.
#include "hardware/design/modules/constant_linear.hpp"

#include <algorithm>

#include "hardware/design/building/step_matrix.hpp"
#include "hardware/design/modules/constant_sums.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

StreamId add_constant_linear(StepBuilder& builder, StreamId in) {
  const StepMatrix matrix = matrix_of(builder.step);
  const MatrixShape& shape = matrix.shape;
  // One bit of zeros per output stands for a bias that is not there.
  const std::vector<Wide> zeros(static_cast<std::size_t>(shape.rows), 0);
  Start start = start_of(builder, matrix.bias, 0);
  if (start.biases.empty() && start.half != 0) start = start_of(builder, zeros, 0);
  const ConstantLinearModule module{
      operands_of(builder, matrix.weight_type, start.half),
      {!start.biases.empty(), start.width},
      requantisation_of(builder),
      shape.columns,
      shape.rows,
      pack_bits(widened(matrix.weight), matrix.weight_type.width),
      pack_bits(start.biases.empty() ? zeros : start.biases, start.width)};
  return builder.finish(module, {in}, shape.rows);
}

/// Inputs, subset sums of four, every second level of the trees over groups and over bits,
/// rounding.
std::unique_ptr<Handshake> ConstantLinearModule::handshake(Stages kept) const {
  const int groups = log2_ceiling(ceiling(inputs, 4)), bits = log2_ceiling(weight_bits);
  return std::make_unique<PipeHandshake>(3 + (groups + 1) / 2 + (bits + 1) / 2, kept);
}

/// Counts the adders that the weights' bits ask for, equal partial sums of the outputs once.
Cost ConstantLinearModule::cost(const Design&) const {
  const ConstantSums sums = constant_sums(
      {weights.digits, inputs, outputs, weight_bits, weight_signed}, {in_number_bits(), in_signed});
  Cost cost = skid_cost(outputs * out_bits);
  cost.ff += static_cast<double>(inputs * in_number_bits());
  Cost end = requantise_stage_cost(*this, {sum_bits}, halved);
  if (has_bias) end.carry += static_cast<double>(ceiling(sum_bits, 4));
  for (const Cost& join : sums.joins) {
    cost += join;
    cost += end;
  }
  cost += sums.shared;
  return cost;
}

/// Two levels of a tree of adders, or the bias and rounding behind the last of them.
Paths ConstantLinearModule::paths(const Technology& technology) const {
  const int operand = signed_in(), groups = log2_ceiling(ceiling(inputs, 4));
  const int joined = weight_bits > 1 ? weight_bits / 2 + 2 : 0;
  const auto widest = static_cast<double>(std::min(sum_bits, operand + 2 + groups + joined));
  Path subsets{.what = "sums of four", .chains = 2, .carry = operand + 2.0, .readers = 8};
  Path tree{.what = "sums", .chains = weight_bits > 2 || groups > 1 ? 2.0 : 1.0, .carry = widest};
  // A sum of four is used by one column in 15, and by half as many at both its ends.
  tree.readers = std::max(1.0, static_cast<double>(outputs * weight_bits) / 15);
  Path end = rounding_path(*this, {sum_bits}, technology, halved);
  if (has_bias) {
    end.chains += 1;
    end.carry += static_cast<double>(sum_bits);
  }
  return {subsets, tree, end};
}

ModuleRow ConstantLinearModule::row() {
  return row_of_module<ConstantLinearModule>(
      {.folder = "matrix",
       .doc = "matrix of constants, a row per cycle",
       .uses = {"mase_decode", "mase_constant_add", "mase_requantise_stage", "mase_skid"},
       .inputs = {"in"},
       .outputs = {"out"}});
}

}  // namespace mase::design
