// SPDX-License-Identifier: Apache-2.0
// Lowering a graph to a program: walks the nodes, collects what has no datapath.
#include "hardware/integer/lowering/lowering.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/integer/lowering/block_products.hpp"
#include "hardware/integer/lowering/host_numbers.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/masked.hpp"
#include "hardware/integer/lowering/quantize.hpp"
#include "hardware/integer/lowering/short_codes.hpp"
#include "hardware/integer/lowering/simplify.hpp"
#include "ir/custom_op.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

/// How a family reads a frame of two dimensions: [T, F], rows of features, or [C, L], channels
/// first; nullopt if both are the same to it.
std::optional<bool> reads_rows(ir::OpFamily family) {
  switch (family) {
    using enum ir::OpFamily;
    case linear:
    case matrix_product:
      return true;
    case convolution:
    case transposed_convolution:
    case batch_norm:
    case instance_norm:
    case pooling:
    case adaptive_pooling:
      return false;
    case added_product:
    case contraction:
    case attention:
    case attention_layer:
    case recurrent:
    case recurrent_layer:
    case recurrent_cell:
    case group_norm:
    case layer_norm:
    case resampling:
    case embedding:
    case unary:
    case channel_activation:
    case elementwise:
    case softmax:
    case reduction:
    case arg_reduction:
    case scan:
    case difference:
    case copy:
    case reshape:
    case transpose:
    case permute:
    case expand:
    case pad:
    case concatenation:
    case movement:
    case size:
    case host_value:
    case creation:
    case custom:
    case other:
      break;
  }
  return std::nullopt;
}

/// Whether the first reader that cares sees rows of features rather than channels first.
std::optional<bool> read_as_rows(const ir::Graph& graph, ir::NodeId id) {
  for (const ir::NodeId user : graph.users(id)) {
    const ir::Node& node = graph.node(user);
    if (const auto rows = reads_rows(ir::family_of(op_of(graph, node)))) return rows;
    if (node.info.is_tensor() && node.info.shape == graph.node(id).info.shape)
      if (const auto found = read_as_rows(graph, user)) return found;
  }
  return std::nullopt;
}

Layout input_layout(const ir::Graph& graph, const ir::Node& node, const Shape& frame) {
  if (frame.size() < 2) return row_major(frame);
  const bool rows = read_as_rows(graph, node.id).value_or(frame.size() == 2);
  return rows ? row_major(frame) : channels_last(frame);
}

/// Every input has the rows of the first one.
void check_batch(const ir::Graph& graph, const ir::Node& input) {
  const ir::Node& first = graph.node(graph.placeholders().front());
  if (!first.info.is_tensor() || first.info.shape.empty()) return;
  const std::int64_t rows = input.info.shape.front(), batch = first.info.shape.front();
  if (rows == batch) return;
  throw Refusal{"its shape " + shape_text(input.info.shape) + " begins with " +
                std::to_string(rows) + ", but the batch, the first dimension of '" + first.name +
                "', is " + std::to_string(batch) +
                "; give it a dimension of the batch in front, or make it a buffer of the model"};
}

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

/// What would do in the place of ops that need what no stream has: a memory from frame to frame, or
/// a size that is known.
std::string instead_of(std::string_view op) {
  if (is_one_of(op, {"aten::index_copy", "aten::index_put", "aten::slice_scatter",
                     "aten::select_scatter", "aten::scatter"}))
    return "; nothing is kept from frame to frame: a cache has one as an input and a result, with "
           "torch.cat of its past and what is new in place of the writing";
  if (is_one_of(op, {"aten::nonzero", "aten::masked_select", "aten::unique", "aten::_unique2",
                     "aten::unique_consecutive"}))
    return "; how many elements it gives depends on their values, and streams have a fixed size: "
           "multiply by a mask";
  return "";
}

