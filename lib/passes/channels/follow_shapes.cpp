// SPDX-License-Identifier: Apache-2.0
// Rules of elementwise, pooling and reshaping ops; where most dimensions go, ir::dimension_map
// says.
#include <algorithm>

#include "base/from_front.hpp"
#include "ir/dimension_map.hpp"
#include "ir/op_table.hpp"
#include "passes/channels/channel_follower.hpp"

namespace mase::passes {
namespace {

/// The most copies of one channel along a dimension that are followed.
constexpr std::size_t most_runs = 4096;

std::int64_t product(const Shape& shape, std::size_t first, std::size_t last) {
  std::int64_t elements = 1;
  for (std::size_t d = first; d < last; ++d) elements *= shape[d];
  return elements;
}

/// One part of a list of `copies` equal parts; empty when the parts are not equal.
ChannelRuns period(const ChannelRuns& runs, std::size_t copies) {
  if (runs.size() % copies != 0) return {};
  const auto length = static_cast<std::ptrdiff_t>(runs.size() / copies);
  if (!std::equal(runs.begin() + length, runs.end(), runs.begin())) return {};
  return {runs.begin(), runs.begin() + length};
}

}  // namespace

std::size_t place_of(std::int64_t dim, std::size_t rank) {
  const auto place = from_front(dim, rank);
  if (!place)
    file_error("dimension " + std::to_string(dim) + " of a tensor of rank " + std::to_string(rank));
  return *place;
}

/// Operands align at their last dimension (broadcasting); channels that meet are the same.
ChannelLayout ChannelFollower::elementwise(const ir::Node& node) {
  const Shape& shape = node.info.shape;
  ChannelLayout out(shape.size());
  std::vector<bool> known(shape.size());
  for (ir::NodeId id : graph_.inputs(node.id)) {
    const Shape& given = graph_.node(id).info.shape;
    const ChannelLayout layout = layout_of(id);
    if (layout.size() > out.size()) return unknown(node);
    for (std::size_t d = 0; d < layout.size(); ++d)
      meet(node, given[d], layout[d], out.size() - layout.size() + d, out, known);
  }
  return out;
}

/// Joins an operand's dimension with the result's dimension of the given size. A smaller dimension
/// is repeated and must keep its width.
void ChannelFollower::meet(const ir::Node& node, std::int64_t size, const ChannelRuns& runs,
                           std::size_t at, ChannelLayout& out, std::vector<bool>& known) {
  if (size != node.info.shape[at]) return keep(node, runs);
  if (known[at]) map_.space.join(out[at], runs, node.name);
  if (out[at].empty()) out[at] = runs;
  known[at] = true;
}

/// Pooling and resampling along the last one or two dimensions.
ChannelLayout ChannelFollower::window(const ir::Node& node) {
  ChannelLayout layout = layout_in(node);
  const std::size_t spatial = ir::classify(graph_, node).op.ends_with("1d") ? 1 : 2;
  if (layout.size() < spatial || node.info.shape.size() != layout.size()) return unknown(node);
  for (std::size_t d = layout.size() - spatial; d < layout.size(); ++d) {
    keep(node, layout[d]);
    layout[d].clear();
  }
  return layout;
}

/// Channels stay where the places of their dimension do. Copies of them change a sum along it, and
/// what is chosen or added is not theirs.
ChannelLayout ChannelFollower::mapped(const ir::Node& node) {
  const ChannelLayout layout = layout_in(node);
  const auto map = ir::dimension_map(graph_, node);
  if (!map || layout.size() != shape_in(node).size()) return unknown(node);
  for (std::size_t d = 0; d < layout.size(); ++d) {
    const auto place = ir::place_of(*map, d);
    if (!place || (*map)[*place].places != ir::Places::same) keep(node, layout[d]);
  }
  ChannelLayout out;
  for (const ir::ResultDimension& dim : *map) {
    const bool stays = dim.of && dim.places != ir::Places::other;
    out.push_back(stays ? layout[*dim.of] : ChannelRuns());
  }
  return out;
}

ChannelLayout ChannelFollower::reduce(const ir::Node& node) {
  return node.find("other") ? elementwise(node) : mapped(node);
}

ChannelLayout ChannelFollower::expand(const ir::Node& node) {
  const ChannelLayout out = mapped(node);
  follow_sizes(node, out);
  return out;
}

ChannelLayout ChannelFollower::concatenate(const ir::Node& node) {
  ChannelLayout out = layout_in(node);
  const std::size_t along = place_of(number(node, "dim", 0), out.size());
  out[along].clear();
  const ir::Value* tensors = graph_.argument(node, "tensors");
  bool same_rank = tensors != nullptr;
  for (ir::NodeId id : graph_.inputs(node.id))
    same_rank = same_rank && layout_of(id).size() == out.size();
  if (!same_rank) return unknown(node);
  tensors->for_each_node([&](ir::NodeId id) {
    const ChannelLayout layout = layout_of(id);
    for (std::size_t d = 0; d < out.size(); ++d)
      if (d != along) map_.space.join(out[d], layout[d], node.name);
    ChannelRuns part = layout[along];
    if (part.empty()) {
      part = map_.space.add(graph_.node(id).info.shape[along]);
      map_.space.keep(part, {ChannelObstacle::Kind::stays, node.name});
    }
    out[along].insert(out[along].end(), part.begin(), part.end());
  });
  return out;
}

/// A reshape keeps the order of the elements, so dimensions correspond in blocks of equal products.
ChannelLayout ChannelFollower::reshape(const ir::Node& node) {
  const Shape &from = shape_in(node), &to = node.info.shape;
  const ChannelLayout layout = layout_in(node);
  ChannelLayout out(to.size());
  if (numel(from) != numel(to) || numel(from) == 0) return unknown(node);
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const std::size_t first = i, start = j;
    std::int64_t left = i < from.size() ? from[i++] : 1, right = j < to.size() ? to[j++] : 1;
    while (left != right)
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    taken_apart(node, merged(node, from, layout, first, i), start, j, out);
  }
  follow_sizes(node, out);
  return out;
}

