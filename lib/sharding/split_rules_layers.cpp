// SPDX-License-Identifier: Apache-2.0
// Loops of layers with weights, of products and of attention.
#include <algorithm>
#include <set>

#include "ir/dimension_map.hpp"
#include "ir/einsum_equation.hpp"
#include "ir/inference.hpp"
#include "ir/space_dims.hpp"
#include "sharding/split_rules.hpp"

namespace mase::sharding::split_rules {

/// [..., inputs] x [outputs, inputs] + [outputs].
Splits linear(const Loops& loops) {
  const auto input = loops.find("input"), weight = loops.find("weight"), bias = loops.find("bias");
  if (!input || !weight || loops.rank_of(*weight) != 2) return {};
  Splits all;
  for (std::size_t dim = 0; dim + 1 < loops.rank(); ++dim) {
    all.push_back(loops.over(dim));
    Loops::set(all.back(), input, dim);
  }
  Split outputs = loops.over(loops.rank() - 1);
  Loops::set(outputs, weight, 0);
  Loops::set(outputs, bias, 0);
  all.push_back(std::move(outputs));
  Split inputs = loops.summed();
  Loops::set(inputs, input, loops.rank_of(*input) - 1);
  Loops::set(inputs, weight, 1);
  Loops::once(inputs, bias);
  all.push_back(std::move(inputs));
  return all;
}

/// addmm and baddbmm: [..., n, k] x [..., k, m] and an addend that broadcasts to the result.
Splits added_products(const Loops& loops) {
  const bool is_batch = loops.op == "baddbmm";
  const auto addend = loops.find("self"), left = loops.find(is_batch ? "batch1" : "mat1"),
             right = loops.find(is_batch ? "batch2" : "mat2");
  if ((!is_batch && loops.op != "addmm") || !addend || !left || !right) return {};
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    Split split = loops.over(dim);
    if (dim + 1 < loops.rank()) Loops::set(split, left, dim);
    if (dim + 2 != loops.rank()) Loops::set(split, right, dim);
    const std::size_t missing = loops.rank() - loops.rank_of(*addend);
    if (dim >= missing && loops.shape(*addend)[dim - missing] != 1)
      Loops::set(split, addend, dim - missing);
    all.push_back(std::move(split));
  }
  Split inner = loops.summed();
  Loops::set(inner, left, loops.rank() - 1);
  Loops::set(inner, right, loops.rank() - 2);
  Loops::once(inner, addend);
  all.push_back(std::move(inner));
  return all;
}

/// [..., n, k] x [..., k, m]; the dimensions before broadcast.
Splits products(const Loops& loops) {
  if (loops.operands.size() != 2 || loops.rank_of(0) < 2 || loops.rank_of(1) < 2) return {};
  Splits all = elements(loops);
  std::erase_if(all, [&](const Split& split) { return *split.result + 2 >= loops.rank(); });
  Split rows = loops.over(loops.rank() - 2), columns = loops.over(loops.rank() - 1);
  Loops::set(rows, 0, loops.rank_of(0) - 2);
  Loops::set(columns, 1, loops.rank_of(1) - 1);
  Split inner = loops.summed();
  Loops::set(inner, 0, loops.rank_of(0) - 1);
  Loops::set(inner, 1, loops.rank_of(1) - 2);
  for (Split* split : {&rows, &columns, &inner}) all.push_back(std::move(*split));
  return all;
}

/// softmax(query key^T) value on [..., length, size], row by row of the query.
Splits attention(const Loops& loops) {
  const auto query = loops.find("query"), key = loops.find("key"), value = loops.find("value");
  if (!query || !key || !value || loops.rank_of(*key) != loops.rank()) return {};
  const auto mask = loops.find("attn_mask");
  const ir::Value* causal = loops.graph.argument(loops.node, "is_causal");
  const bool is_causal = causal && !(*causal == ir::Value(false));
  Splits all;
  for (std::size_t dim = 0; dim + 1 < loops.rank() - (is_causal ? 1 : 0); ++dim) {
    Split split = loops.over(dim);
    Loops::set(split, query, dim);
    if (dim + 2 < loops.rank())
      for (const auto& other : {key, value}) Loops::set(split, other, dim);
    const std::size_t missing = mask ? loops.rank() - loops.rank_of(*mask) : 0;
    if (mask && dim >= missing && loops.shape(*mask)[dim - missing] != 1)
      Loops::set(split, mask, dim - missing);
    all.push_back(std::move(split));
  }
  Split features = loops.over(loops.rank() - 1);
  Loops::set(features, value, loops.rank() - 1);
  all.push_back(std::move(features));
  return all;
}

/// Every dimension before those that are normalized.
Splits normalized(const Loops& loops) {
  const auto* sizes = ir::items_of(loops.graph.argument(loops.node, "normalized_shape"));
  if (!sizes || sizes->size() > loops.rank()) return {};
  Splits all;
  for (std::size_t dim = 0; dim + sizes->size() < loops.rank(); ++dim) {
    all.push_back(loops.over(dim));
    Loops::set(all.back(), loops.find("input"), dim);
  }
  return all;
}

/// Every dimension; the parameters belong to channels, dimension 1.
Splits per_channel(const Loops& loops) {
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    Split split = loops.over(dim);
    Loops::set(split, 0, dim);
    if (dim == 1)
      for (std::size_t i = 1; i < loops.operands.size(); ++i)
        if (loops.rank_of(i) == 1) Loops::set(split, i, 0);
    all.push_back(std::move(split));
  }
  return all;
}

