// SPDX-License-Identifier: Apache-2.0
// The table of rules. Most families follow from the map of their dimensions.
#include "sharding/splits.hpp"

#include <algorithm>

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

}  // namespace

Splits splits_of(const ir::Graph& graph, const ir::Node& node,
                 const std::vector<Operand>& operands) {
  const Shape* result = shape_of(node.info);
  if (!result || operands.empty() || node.op.empty()) return {};
  const ir::Classified what = ir::classify(graph, node);
  const split_rules::Loops loops{graph, node, operands, what.op, *result};
  if (what.family() == ir::OpFamily::other && ir::is_of_elements(node.op))
    return split_rules::elements(loops);
  const auto rule = std::ranges::find(rows, what.family(), &SplitRule::family);
  return rule == std::end(rows) ? Splits() : rule->splits(loops);
}

}  // namespace mase::sharding