/// The pass that makes others of an op without a datapath, or what to write.
std::string remedy_for(const ir::Graph& graph, const ir::Node& node) {
  const ir::OpRow* row = ir::classify(graph, node).row;
  if (!row || row->expanded_by.empty()) return instead_of(ir::plain_op(node.op));
  return "; pass " + std::string(row->expanded_by) +
         " before quantize takes it apart into ops that have one";
}

}  // namespace

Lowering::Lowering(Separated separated, Contents contents)
    : separated_(std::move(separated)), masks_(graph()), demands_(find_demands(graph())) {
  program_.name = graph().name;
  program_.contents = contents;
  for (const ir::NodeId id : graph().order()) names_.insert(graph().node(id).name);
}

namespace {

/// Nodes that no value of an input changes: of inputs they know sizes at most.
class Unchanging {
 public:
  explicit Unchanging(const ir::Graph& graph) {
    for (const ir::NodeId id : graph.order()) {
      const ir::Node& node = graph.node(id);
      const std::vector<ir::NodeId> inputs = graph.inputs(id);
      const bool made_of_such =
          std::ranges::all_of(inputs, [&](ir::NodeId input) { return nodes_.contains(input); });
      if (node.kind == ir::NodeKind::placeholder || node.kind == ir::NodeKind::output) continue;
      if (made_of_such || ir::classify(graph, node).family() == ir::OpFamily::size)
        nodes_.insert(id);
    }
  }
  bool contains(ir::NodeId id) const { return nodes_.contains(id); }

 private:
  std::set<ir::NodeId> nodes_;
};

bool has_run(const ir::Graph& graph, const std::string& pass) {
  return std::ranges::any_of(graph.history.as_list(), [&](const Tree& entry) {
    const Tree* name = entry.is_dict() ? entry.find("pass") : nullptr;
    return name && *name == Tree(pass);
  });
}

}  // namespace

std::string Lowering::folding_remedy() const {
  if (has_run(graph(), "fold_constants")) return "";
  const Unchanging unchanging(graph());
  std::vector<std::string> names;
  for (const ir::NodeId id : refused_)
    if (unchanging.contains(id)) names.push_back("'" + graph().node(id).name + "'");
  if (names.empty()) return "";
  return "\n  pass fold_constants before quantize stores what no input changes, as " +
         join(names, ", ");
}

Program Lowering::run() {
  for (const ir::NodeId id : graph().order()) visit(graph().node(id));
  if (!problems_.empty())
    unsupported_error("nodes without an integer datapath (" + std::to_string(problems_.size()) +
                      "):\n  " + join(problems_, "\n  ") + folding_remedy());
  if (!silent_.empty())
    throw Error(Fault::internal, "node '" + silent_.front() + "' was refused without a reason");
  simplify(program_);
  multiply_blocks(program_);
  shorten_codes(program_);
  return std::move(program_);
}

void Lowering::visit(const ir::Node& node) {
  try {
    const auto refused = separated_.refused.find(node.id);
    if (refused != separated_.refused.end()) throw Refusal{refused->second};
    operands_[node.id] = lowered(node);
  } catch (const Refusal& refusal) {
    operands_[node.id] = std::monostate{};
    refuse(node, refusal.reason);
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported)
      throw Error(error.fault(), "node '" + node.name + "': " + error.what());
    operands_[node.id] = std::monostate{};
    refuse(node, error.what());
  }
}

void Lowering::refuse_grid(const ir::Node& node, const std::string& reason) const {
  const Demand& demand = demands_.at(node.id);
  throw Refusal{demand.kind == Demand::Kind::refused ? demand.reason : reason};
}

void Lowering::refuse(const ir::Node& node, const std::string& reason) {
  if (reason.empty()) {
    silent_.push_back(node.name);
    return;
  }
  refused_.push_back(node.id);
  problems_.push_back("node '" + node.name + "' (" + op_of(graph(), node) + "): " + reason);
}

