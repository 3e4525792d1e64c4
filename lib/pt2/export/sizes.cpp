// SPDX-License-Identifier: Apache-2.0
// Writes sizes as sympy reads them, and what the schema says of tensors.
#include "pt2/export/sizes.hpp"

#include "pt2/dtypes.hpp"

namespace mase::pt2 {
namespace {

/// The strides of a tensor that is contiguous.
Tree strides_of(const std::vector<Size>& sizes) {
  Tree::List strides;
  std::int64_t value = 1, fixed = 1;
  std::vector<std::string> factors;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    Size stride{value, ""};
    if (!factors.empty()) {
      std::vector<std::string> all = factors;
      if (fixed != 1) all.insert(all.begin(), integer_text(fixed));
      stride.expression = product_text(all);
    }
    strides.insert(strides.begin(), stride.tree());
    value *= sizes[i].value;
    if (sizes[i].varies())
      factors.push_back(sizes[i].expression);
    else
      fixed *= sizes[i].value;
  }
  return Tree(std::move(strides));
}

Tree contiguous_meta(DType dtype, const std::vector<Size>& sizes, bool grad) {
  Tree meta = Tree::dict();
  meta["dtype"] = row_of(dtype).number;
  meta["sizes"] = Tree::list();
  meta["requires_grad"] = grad;
  meta["device"] = Tree(Tree::Dict{{"type", "cpu"}, {"index", Tree()}});
  for (const Size& size : sizes) meta["sizes"].push_back(size.tree());
  meta["strides"] = strides_of(sizes);
  meta["storage_offset"] = Tree(Tree::Dict{{"as_int", 0}});
  constexpr int strided_layout = 7;
  meta["layout"] = strided_layout;
  return meta;
}

std::size_t count_of(const ir::ValueInfo& info) {
  std::size_t count = info.shape.size();
  for (const ir::ValueInfo& element : info.elements) count += count_of(element);
  return count;
}

}  // namespace

Tree Size::tree() const {
  const Tree number(Tree::Dict{{"as_int", value}});
  if (!varies()) return number;
  return Tree(
      Tree::Dict{{"as_expr", Tree(Tree::Dict{{"expr_str", expression}, {"hint", number}})}});
}

Tree Sizes::ranges() const {
  Tree all = Tree::dict();
  for (const Axis& axis : axes())
    all[axis.symbol] = Tree(
        Tree::Dict{{"min_val", axis.least}, {"max_val", axis.most ? Tree(*axis.most) : Tree()}});
  return all;
}

Size Sizes::size_at(std::size_t place) const {
  return {measure_.measured().sizes.at(place), free_.text(place)};
}

std::optional<Size> Sizes::integer(ir::NodeId id) const {
  if (!measure_.integer(id)) return std::nullopt;
  return size_at(measure_.first_size(id));
}

Size Sizes::size(ir::NodeId id, std::size_t dim) const {
  return size_at(measure_.first_size(id) + dim);
}

Tree Sizes::tensor_meta(ir::NodeId id, const std::vector<std::size_t>& place, bool grad) const {
  const ir::ValueInfo* one = &info(id);
  std::size_t first = measure_.first_size(id);
  for (const std::size_t i : place) {
    first += one->shape.size();
    for (std::size_t before = 0; before < i; ++before) first += count_of(one->elements.at(before));
    one = &one->elements.at(i);
  }
  std::vector<Size> sizes;
  for (std::size_t i = 0; i < one->shape.size(); ++i) sizes.push_back(size_at(first + i));
  return contiguous_meta(one->dtype, sizes, grad);
}

Tree tensor_meta(DType dtype, const Shape& shape, bool grad) {
  std::vector<Size> sizes;
  for (const std::int64_t size : shape) sizes.push_back({size, ""});
  return contiguous_meta(dtype, sizes, grad);
}

}  // namespace mase::pt2
