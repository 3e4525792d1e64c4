// SPDX-License-Identifier: Apache-2.0
// Lowering: what the functions that lower one op each work with. Internal to lib/hardware/integer.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "hardware/integer/datapath.hpp"
#include "hardware/integer/lowering/demand.hpp"
#include "hardware/integer/lowering/layout.hpp"
#include "hardware/integer/lowering/separate_batch.hpp"
#include "hardware/integer/program.hpp"
#include "hardware/integer/program/bounds.hpp"
#include "ir/masks.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {

/// Thrown by a lowering function: why the node has no datapath. An empty reason says that one of
/// its inputs was refused, which is reported already.
struct Refusal {
  std::string reason;
};

/// The result of a node: a value of the program under the node's torch shape.
struct StreamView {
  ValueId id = -1;
  Layout layout;
};

/// `count` elements along torch dimension `dim` of a stream, every `step`-th from `first` on: part
/// of a chunk or split, which becomes a step where it is used.
struct Part {
  StreamView source;
  std::size_t dim = 0;
  std::int64_t first = 0, count = 0, step = 1;
};

/// A constant tensor of the graph (get_attr), with the format its node puts on it.
struct Parameter {
  std::string path;
  std::optional<formats::Format> format;
  /// The dimensions of the tensor in the order in which they are read; empty: in its own order.
  std::vector<std::size_t> dims = {};
};

/// What a node's result is while lowering; monostate: it was refused, or a number that the batch
/// decides; ir::Value: another number on the host, or a list of such.
using Operand = std::variant<std::monostate, StreamView, std::vector<Part>, Parameter, ir::Value>;

/// Constants as codes.
struct Constants {
  Shape shape;
  FixedType type;
  Codes codes;
  /// Fraction bits of the slices of dimension 0; empty: those of the type for all.
  std::vector<int> fracs = {};
  /// All codes that another checkpoint may have; nullopt if these are the only ones.
  std::optional<Interval> any = std::nullopt;

  /// Those that there are, or that may come.
  Interval range() const;
  /// Gives the codes the least type that holds them.
  void fit(int frac);
  void negate();
};

/// What is added to products, at the binary point of the accumulator.
struct Summands {
  std::vector<Wide> codes;  ///< empty if all are 0 and stay so
  std::optional<Interval> any = std::nullopt;

  Interval range() const;
  /// Bits of all that may come; 0 where these are the only ones.
  int width() const;
};

/// Weights and bias of a product with `outputs` rows, the bias aligned.
struct Matrix {
  Constants weight;
  Summands bias;

  /// The sums of rows with so many weights.
  Interval sums(std::int64_t terms, const Interval& input) const;
};

/// Accumulator of a step: its codes, fraction bits, and what the code is divided by.
struct Accumulator {
  Interval range;
  int frac = 0;
  std::int64_t divisor = 1;
};

/// A stream some of whose elements are masks: their code, which no other element has, and the codes
/// of the others.
struct Masked {
  Wide code = 0;
  Interval others;
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
  /// The layout of what a step makes of a stream place by place: a reshape between has changed the
  /// torch shape only.
  Layout layout_of(const StreamView& stream) const;

  /// The grid a node's result is requantised to: its data_out format, else its readers' demand.
  std::optional<Grid> target(const ir::Node& node) const;
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
  StreamView emit_accumulators(const ir::Node& node, Operation operation, const StreamView& stream,
                               const Accumulator& accumulator, Layout layout);
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
  /// The node with numbers in the place of those nodes that are known to be such.
  ir::Node with_numbers(ir::Node node) const;
  StreamView add_input(const ir::Node& node);
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
  StreamView add_cast(const StreamView& stream, const Requantise& requantise, const FixedType& type,
                      const ir::Node& reader, const std::string& port);

  Separated separated_;
  ir::Masks masks_;
  std::map<ValueId, Masked> masked_;
  std::map<ir::NodeId, Demand> demands_;
  std::map<ir::NodeId, Operand> operands_;
  Program program_;
  std::set<std::string> names_;
  std::map<std::tuple<ValueId, int, int, bool, int>, ValueId> casts_;
  std::vector<std::string> problems_;
  std::vector<ir::NodeId> refused_;  ///< one for each of them
  std::vector<std::string> silent_;  ///< names of nodes refused because of others
};

/// One node with its arguments, formats and the lowering in progress.
struct Call {
  Lowering& lowering;
  const ir::Node& node;

