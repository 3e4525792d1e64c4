// SPDX-License-Identifier: Apache-2.0
// The table of rules. Most families follow from the map of their dimensions.
#include "sharding/splits.hpp"

#include <algorithm>
#include <numeric>

#include "ir/op_table.hpp"
#include "sharding/split_rules.hpp"

namespace mase::sharding {
namespace {

struct SplitRule {
  ir::OpFamily family;
  Splits (*splits)(const split_rules::Loops&);
};

constexpr SplitRule rows[] = {
    {ir::OpFamily::linear, split_rules::linear},
    {ir::OpFamily::matrix_product, split_rules::products},
    {ir::OpFamily::added_product, split_rules::added_products},
    {ir::OpFamily::attention, split_rules::attention},
    {ir::OpFamily::convolution, split_rules::convolution},
    {ir::OpFamily::transposed_convolution, split_rules::transposed_convolution},
    {ir::OpFamily::contraction, split_rules::contraction},
    {ir::OpFamily::recurrent_layer, split_rules::recurrent},
    {ir::OpFamily::recurrent, split_rules::recurrent},
    {ir::OpFamily::recurrent_cell, split_rules::recurrent_cell},
    {ir::OpFamily::group_norm, split_rules::group_norm},
    {ir::OpFamily::instance_norm, split_rules::channels},
    {ir::OpFamily::resampling, split_rules::channels},
    {ir::OpFamily::embedding, split_rules::embedding},
    {ir::OpFamily::layer_norm, split_rules::normalized},
    {ir::OpFamily::batch_norm, split_rules::per_channel},
    {ir::OpFamily::channel_activation, split_rules::per_channel},
    {ir::OpFamily::pooling, split_rules::images},
    {ir::OpFamily::adaptive_pooling, split_rules::images},
    {ir::OpFamily::unary, split_rules::elements},
    {ir::OpFamily::elementwise, split_rules::elements},
    {ir::OpFamily::softmax, split_rules::mapped},
    {ir::OpFamily::scan, split_rules::mapped},
    {ir::OpFamily::difference, split_rules::mapped},
    {ir::OpFamily::reduction, split_rules::sums},
    {ir::OpFamily::arg_reduction, split_rules::mapped},
    {ir::OpFamily::copy, split_rules::elements},
    {ir::OpFamily::reshape, split_rules::reshaped},
    {ir::OpFamily::transpose, split_rules::mapped},
    {ir::OpFamily::permute, split_rules::mapped},
    {ir::OpFamily::expand, split_rules::expanded},
    {ir::OpFamily::pad, split_rules::mapped},
    {ir::OpFamily::concatenation, split_rules::joined},
    {ir::OpFamily::movement, split_rules::moved},
    {ir::OpFamily::other, split_rules::repeated},
};

void add_sizes(const ir::ValueInfo& info, std::size_t dim, std::int64_t& units) {
  if (info.is_tensor() && dim < info.shape.size()) units = std::gcd(units, info.shape[dim]);
  for (const ir::ValueInfo& item : info.elements) add_sizes(item, dim, units);
}

/// All tensors of a list are split along the same dimension, except those of a recurrent layer.
void add_units_of_lists(const ir::Graph& graph, const ir::Node& node,
                        const std::vector<Operand>& operands, Split& split) {
  if (split.result && !node.info.is_tensor() && !batch_of_sequences(graph, node))
    add_sizes(node.info, *split.result, split.units);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const bool is_split = split.operands[i] >= 0 && !operand.info.is_tensor();
    if (is_split && !batch_of_sequences(graph, graph.node(operand.source)))
      add_sizes(operand.info, static_cast<std::size_t>(split.operands[i]), split.units);
  }
}

}  // namespace

Splits splits_of(const ir::Graph& graph, const ir::Node& node,
                 const std::vector<Operand>& operands) {
  const Shape* result = shape_of(node.info);
  if (!result || operands.empty() || node.op.empty()) return {};
  const ir::Classified what = ir::classify(graph, node);
  const split_rules::Loops loops{graph, node, operands, what.op, *result};
  const auto row = std::ranges::find(rows, what.family(), &SplitRule::family);
  Splits all;
  if (what.family() == ir::OpFamily::other && ir::is_of_elements(node.op))
    all = split_rules::elements(loops);
  else if (row != std::end(rows))
    all = row->splits(loops);
  for (Split& split : all) add_units_of_lists(graph, node, operands, split);
  return all;
}

}  // namespace mase::sharding
