// SPDX-License-Identifier: Apache-2.0
// The lowering of a graph in progress: the program as far as it is made. Internal to
// lib/hardware/integer.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "hardware/integer/block_levels.hpp"
#include "hardware/integer/lowering/demand.hpp"
#include "hardware/integer/lowering/operand.hpp"
#include "hardware/integer/lowering/requantise.hpp"
#include "hardware/integer/lowering/separate_batch.hpp"
#include "hardware/integer/program.hpp"
#include "ir/masks.hpp"

namespace mase::integer {

struct LoweringRow;

/// A node that is lowered on the codes of its operands instead of their numbers.
struct OnCodes {
  ir::NodeId node;
  ExactLine operand;             ///< the line of their numbers
  std::vector<ExactLine> lines;  ///< that of the results, where it is another
  std::int64_t divisor = 1;      ///< what results are divided by, too
};

/// A step that is not a power of two, and the grid of numbers in such steps.
struct AskedStep {
  double step = 1;
  Grid grid;
};

/// The lowering of one graph: the program as far as it is made.
class Lowering {
 public:
  Lowering(Separated separated, Contents contents);
  /// Error(Fault::unsupported) listing all refused nodes.
  Program run();

  const ir::Graph& graph() const { return separated_.graph; }
  bool reloadable() const { return program_.contents == Contents::reloadable; }
  const StreamValue& value(ValueId id) const { return program_.value(id); }
  const Operand& operand(ir::NodeId id) const { return operands_.at(id); }
  /// Sizes that the model asks for of a tensor that has another shape here; null for others.
  const ir::Value* model_sizes(ir::NodeId id) const {
    const auto known = separated_.sizes.find(id);
    return known == separated_.sizes.end() ? nullptr : &known->second;
  }
  /// Whether formats leave masks in the result of a node (ir/masks.hpp).
  bool keeps_masks(const ir::Node& node) const { return masks_.in(node.id); }
  /// A constant that no tensor of the model is.
  Parameter add_constant(const std::string& name, Array values);
  const Masked* masked(ValueId id) const;  ///< null without masks
  void set_masked(ValueId id, Masked masked) { masked_[id] = masked; }
  /// How a node is lowered on codes; null where it reads numbers.
  OnCodes* on_codes(const ir::Node& node) {
    return on_codes_ && on_codes_->node == node.id ? &*on_codes_ : nullptr;
  }
  /// The numbers themselves as a stream; a Refusal where they need too many bits.
  StreamView exact_stream(const Scaled& scaled, const ir::Node& reader, const std::string& port);
  /// The numbers rounded to a grid.
  StreamView rounded_stream(const Scaled& scaled, const Grid& grid, const ir::Node& reader,
                            const std::string& port);
  /// What the host divides an input by, whose elements a node has; nullopt for others.
  std::optional<double> host_step(ir::NodeId id) const {
    const auto known = host_steps_.find(id);
    return known == host_steps_.end() ? std::nullopt : std::optional(known->second);
  }
  /// The layout of what a step makes of a stream place by place: a reshape between has changed the
  /// torch shape only.
  Layout layout_of(const StreamView& stream) const;
  /// Refusal where the value is an exact sum that only a requantisation takes.
  void check_stream(ValueId id) const;

  /// The grid a node's result is requantised to: its data_out format, else its readers' demand.
  std::optional<Grid> target(const ir::Node& node) const;
  /// What all readers divide a result by, if they do, also behind moves, and the grid of the
  /// quotients.
  std::optional<AskedStep> asked_step(const ir::Node& node) const;
  /// The levels that its data_out format, or else all of its readers, ask for of a node's result;
  /// null for none.
  std::shared_ptr<const Levels> asked_levels(const ir::Node& node) const;
  /// The format with blocks that its data_out format, or else all of its readers, ask for.
  std::optional<formats::Format> asked_blocks(const ir::Node& node) const;
  /// The levels that a stream is on; null where it has other codes.
  const Levels* levels(ValueId id) const;
  void set_levels(ValueId id, std::shared_ptr<const Levels> levels) {
    program_.values[at(id)].levels = std::move(levels);
  }
  /// Throws the Refusal of a result without a grid: a reader's, or else `reason`.
  [[noreturn]] void refuse_grid(const ir::Node& node, const std::string& reason) const;

