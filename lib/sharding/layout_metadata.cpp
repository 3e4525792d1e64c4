// SPDX-License-Identifier: Apache-2.0
// Writes layouts as words, and reads them back with all checks, since a file may hold anything.
#include "sharding/layout_metadata.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ir/metadata.hpp"

namespace mase::sharding {
namespace {

constexpr std::string_view sharding_key = "autosharding", result_name = "data_out_0";
constexpr std::string_view stages_key = "stages", device_key = "device_id";

Tree axes_tree(AxisSet axes) {
  Tree list = Tree::list();
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (has(axes, axis)) list.push_back(axis);
  return list;
}

/// Reads the layouts of one node.
class LayoutReader {
 public:
  LayoutReader(const ir::Node& node, const Mesh& mesh)
      : node_(node), mesh_(mesh), tree_(node.meta.software.find(sharding_key)) {
    if (!tree_) fail("has no layout");
  }

  bool has_part(std::string_view part) const { return tree_->find(part) != nullptr; }

  Layout read(std::string_view part, std::string_view name, const ir::ValueInfo& info) const {
    const Tree* parts = tree_->find(part);
    const Tree* list = parts ? parts->find(name) : nullptr;
    const Shape* shape = shape_of(info);
    if (!list || !list->is_list() || list->size() != (shape ? shape->size() : 0))
      fail("has no layout of '" + std::string(name) + "'");
    Layout layout;
    for (const Tree& word : list->as_list()) layout.split.push_back(axes(word));
    if (part != "output") layout.partial = partial(name);
    if (shape && !fits(mesh_, layout, *shape))
      fail("has a layout of '" + std::string(name) + "' that does not fit its shape");
    return layout;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    file_error("node '" + node_.name + "' " + what +
               " in its metadata; run the pass autoshard on the graph again");
  }

  AxisSet axes(const Tree& word) const {
    const auto axes = word.is_string() ? axes_of(word.as_string()) : std::nullopt;
    if (!axes) fail("has a word that is not a layout");
    return *axes;
  }

  AxisSet partial(std::string_view name) const {
    const Tree* all = tree_->find("partial");
    const Tree* list = all ? all->find(name) : nullptr;
    AxisSet axes = 0;
    if (!list || !list->is_list()) return axes;
    for (const Tree& axis : list->as_list()) {
      if (!axis.is_int() || axis.as_int() < 0 || axis.as_int() >= std::int64_t(axis_count))
        fail("has an axis that no mesh has");
      axes |= only_axis(static_cast<std::size_t>(axis.as_int()));
    }
    return axes;
  }

  const ir::Node& node_;
  const Mesh& mesh_;
  const Tree* tree_;
};

}  // namespace

void write_layout(ir::Node& node, const NodeLayout& layout) {
  Tree tree = Tree::dict(), partial = Tree::dict();
  const auto add = [&](std::string_view part, std::string_view name, const Layout& one) {
    tree[part][name] = Tree::list_of(words(one));
    if (one.partial != 0) partial[name] = axes_tree(one.partial);
  };
  tree["input"] = Tree::dict();
  for (std::size_t i = 0; i < layout.operands.size(); ++i)
    add("input", layout.operands[i].name, layout.strategy.operands[i]);
  if (node.kind != ir::NodeKind::output) {
    add("output", result_name, layout.result);
    if (layout.strategy.result != layout.result)
      add("computed", result_name, layout.strategy.result);
  }
  if (partial.size() > 0) tree["partial"] = std::move(partial);
  node.meta.software[sharding_key] = std::move(tree);
}

StoredLayout read_layout(const ir::Node& node, const std::vector<Operand>& operands,
                         const Mesh& mesh) {
  const LayoutReader reader(node, mesh);
  StoredLayout stored;
  for (const Operand& operand : operands)
    stored.operands.push_back(reader.read("input", operand.name, operand.info));
  if (node.kind == ir::NodeKind::output) return stored;
  stored.result = reader.read("output", result_name, node.info);
  stored.computed = stored.result;
  if (reader.has_part("computed"))
    stored.computed = reader.read("computed", result_name, node.info);
  return stored;
}

void write_mesh(ir::Graph& graph, const Mesh& mesh, std::size_t stages) {
  Tree& tree = graph.node(graph.output()).meta.software[sharding_key];
  tree["mesh"] = Tree::list_of(mesh.sizes);
  if (stages > 1) tree[stages_key] = stages;
}

void write_stage(ir::Node& node, std::size_t stage) {
  node.meta.software[sharding_key][device_key] = stage;
}

std::size_t read_stage(const ir::Node& node, std::size_t stages) {
  const Tree* tree = node.meta.software.find(sharding_key);
  const Tree* stage = tree ? tree->find(device_key) : nullptr;
  if (!stage || !stage->is_int() || stage->as_int() < 0 ||
      stage->as_int() >= static_cast<std::int64_t>(stages))
    file_error("node '" + node.name +
               "' has no stage in its metadata; run the pass autoshard on the graph again");
  return static_cast<std::size_t>(stage->as_int());
}

std::size_t read_stages(const ir::Graph& graph) {
  const Tree* tree = graph.node(graph.output()).meta.software.find(sharding_key);
  const Tree* stages = tree ? tree->find(stages_key) : nullptr;
  const bool is_number = stages && stages->is_int() && stages->as_int() >= 1;
  return is_number ? static_cast<std::size_t>(std::min<std::int64_t>(stages->as_int(), 1024)) : 1;
}

std::optional<Mesh> read_mesh(const ir::Graph& graph) {
  const Tree* tree = graph.node(graph.output()).meta.software.find(sharding_key);
  const Tree* sizes = tree ? tree->find("mesh") : nullptr;
  if (!sizes || !sizes->is_list() || sizes->size() != axis_count) return std::nullopt;
  Mesh mesh;
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    const Tree& size = sizes->as_list()[axis];
    if (!size.is_int() || size.as_int() < 1 || size.as_int() > 1024) return std::nullopt;
    mesh.sizes[axis] = size.as_int();
  }
  return mesh;
}

}  // namespace mase::sharding