  /// An argument or module attribute; null when absent or none.
  const ir::Value* find(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  /// `count` integers; one stands for all, an empty list for `otherwise`.
  std::vector<std::int64_t> integers(std::string_view name, std::size_t count,
                                     std::vector<std::int64_t> otherwise) const;
  /// The torch dimension that an argument names.
  std::size_t torch_dim(std::string_view name, std::int64_t otherwise, std::size_t rank) const;
  /// Torch dimension within a frame; refused for the batch dimension.
  std::size_t frame_dim(std::string_view name, std::int64_t otherwise, std::size_t rank) const;

  /// Refuses a result of another type than float32, which streams stand for.
  void check_type() const;
  /// The grid that the result is asked for on; a refusal that says what would give one.
  Grid needed_grid() const;

  const formats::Format* format(std::string_view port) const;
  /// The constant of the graph that a value is; null for anything else.
  const Parameter* parameter_in(const ir::Value& value) const;
  const Parameter* parameter(std::string_view argument) const;  ///< the same of an argument
  bool has_tensor(std::string_view argument) const;  ///< a constant of the graph or the module
  /// The values of a constant in its format and its order of dimensions; float32.
  Array values(const Parameter& parameter) const;
  /// The constant tensor of an argument as codes of its port's format. Refused when it has none
  /// unless `exact_allowed`: then the least grid that holds the values.
  Constants constants(std::string_view argument, bool exact_allowed = false) const;
  /// The same of a weight whose channels, the slices of dimension 0, may have fraction bits of
  /// their own.
  Constants weights() const;
  /// The constant tensor of an argument as codes of a grid.
  Constants constants_on(std::string_view argument, const Grid& grid) const;
  /// One frame of a constant tensor that has a batch dimension of 1, as codes of the grid; without
  /// one those of its format, or else exact.
  Constants frame_constants(const Parameter& parameter, const std::optional<Grid>& grid) const;
  Constants constant(double number) const;  ///< of a Python number, which runs as float32
  /// The numbers of a constant tensor of int64; refused for anything else.
  std::vector<std::int64_t> constant_indices(const ir::Value& value) const;

  /// On the grid of its data_in format. The batch is the first dimension.
  StreamView stream(std::string_view argument) const;
  StreamView raw_stream(std::string_view argument) const;  ///< as it was made: ids have no format
  StreamView stream_of(const ir::Value& value, std::string_view argument) const;
  /// The shape of the result, or of the first of several, without its batch dimension; refused when
  /// it does not keep the batch.
  Shape frame_shape() const;
};

using LowerFunction = Operand (*)(const Call& call);

/// How an op is lowered. `commutes`: it only moves, chooses or clamps values, so that a quantizer
/// of its result may act on its input.
struct LoweringRow {
  std::string_view op;
  LowerFunction lower;
  bool commutes = false;
  /// Which calls of the op this row is for, where it has several.
  bool (*when)(const ir::Node& node) = nullptr;
};
std::vector<LoweringRow> matrix_rows();
std::vector<LoweringRow> convolution_rows();
std::vector<LoweringRow> transposed_convolution_rows();
std::vector<LoweringRow> product_rows();
std::vector<LoweringRow> window_rows();
std::vector<LoweringRow> reduction_rows();
std::vector<LoweringRow> softmax_rows();
std::vector<LoweringRow> norm_rows();
std::vector<LoweringRow> clamp_rows();
std::vector<LoweringRow> arithmetic_rows();
std::vector<LoweringRow> shape_rows();
std::vector<LoweringRow> channel_rows();
std::vector<LoweringRow> join_rows();
std::vector<LoweringRow> movement_rows();
std::vector<LoweringRow> pad_rows();
std::vector<LoweringRow> mask_rows();
std::vector<LoweringRow> comparison_rows();
std::vector<LoweringRow> embedding_rows();
std::vector<LoweringRow> table_rows();

const LoweringRow* find_lowering(std::string_view op);  ///< null without a datapath
/// The row of a node, which may be an op of the user's.
const LoweringRow* lowering_of(const ir::Graph& graph, const ir::Node& node);
/// Ops of the user's own.
Operand lower_custom(const Call& call);
/// The type of whole numbers that choose rows of a table, if `reader` takes the result of `id` so.
std::optional<FixedType> id_type(const ir::Graph& graph, const ir::Node& reader, ir::NodeId id);
/// The type of whole numbers that `reader` compares with one number, whose neighbours stand for all
/// other numbers.
std::optional<FixedType> compared_type(const ir::Graph& graph, const ir::Node& reader,
                                       ir::NodeId id);
/// The MASE op of a node, that of the plain operator for an in-place variant.
std::string op_of(const ir::Graph& graph, const ir::Node& node);
bool is_host_value(const ir::Node& node);  ///< a size or number, or a list of such
/// What a host node gives, if its arguments are known numbers; `none` otherwise, as for the batch.
/// The items of a list may be `none`, too.
ir::Value host_number(Lowering& lowering, const ir::Node& node);

/// The code of a real number, clamped; infinite numbers give the limits.
Wide code_of(double number, const Grid& grid);
/// Whether every value of `inner` is a value of `outer`.
bool holds(const FixedType& outer, const FixedType& inner);
/// The requantisation of codes of a range, or of a type, to the same codes.
Requantise exactly(const Interval& range);
Requantise unchanged(const FixedType& type);
/// Requantisation of an accumulator to a grid.
Requantise to_grid(const Accumulator& accumulator, const Grid& grid);
/// Reason when codes need more than `limit` bits.
void check_width(const Interval& range, int limit, const std::string& what);

/// The axis with as many windows as fit between its padding and `pad_after`; `ceil` as torch's
/// ceil_mode: one more where the last stride is not whole, unless it would begin in `pad_after`.
Axis slid(Axis axis, std::int64_t pad_after, bool ceil = false);
/// An axis in `count` windows side by side that cover it.
Axis tiled(std::int64_t size, std::int64_t count);
/// The window of one or two axes over torch [channels, spatial...].
Window window_over(const Shape& frame, const std::vector<Axis>& axes);
/// Refuses a window that gives another shape than the node's.
void check_window(const Call& call, const Window& window, std::int64_t outputs);

/// Refuses sums of so many products that could pass 2^126 before they are computed exactly.
void check_sum(int input_bits, int weight_bits, std::int64_t terms);
/// The layout of products with every row of `input`: the rows where they were, outputs in order.
Layout product_layout(const Layout& input, const Rows& rows, std::int64_t outputs);
/// The rows of a stream, which is brought into torch's order first where they are torn apart.
Rows rows_for(const Call& call, StreamView& x);
/// Refuses a weight that is computed, and constants without a format.
void check_weights(const Call& call);
/// A weight, torch's dimension 0 its outputs, with the node's bias where it has one: the argument
/// of that name.
Matrix matrix_of(const Call& call, Constants weight, int input_frac,
                 std::string_view argument = "bias");
/// The accumulator of so many products for each output. Refused where it could pass 126 bits.
Accumulator accumulator_of(const Matrix& matrix, std::int64_t terms, const FixedType& input);
/// Appends a product with weights and, where its channels have fraction bits of their own, the step
/// that shifts them to those of the finest.
StreamView emit_product(const Call& call, Operation product, const StreamView& x, Matrix& matrix,
                        std::int64_t terms, Layout layout);
/// The input, a frame [channels, size...], for a weight of so many dimensions.
StreamView image_of(const Call& call, const Shape& weight, std::size_t dims);
/// Every row of a stream times a weight [outputs][inputs], plus the node's bias as above.
StreamView linear_product(const Call& call, StreamView x, Constants weight,
                          std::string_view bias = "bias");
/// A stream in another shape: dimensions of 1 repeated.
StreamView repeated(const Call& call, const StreamView& x, const Shape& shape,
                    std::string_view port);

/// How many elements stand before and after each torch dimension of a frame; negative ones are
/// left out.
struct Pads {
  Shape before, after;
};
/// What a node puts zeros around, and how many; nullopt for the value of any other node.
struct ZerosAround {
  ir::Value input;
  Pads pads;
};
std::optional<ZerosAround> zeros_around(const Call& reader, const ir::Value& value);

/// A stream on the grid of the result, where it has one: quantizing commutes with moving.
StreamView on_result_grid(const Call& call, const StreamView& x);
/// A stream, whose type grows where it has to, and the code of a number among its codes: that of
/// the grid of the result. Infinite numbers are its bounds.
struct Filled {
  StreamView x;
  std::int64_t code = 0;
};
Filled filled(const Call& call, StreamView x, double value);
/// The coordinate, or the element, of what lies outside of a frame.
constexpr std::int64_t outside = -1;
/// The input coordinate along dimension `dim` of a result coordinate, or outside.
using Move = std::function<std::int64_t(std::size_t dim, std::int64_t coordinate)>;
/// The element of `input` that every element of `result` is, -1 for none, both in torch's order,
/// when each dimension is moved on its own. Ranks are equal.
std::vector<std::int64_t> moved_elements(const Shape& input, const Shape& result, const Move& move);

/// The result of an op that moves each dimension on its own; `value` stands outside.
Operand moved_dims(const Call& call, const StreamView& x, const Move& move, double value = 0.0);

/// The gather that makes a stream of layout `wanted` of one of layout `from`: its element i, in
/// torch's order, is element source[i], or outside where that is -1.
Gather gather_between(const Layout& from, const std::vector<std::int64_t>& source,
                      const Layout& wanted, std::int64_t outside = 0);
/// A step that only moves codes: requantisation changes nothing.
StreamView emit_moved(const Call& call, Operation operation, std::vector<ValueId> inputs,
                      const FixedType& type, Layout layout);
/// The result whose element i, in torch's order, is element source[i] of the stream's frame, or
/// `outside`, a code, where that is -1. Costs nothing where every element has one place.
Operand gathered(const Call& call, const StreamView& x, const std::vector<std::int64_t>& source,
                 std::int64_t outside = 0);

/// The stream clamped to [low, high], real numbers that may be infinite, on the node's grid.
Operand clamp_between(const Call& call, const StreamView& x, double low, double high);

/// y = (x * scale + shift) / divisor with constants for all, for each channel or for each element
/// of the stream; shift may be absent.
StreamView scale_and_shift(const Call& call, const StreamView& x, Constants scale,
                           std::optional<Constants> shift, std::int64_t divisor = 1);
/// The step that does so, without requantisation, and its accumulator.
std::pair<ScaleShift, Accumulator> scale_step(const Call& call, const StreamView& x,
                                              Constants scale, std::optional<Constants> shift);
/// Whether an argument is computed from the inputs. Refused where it has no datapath.
bool is_stream(const Call& call, std::string_view argument);
/// The number that an argument is, as a number or a constant tensor that is the same everywhere.
std::optional<double> number_in(const Call& call, std::string_view argument);
/// Two arguments in the frame of the result, which they may broadcast to, and in one order.
std::pair<StreamView, StreamView> alike(const Call& call, std::string_view a, std::string_view b);
/// The same of two streams, which stand at these ports.
std::pair<StreamView, StreamView> alike(const Call& call, StreamView a, StreamView b,
                                        std::string_view first, std::string_view second);
/// A stream plus an argument, which may be a stream with masks, a stream or a constant.
Operand sum_with(const Call& call, const StreamView& x, std::string_view argument);
/// The step that joins two streams of one shape and order, without requantisation.
std::pair<Binary, Accumulator> binary_step(const Call& call, BinaryKind kind, const StreamView& a,
                                           const StreamView& b);
/// Ones where a constant is not 0; its shape.
Constants truths_of(const Call& call, std::string_view argument);
/// Whether a stream is 0 or 1, of one bit; the stream as such, 1 where it is not 0.
bool is_truth(const Call& call, const StreamView& x);
StreamView as_truth(const Call& call, const StreamView& x);
/// The sum, product ... of two streams of one shape and order.
StreamView combined(const Call& call, BinaryKind kind, const StreamView& a, const StreamView& b);
/// a / b of two streams of one shape and order, rounded once to the grid of the result.
StreamView divide(const Call& call, const StreamView& a, const StreamView& b);
/// The step that divides codes of these types, and its accumulator, which rounds to the quotient of
/// a type.
struct DivideStep {
  Divide operation;
  Accumulator accumulator;
};
DivideStep divide_step(const FixedType& a, const FixedType& b, const FixedType& to);
/// The constant of each channel of the stream, or of each element where it varies along other
/// dimensions too. Torch broadcasting: the constants' dimensions are the last ones of [batch,
/// frame...].
Constants in_stream_order(const Call& call, const StreamView& x, Constants constants);
/// A stream of such codes and masks, whose code is below all of them and from any of them so far
/// away that softmax's exponential of the distance is 0.
Masked with_masks(const FixedType& type);
/// The step of a node whose result has masks, exact, at the binary point of the accumulator.
StreamView emit_masked(const Call& call, Operation operation, std::vector<ValueId> inputs,
                       const Accumulator& accumulator, const Masked& masks, Layout layout);
/// The stream, on the grid of the result, where `kept`, in its order, is 1, elsewhere a code or,
/// without one, masks.
StreamView masked_where(const Call& call, const StreamView& x, Constants kept,
                        std::optional<Wide> otherwise = std::nullopt);
/// The sum of streams of which some have masks, or the difference, of which the first one has: a
/// mask where one of them is.
StreamView masked_sum(const Call& call, BinaryKind kind, const StreamView& a, const StreamView& b);
/// What a function of each element, which has steps of its own, makes of a stream; where that is a
/// mask, masks.
Operand around_masks(const Call& call, const StreamView& x,
                     const std::function<Operand(const StreamView&)>& lower);
/// A stream with masks on a grid, for a port of the node: itself where that has all other codes.
StreamView masked_on(const Call& call, const StreamView& x, const Grid& grid,
                     const std::string& port);
/// A product with a factor so negative that it makes masks of all elements but 0.
StreamView masked_product(const Call& call, const StreamView& x, double factor);

/// x where it is positive, else x times a slope for all or for each channel.
Operand sloped(const Call& call, const StreamView& x, Constants slope);
/// Bias codes at the accumulator's binary point, which is that of input times factor. Where the
/// bias is finer, the factors are shifted left: the hardware has no aligner.
Summands aligned_bias(Constants bias, Constants& factor, int input_frac);
/// Refuses constants that another checkpoint may replace, but that are not codes in a memory.
void check_fixed(const Constants& constants);

/// Merges casts and clamps into the steps that make their inputs and drops steps nobody reads.
void simplify(Program& program);

}  // namespace mase::integer