  /// Appends the step of a node, requantised to target(node); without one the result keeps the
  /// accumulator's exact type. The step has the node's name; with a suffix it is a further one.
  StreamView emit(const ir::Node& node, Operation operation, std::vector<ValueId> inputs,
                  Accumulator accumulator, Layout layout, const std::string& suffix = {});
  /// The same with a requantisation that the caller has made, into codes of `frac` bits.
  StreamView emit(const ir::Node& node, Operation operation, std::vector<ValueId> inputs,
                  const Accumulator& accumulator, const Requantise& requantise, int frac,
                  Layout layout, const std::string& suffix = {});
  /// The step of a node whose accumulators a further step turns into the result.
  StreamView emit_accumulators(const ir::Node& node, Operation operation,
                               std::vector<ValueId> inputs, const Accumulator& accumulator,
                               Layout layout);
  /// The step of a node whose codes, requantised as those of emit(), further steps move to where
  /// they belong; "<node>_<what>" is the value in between.
  StreamView emit_first(const ir::Node& node, Operation operation, const StreamView& stream,
                        const Accumulator& accumulator, Layout layout, const std::string& what);
  /// The stream on a grid: itself when all its values lie on it, else behind a cast, which readers
  /// of the same value share.
  StreamView cast(const StreamView& stream, const Grid& grid, const ir::Node& reader,
                  const std::string& port);
  /// What a step makes of streams before the node's own step.
  StreamView emit_before(const ir::Node& node, const std::string& suffix, Operation operation,
                         std::vector<ValueId> inputs, const Accumulator& accumulator,
                         const Requantise& requantise, Layout layout);
  /// The stream rounded to a format whose blocks share an exponent, which readers share.
  StreamView in_blocks(const StreamView& stream, const formats::Format& format,
                       const ir::Node& reader, const std::string& port);
  /// The result of a node that is a stream's codes over `divisor`, in a format with blocks.
  StreamView fraction_in_blocks(const StreamView& stream, std::int64_t divisor,
                                const formats::Format& format, const ir::Node& node);
  /// The stream in the order of another layout of its torch shape: itself, or behind a gather.
  StreamView reordered(const StreamView& stream, const Layout& wanted, const ir::Node& reader,
                       const std::string& port);
  /// The stream behind a gather that `reader` needs: element i of `wanted`, in torch's order, is
  /// element source[i].
  StreamView moved(const StreamView& stream, const std::vector<std::int64_t>& source,
                   const Layout& wanted, const ir::Node& reader, const std::string& suffix);
  /// Gives a node's result the name of a value before its result, which a further step makes.
  void rename(const StreamView& stream, const ir::Node& node, const std::string& what) {
    program_.values[at(stream.id)].name = unique_name(node.name + "_" + what);
  }
  /// The stream with exactly this type, which holds all its values.
  StreamView widened(const StreamView& stream, const FixedType& type, const ir::Node& reader);