Operand Lowering::lowered(const ir::Node& node) {
  switch (node.kind) {
    case ir::NodeKind::placeholder:
      return add_input(node);
    case ir::NodeKind::get_attr: {
      Parameter parameter{node.target, std::nullopt};
      const auto out = node.formats.find("data_out");
      if (out != node.formats.end()) parameter.format = out->second;
      return parameter;
    }
    case ir::NodeKind::output:
      add_outputs(node);
      return std::monostate{};
    default:
      break;
  }
  const ir::Node known = with_numbers(node);
  if (is_host_value(node)) return host_number(*this, known);
  const LoweringRow* row = lowering_of(graph(), node);
  if (!row) throw Refusal{"the op has no datapath" + remedy_for(graph(), node)};
  std::optional<Operand> on_codes = lowered_on_codes(known, *row);
  Operand result = on_codes ? std::move(*on_codes) : row->lower({*this, known});
  if (const Scaled* scaled = std::get_if<Scaled>(&result)) result = settled(*scaled, node);
  keep_host_step(node);
  const auto out = node.formats.find("data_out");
  if (out == node.formats.end()) return on_asked_levels(std::move(result), node, row->commutes);
  // Ops without a step of their own leave their data_out format to this cast.
  if (const StreamView* stream = std::get_if<StreamView>(&result))
    return cast(*stream, grid_of(out->second), node, "data_out");
  if (std::holds_alternative<Parameter>(result))
    throw Refusal{"it moves a constant; give its format to what reads it"};
  return result;
}

void Lowering::keep_host_step(const ir::Node& node) {
  if (!moves_codes(node)) return;
  for (const ir::NodeId input : graph().inputs(node.id))
    if (const auto step = host_step(input)) host_steps_[node.id] = *step;
}

Operand Lowering::on_asked_levels(Operand result, const ir::Node& node, bool commutes) {
  const std::shared_ptr<const Levels>& levels = demands_.at(node.id).levels;
  const StreamView* stream = std::get_if<StreamView>(&result);
  if (!levels || !stream || commutes || keeps_masks(node)) return result;
  return quantized(*stream, levels, node, "data_out");
}

ir::Node Lowering::with_numbers(ir::Node node) const {
  const auto number = [&](ir::NodeId id) {
    const auto* known = std::get_if<ir::Value>(&operands_.at(id));
    return known && !known->is_none() ? *known : ir::Value(ir::NodeRef{id});
  };
  for (ir::Argument& argument : node.args) argument.value.change_nodes(number);
  return node;
}

std::optional<Grid> Lowering::input_grid(const ir::Node& node) const {
  if (const auto levels = asked_levels(node)) return grid_of_levels(levels);
  if (const auto format = asked_blocks(node)) {
    const auto levels = block_levels_of(*format);
    return Grid{numbers_type(*levels), formats::Rounding::nearest_even, nullptr, format};
  }
  return target(node);
}

