// SPDX-License-Identifier: Apache-2.0
// Rules of Python's indexing of containers and tensors, and of indexing by tensors.
#include <algorithm>

#include "base/from_front.hpp"
#include "ir/dimension_map.hpp"
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

/// A dimension that an index leaves, with the tensor of indices that chooses from it.
struct IndexedDimension {
  std::int64_t size = 1;
  std::optional<ValueInfo> chosen_by;
};

/// A mask chooses as many places as it has true elements.
bool is_mask(const ValueInfo& index) {
  return index.dtype == DType::boolean || index.dtype == DType::uint8;
}

/// Indices broadcast. Their dimensions stand where the first of them is if they are neighbours,
/// else in front.
Shape indexed_shape(const Call& call, const std::vector<IndexedDimension>& dims) {
  std::vector<Shape> shapes;
  std::size_t first = dims.size(), last = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].chosen_by) continue;
    if (is_mask(*dims[i].chosen_by)) call.depends_on_values();
    shapes.push_back(dims[i].chosen_by->shape);
    first = std::min(first, i);
    last = i;
  }
  Shape shape;
  bool placed = shapes.empty();
  const auto place_indices = [&] {
    if (!placed) shape = joined(shape, call.broadcast(shapes));
    placed = true;
  };
  if (last + 1 - first != shapes.size()) place_indices();
  for (const IndexedDimension& dim : dims) {
    if (dim.chosen_by) place_indices();
    if (!dim.chosen_by) shape.push_back(dim.size);
  }
  return shape;
}

/// Reads Python's index of a tensor item by item.
class TensorIndex {
 public:
  TensorIndex(const Call& call, const ValueInfo& self) : call_(call), self_(self) {}

  ValueInfo result(const Value& index) {
    const Value::List single{index};
    for (const Value& item : index.kind() == Value::Kind::tuple ? index.items() : single) add(item);
    for (; next_ < self_.shape.size(); ++next_) dims_.push_back({self_.shape[next_], {}});
    return ValueInfo::tensor(self_.dtype, indexed_shape(call_, dims_));
  }

 private:
  std::int64_t next_size() {
    call_.require(next_ < self_.shape.size(), "the index has too many items");
    return self_.shape[next_++];
  }

  void add(const Value& item) {
    if (item.kind() == Value::Kind::slice) return add_slice(item);
    const ValueInfo info = call_.info_of(item);
    switch (info.kind) {
      case InfoKind::none:
        dims_.push_back({1, {}});
        return;
      case InfoKind::boolean:
        call_.depends_on_values();
        return;
      case InfoKind::integer: {
        const std::int64_t size = next_size(), index = call_.integer_of(item);
        call_.require(index >= -size && index < size,
                      "the index " + std::to_string(index) + " is out of range");
        return;
      }
      case InfoKind::tensor:
        return add_tensor(info);
      default:
        call_.misfit("a tensor is indexed by something else than numbers, slices and tensors");
    }
  }

  void add_slice(const Value& slice) {
    const std::int64_t size = next_size();
    const auto bound = [&](std::size_t i, std::int64_t otherwise) {
      const Value& given = slice.items()[i];
      return call_.info_of(given).kind == InfoKind::none ? otherwise : call_.integer_of(given);
    };
    dims_.push_back({slice_length(call_, size, bound(0, 0), bound(1, size), bound(2, 1)), {}});
  }

  /// An integer without dimensions counts as a number.
  void add_tensor(const ValueInfo& index) {
    const std::int64_t size = next_size();
    const bool number = index.shape.empty() && !is_mask(index);
    if (!number) dims_.push_back({size, index});
  }

  const Call& call_;
  const ValueInfo& self_;
  std::size_t next_ = 0;
  std::vector<IndexedDimension> dims_;
};

/// The places of a list or tuple that a slice takes.
ValueInfo sliced_container(const Call& call, const ValueInfo& container, const Value& slice) {
  const auto size = static_cast<std::int64_t>(container.elements.size());
  const auto bound = [&](std::size_t i, std::int64_t otherwise) {
    const Value& given = slice.items()[i];
    return call.info_of(given).kind == InfoKind::none ? otherwise : call.integer_of(given);
  };
  const auto clamped = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  const std::int64_t step = bound(2, 1);
  call.require(step > 0, "slices of lists need a positive step");
  ValueInfo part = host_info(container.kind);
  for (std::int64_t i = clamped(bound(0, 0)); i < clamped(bound(1, size));
       i += std::min(step, size))
    part.elements.push_back(container.elements[static_cast<std::size_t>(i)]);
  return part;
}

ValueInfo entry_of(const Call& call, const ValueInfo& dict, const Value& key) {
  const bool text = key.kind() == Value::Kind::string;
  const auto found = text ? std::ranges::find(dict.keys, key.as_string()) : dict.keys.end();
  call.require(found != dict.keys.end(), "the dict has no such key");
  return dict.elements[static_cast<std::size_t>(found - dict.keys.begin())];
}

Inferred item_of(const Call& call) {
  const Node& node = call.node();
  call.require(node.args.size() == 2, "it takes a value and an index");
  const ValueInfo self = call.info_of(node.args[0].value);
  const Value& index = node.args[1].value;
  if (self.is_tensor()) return TensorIndex(call, self).result(index);
  if (self.kind == InfoKind::dict) return entry_of(call, self, index);
  call.require(self.kind == InfoKind::list || self.kind == InfoKind::tuple, "it cannot be indexed");
  if (index.kind() == Value::Kind::slice) return sliced_container(call, self, index);
  const auto place = from_front(call.integer_of(index), self.elements.size());
  call.require(place.has_value(), "the index is out of range");
  return self.elements[*place];
}

/// aten::index: one optional tensor of indices per dimension.
Inferred indexed_by_tensors(const Call& call) {
  const ValueInfo self = call.input();
  const auto indices = call.find("indices");
  call.require(indices && indices->elements.size() <= self.shape.size(),
               "it takes at most one index per dimension");
  std::vector<IndexedDimension> dims;
  for (std::size_t d = 0; d < self.shape.size(); ++d) {
    dims.push_back({self.shape[d], {}});
    if (d < indices->elements.size() && indices->elements[d].is_tensor())
      dims.back().chosen_by = indices->elements[d];
  }
  return ValueInfo::tensor(self.dtype, indexed_shape(call, dims));
}

}  // namespace

std::vector<InferenceRule> index_rules() {
  return {
      {"mase::getitem", item_of},
      {"aten::index", indexed_by_tensors},
  };
}

}  // namespace mase::ir