/// Channels one by one, and images if there is a batch: all dimensions before those of the space.
Splits images(const Loops& loops) {
  const auto space = ir::space_dims(loops.op);
  if (loops.operands.size() != 1 || !space) return {};
  Splits all;
  for (std::size_t dim = 0; dim + *space < loops.rank(); ++dim) {
    all.push_back(loops.over(dim));
    Loops::set(all.back(), 0, dim);
  }
  return all;
}

namespace {

/// Loops of a convolution: rows, and groups if there are several, or else outputs and inputs, which
/// the weight has in these dimensions.
Splits convolution_loops(const Loops& loops, std::size_t outputs_dim, std::size_t inputs_dim) {
  const auto input = loops.find("input"), weight = loops.find("weight"), bias = loops.find("bias");
  const std::int64_t groups =
      loops.graph.argument(loops.node, "groups") ? loops.count("groups") : 1;
  if (!input || !weight || loops.rank_of(*input) != loops.rank_of(*weight) || groups == 0)
    return {};
  Split rows = loops.over(0), outputs = loops.over(1), inputs = loops.summed();
  Loops::set(rows, input, 0);
  Loops::set(outputs, bias, 0);
  if (groups > 1) {
    Loops::set(outputs, weight, 0);
    Loops::set(outputs, input, 1);
    outputs.units = groups;
    return {rows, outputs};
  }
  Loops::set(outputs, weight, outputs_dim);
  Loops::set(inputs, input, 1);
  Loops::set(inputs, weight, inputs_dim);
  Loops::once(inputs, bias);
  return {rows, outputs, inputs};
}

}  // namespace

Splits convolution(const Loops& loops) { return convolution_loops(loops, 0, 1); }

Splits transposed_convolution(const Loops& loops) { return convolution_loops(loops, 1, 0); }

/// Images, and groups of channels.
Splits group_norm(const Loops& loops) {
  const std::int64_t groups = loops.count("num_groups");
  Splits all = per_channel(loops);
  if (groups == 0 || all.size() < 2) return {};
  all.resize(2);
  all[1].units = groups;
  return all;
}

/// Images, and channels.
Splits channels(const Loops& loops) {
  Splits all = per_channel(loops);
  if (all.size() < 3 || loops.rank_of(0) != loops.rank()) return {};
  all.resize(2);
  return all;
}

/// Every letter of the equation is a loop; those that the result lacks are summed. A dimension of
/// size 1 stands for any size.
Splits contraction(const Loops& loops) {
  const ir::Value* text = loops.graph.argument(loops.node, "equation");
  if (!text || text->kind() != ir::Value::Kind::string) return {};
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < loops.operands.size(); ++i) ranks.push_back(loops.rank_of(i));
  const ir::EinsumEquation equation = ir::einsum_equation(text->as_string(), ranks);
  std::set<char> letters;
  for (const std::string& operand : equation.operands)
    letters.insert(operand.begin(), operand.end());
  Splits all;
  for (const char letter : letters) {
    const std::size_t at = equation.result.find(letter);
    Split split = at == std::string::npos ? loops.summed() : loops.over(at);
    bool is_diagonal = false;
    for (std::size_t i = 0; i < loops.operands.size(); ++i) {
      const std::string& operand = equation.operands[i];
      is_diagonal = is_diagonal || std::ranges::count(operand, letter) > 1;
      const std::size_t dim = operand.find(letter);
      if (dim != std::string::npos && loops.shape(i)[dim] > 1) Loops::set(split, i, dim);
    }
    if (!is_diagonal) all.push_back(std::move(split));
  }
  return all;
}

/// The sequences of a batch.
Splits recurrent(const Loops& loops) {
  const auto batch = batch_of_sequences(loops.graph, loops.node);
  const auto input = loops.find("input");
  if (!batch || !input || loops.rank_of(*input) != 3) return {};
  Split rows = loops.over(*batch);
  Loops::set(rows, input, *batch);
  for (std::size_t i = 0; i < loops.operands.size(); ++i)
    if (loops.operands[i].argument == "hx") Loops::set(rows, i, batch_of_states);
  return {rows};
}

/// The rows of a batch.
Splits recurrent_cell(const Loops& loops) {
  const auto input = loops.find("input");
  if (!input || loops.rank() != 2 || loops.rank_of(*input) != 2) return {};
  Split rows = loops.over(0);
  Loops::set(rows, input, 0);
  for (std::size_t i = 0; i < loops.operands.size(); ++i)
    if (loops.operands[i].argument == "hx") Loops::set(rows, i, 0);
  return {rows};
}

/// Rows of a table, looked up at each index. Devices that have some of the rows give zeros for the
/// others (Shoeybi et al., "Megatron-LM", 2019, section 3).
Splits embedding(const Loops& loops) {
  const auto indices = loops.find("indices"), weight = loops.find("weight");
  if (!indices || !weight || loops.rank() != loops.rank_of(*indices) + 1) return {};
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    const bool is_feature = dim + 1 == loops.rank();
    all.push_back(loops.over(dim));
    Loops::set(all.back(), is_feature ? weight : indices, is_feature ? 1 : dim);
  }
  all.push_back(loops.summed());
  Loops::set(all.back(), weight, 0);
  return all;
}

}  // namespace mase::sharding::split_rules