StreamView Lowering::add_input(const ir::Node& node) {
  if (!node.info.is_tensor() || node.info.shape.empty())
    throw Refusal{"an input must be a tensor with a batch dimension and a known shape"};
  if (node.info.dtype != DType::float32 && node.info.dtype != DType::int64)
    throw Refusal{"an input of " + std::string(dtype_name(node.info.dtype)) +
                  " has no datapath; float32 and int64 have one"};
  if (numel(node.info.shape) == 0) throw Refusal{"an input without elements has no datapath"};
  check_batch(graph(), node);
  auto grid = input_grid(node);
  std::optional<AskedStep> asked;
  if (!grid) asked = asked_step(node);
  if (asked) grid = asked->grid;
  if (!grid)
    refuse_grid(node,
                "it has no codes, because its readers do not ask for data_in formats of one "
                "fraction and rounding: " +
                    demands_text(graph(), node.id, demands_) +
                    " (pass quantize); a format of its own, data_out of '" + node.name +
                    "', would do too");
  const Shape frame(node.info.shape.begin() + 1, node.info.shape.end());
  const Layout layout = input_layout(graph(), node, frame);
  const auto id = static_cast<ValueId>(program_.values.size());
  FixedType type = grid->type;
  program_.input_masks.emplace_back();
  if (keeps_masks(node)) {
    if (grid->levels || grid->blocks) throw Refusal{no_masks(format_text(*grid))};
    const Masked masks = with_masks(type);
    program_.input_masks.back() = static_cast<std::int64_t>(type.low());
    type = type_for(masks.code, type.high(), type.frac);
    set_masked(id, {type.low(), masks.others});
  }
  program_.values.push_back(
      {node.name, type, layout.shape, layout.torch_shape, compact(layout.order)});
  program_.inputs.push_back(id);
  program_.input_rounding.push_back(grid->rounding);
  program_.input_levels.push_back(grid->levels);
  program_.input_blocks.push_back(grid->blocks);
  program_.values.back().levels = grid->levels;
  if (asked) {
    host_steps_[node.id] = asked->step;
    program_.values.back().scales = {asked->step};
  }
  if (grid->blocks) set_in_blocks({id, layout}, *block_levels_of(*grid->blocks));
  return {id, layout};
}

void Lowering::add_outputs(const ir::Node& node) {
  const ir::Value* value = node.find("value");
  if (!value) throw Refusal{"the graph returns nothing"};
  using Kind = ir::Value::Kind;
  if (value->kind() == Kind::list || value->kind() == Kind::tuple) {
    for (std::size_t i = 0; i < value->items().size(); ++i)
      add_output(std::to_string(i), value->items()[i]);
  } else if (value->kind() == Kind::dict) {
    for (const auto& [key, item] : value->entries()) add_output(key, item);
  } else {
    add_output("", *value);
  }
}

void Lowering::add_output(const std::string& key, const ir::Value& value) {
  if (!value.is_node()) throw Refusal{"one of the results is not a tensor of the graph"};
  Operand operand = operands_.at(value.node());
  if (std::holds_alternative<std::monostate>(operand)) return;
  if (const Scaled* scaled = std::get_if<Scaled>(&operand))
    operand = host_stream(*scaled, graph().node(value.node()));
  const StreamView* stream = std::get_if<StreamView>(&operand);
  if (!stream) throw Refusal{"a result is not computed from the inputs, or is a list of parts"};
  check_stream(stream->id);
  program_.outputs.push_back(returned(*stream));
  program_.output_keys.push_back(key);
  program_.output_dtypes.push_back(graph().node(value.node()).info.dtype);
}

/// The value with the layout that the result has in torch. A view of a value that is an input or
/// another result needs a value of its own.
ValueId Lowering::returned(const StreamView& stream) {
  StreamValue& made = program_.values[static_cast<std::size_t>(stream.id)];
  const std::vector<std::int64_t> order = compact(stream.layout.order);
  const bool same = made.torch_shape == stream.layout.torch_shape && made.order == order;
  const auto has = [&](const std::vector<ValueId>& ids) {
    return std::ranges::find(ids, stream.id) != ids.end();
  };
  if (same) return stream.id;
  if (has(program_.inputs) || has(program_.outputs)) {
    return add_cast(stream, unchanged(made.type), made.type, graph().node(graph().output()),
                    "value")
        .id;
  }
  made.torch_shape = stream.layout.torch_shape;
  made.order = order;
  return stream.id;
}

Parameter Lowering::add_constant(const std::string& name, Array values) {
  std::string path = name;
  while (graph().tensors.contains(path)) path += '_';
  separated_.graph.set_tensor(path, {std::move(values)});
  return {path, std::nullopt};
}

std::string Lowering::unique_name(std::string name) {
  const std::string wanted = name;
  for (int i = 1; !names_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
  return name;
}

Program lower(const ir::Graph& graph, Contents contents) {
  return Lowering(separate_batch(graph), contents).run();
}

}  // namespace mase::integer