 private:
  void visit(const ir::Node& node);
  Operand lowered(const ir::Node& node);
  /// The result of a node on the levels that all of its readers ask for, where it has other codes.
  Operand on_asked_levels(Operand result, const ir::Node& node, bool commutes);
  /// The node with numbers in the place of those nodes that are known to be such.
  ir::Node with_numbers(ir::Node node) const;
  /// Whether a node only moves or chooses elements of one tensor, whatever step they have.
  bool moves_codes(const ir::Node& node) const;
  /// The same as asked_step of one reader.
  std::optional<AskedStep> asked_by(const ir::Node& reader) const;
  /// Remembers that the results of a node have the step by which the host divides its operand.
  void keep_host_step(const ir::Node& node);
  /// The result of a node whose operands have a factor that it keeps or multiplies.
  std::optional<Operand> lowered_on_codes(const ir::Node& node, const LoweringRow& row);
  /// A result on the grid that its format or its readers ask for, if they do.
  Operand settled(Scaled scaled, const ir::Node& node);
  /// The step that rounds the numbers to a grid, behind those that it needs.
  struct LastStep {
    Operation operation;
    std::vector<ValueId> inputs;
    Accumulator accumulator;
    Requantise requantise;
  };
  LastStep rounding_steps(const Scaled& scaled, const Grid& grid, const ir::Node& reader,
                          const std::string& port);
  /// The same of a sum of two streams.
  LastStep sum_steps(const Scaled& scaled, const Grid& grid, const ir::Node& reader,
                     const std::string& port);
  /// A stream times a whole number, plus another one.
  StreamView whole_multiple(const StreamView& stream, std::int64_t factor, Wide shift,
                            const ir::Node& reader, const std::string& suffix);
  /// A result whose scales and shifts the host applies.
  StreamView host_stream(const Scaled& scaled, const ir::Node& node);
  /// The grid of an input, which has levels, or blocks, where all its readers ask for them.
  std::optional<Grid> input_grid(const ir::Node& node) const;
  StreamView add_input(const ir::Node& node);
  /// Remembers that a stream is rounded to a format with blocks.
  void set_in_blocks(const StreamView& stream, const BlockLevels& levels);
  void add_outputs(const ir::Node& node);
  void add_output(const std::string& key, const ir::Value& value);
  ValueId returned(const StreamView& stream);
  void refuse(const ir::Node& node, const std::string& reason);
  /// What stores the refused nodes that no input changes; empty without such nodes.
  std::string folding_remedy() const;
  std::string unique_name(std::string name);
  StreamView append(const std::string& name, const ir::Node& node, Step step, FixedType type,
                    Layout layout, const std::string& value_name);
  /// A step that `reader` needs of its own.
  StreamView append_for(const ir::Node& reader, const std::string& suffix, Operation operation,
                        std::vector<ValueId> inputs, const Accumulator& accumulator,
                        const Requantise& requantise, const FixedType& type, Layout layout);
  /// The levels of the inputs of a step, where its results are on them too; null for others.
  std::shared_ptr<const Levels> levels_behind(const Step& step) const;
  /// The stream on the levels of an element format: itself, or behind a step that readers share.
  StreamView quantized(const StreamView& stream, const std::shared_ptr<const Levels>& levels,
                       const ir::Node& reader, const std::string& port);
  StreamView append_quantize(const StreamView& stream, Quantize step,
                             const std::shared_ptr<const Levels>& levels, const ir::Node& reader,
                             const std::string& port);
  /// The step of a node whose divided accumulators further steps round to levels or blocks.
  StreamView emit_fraction(const ir::Node& node, Operation operation, std::vector<ValueId> inputs,
                           const Accumulator& accumulator, Layout layout);
  StreamView add_cast(const StreamView& stream, const Requantise& requantise, const FixedType& type,
                      const ir::Node& reader, const std::string& port);

  Separated separated_;
  ir::Masks masks_;
  std::map<ValueId, Masked> masked_;
  std::map<ir::NodeId, Demand> demands_;
  std::map<ir::NodeId, Operand> operands_;
  std::optional<OnCodes> on_codes_;
  std::map<ir::NodeId, double> host_steps_;
  Program program_;
  std::set<std::string> names_;
  std::map<std::tuple<ValueId, int, int, bool, int>, ValueId> casts_;
  std::map<std::pair<ValueId, std::string>, ValueId> quantized_;
  /// By format, shape and order of the elements, on which depends where blocks lie.
  std::map<std::tuple<ValueId, std::string, Shape, std::vector<std::int64_t>>, ValueId> in_blocks_;
  std::vector<std::string> problems_;
  std::vector<ir::NodeId> refused_;  ///< one for each of them
  std::vector<std::string> silent_;  ///< names of nodes refused because of others
};

}  // namespace mase::integer