/// The dimensions [first, last) as one. Elements of outer dimensions repeat the channels; those of
/// inner dimensions lie within a channel.
ChannelRuns ChannelFollower::merged(const ir::Node& node, const Shape& shape,
                                    const ChannelLayout& layout, std::size_t first,
                                    std::size_t last) {
  if (last - first == 1) return layout[first];
  std::vector<std::size_t> moving;
  for (std::size_t d = first; d < last; ++d)
    if (!layout[d].empty() && shape[d] > 1) moving.push_back(d);
  for (std::size_t d = first; d < last; ++d)
    if (moving.size() > 1 || shape[d] == 1) keep(node, layout[d]);
  if (moving.size() != 1) return {};
  const std::size_t at = moving.front();
  const auto outer = static_cast<std::size_t>(product(shape, first, at));
  const std::int64_t inner = product(shape, at + 1, last);
  const ChannelRuns part = map_.space.resolve(layout[at]);
  if (outer > most_runs || outer * part.size() > most_runs) {
    keep(node, part);
    return {};
  }
  ChannelRuns runs;
  for (std::size_t copy = 0; copy < outer; ++copy)
    for (const ChannelRun& run : part) runs.push_back({run.group, run.repeat * inner});
  return runs;
}

/// One dimension as the result's dimensions [first, last). Repeated channels are in the inner
/// dimensions; otherwise the outermost dimension has the channels, in blocks.
void ChannelFollower::taken_apart(const ir::Node& node, const ChannelRuns& runs, std::size_t first,
                                  std::size_t last, ChannelLayout& out) {
  const Shape& shape = node.info.shape;
  while (last - first > 1 && shape[first] == 1) ++first;
  if (runs.empty()) return;
  if (first == last) return keep(node, runs);
  const std::int64_t inner = product(shape, first + 1, last);
  const ChannelRuns found = map_.space.resolve(runs);
  const ChannelRuns part =
      inner > 1 ? period(found, static_cast<std::size_t>(shape[first])) : ChannelRuns();
  if (!part.empty() && map_.space.size(part) == inner)
    return taken_apart(node, part, first + 1, last, out);
  if (!map_.space.move_in_blocks(runs, inner, node.name)) return;
  for (const ChannelRun& run : map_.space.resolve(runs))
    out[first].push_back({run.group, run.repeat / inner});
}

/// Follows the sizes in a call. Written numbers follow the result's dimensions; numbers that other
/// nodes read from a shape must come from the same channels.
void ChannelFollower::follow_sizes(const ir::Node& node, const ChannelLayout& out) {
  for (const char* argument : {"size", "shape", "sizes"}) {
    const ir::Value* list = graph_.argument(node, argument);
    if (!list || list->kind() != ir::Value::Kind::list) continue;
    const std::size_t first = std::string_view(argument) == "sizes"
                                  ? place_of(number(node, "dim", 0), shape_in(node).size())
                                  : 0;
    const auto& items = list->items();
    for (std::size_t i = 0; i < items.size() && first + i < out.size(); ++i) {
      const ChannelRuns& runs = out[first + i];
      if (items[i].is_node()) {
        const auto size = sizes_.find(items[i].node());
        if (size == sizes_.end())
          keep(node, runs);
        else
          map_.space.join(size->second, runs, node.name);
      } else if (!runs.empty() && items[i].kind() == ir::Value::Kind::integer &&
                 items[i].as_int() >= 0) {
        map_.numbers.push_back({node.id, argument, static_cast<int>(i), runs, 1});
      }
    }
  }
}

}  // namespace mase::passes
