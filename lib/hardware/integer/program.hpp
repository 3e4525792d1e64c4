// SPDX-License-Identifier: Apache-2.0
// Program: a quantized graph lowered to exact integer steps. It defines what the hardware computes:
// the interpreter executes it, and lib/hardware/design turns every step into instances.
//
// Streams. A value holds one frame (the batch dimension is taken away) as a sequence of codes in
// stream order: row-major with channels last, [H, W, C] for a torch tensor [C, H, W], [T, F] for
// rows of features. `order` says which torch element each stream element is, so that flatten, view
// and reshape cost nothing: consumers permute their weights instead.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/array.hpp"
#include "hardware/integer/fixed.hpp"
#include "ir/graph.hpp"

namespace mase::ir {
struct CustomHardware;  // ir/custom_op.hpp
}

namespace mase::integer {

/// Index into Program::values.
using ValueId = int;
/// Integer codes, as wide as any format has them.
using Codes = std::vector<std::int64_t>;

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// What flows between two steps.
struct StreamValue {
  std::string name;   ///< the node whose result this is
  FixedType type;     ///< at most 62 bits wide
  Shape shape;        ///< of one frame in stream order; the last dimension is innermost
  Shape torch_shape;  ///< of one frame as torch has it
  /// order[i] = row-major torch index of stream element i; empty: the same.
  std::vector<std::int64_t> order;

  std::int64_t elements() const { return numel(shape); }
  std::int64_t channels() const { return shape.empty() ? 1 : shape.back(); }
};

/// One dimension of a sliding window, in pixels: tap k of window o is pixel
/// o * stride + k * dilation - pad, which may lie outside of the image.
struct Axis {
  std::int64_t size = 1;  ///< of the image
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad = 0;  ///< before the image; negative: pixels that are left out
  std::int64_t out = 1;  ///< windows
  bool operator==(const Axis&) const = default;

  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }  ///< first to last tap
  std::int64_t last() const { return (out - 1) * stride; }  ///< first tap of the last, plus pad
  bool padded() const { return pad > 0 || last() + reach() - pad > size; }
  /// Every pixel lies in one window, but those that are left over behind the last.
  bool tiles() const {
    return kernel == stride && dilation == 1 && pad == 0 && out == size / kernel;
  }
  bool passes() const { return kernel == 1 && stride == 1 && pad == 0 && out == size; }
};

/// A sliding window over [y.size, x.size, channels]; in one dimension x is as it is by default.
struct Window {
  Axis y, x;
  std::int64_t channels = 1;
  bool operator==(const Window&) const = default;

  std::int64_t kernel() const { return y.kernel * x.kernel; }
  std::int64_t pixels() const { return y.size * x.size; }
  std::int64_t places() const { return y.out * x.out; }

  /// f(y, x) for every output pixel in raster order: the input place of its first tap, which
  /// padding can put outside of the image.
  template <class F>
  void for_each_place(F&& f) const {
    for (std::int64_t row = 0; row < y.out; ++row)
      for (std::int64_t column = 0; column < x.out; ++column)
        f(row * y.stride - y.pad, column * x.stride - x.pad);
  }

  /// f(pixel, k) for every tap inside the image of the window whose first tap is (row, column):
  /// pixels in raster order, taps as well.
  template <class F>
  void for_each_tap(std::int64_t row, std::int64_t column, F&& f) const {
    for (std::int64_t ky = 0, a = row; ky < y.kernel; ++ky, a += y.dilation) {
      if (a < 0 || a >= y.size) continue;
      for (std::int64_t kx = 0, b = column; kx < x.kernel; ++kx, b += x.dilation)
        if (b >= 0 && b < x.size) f(a * x.size + b, ky * x.kernel + kx);
    }
  }
};

/// Type change only: also relu, relu6, hardtanh and clamp where they are not part of another step.
struct Cast {};

/// y[o] = sum_i weight[o][i] * x[i] + bias[o] on every row of `inputs` elements.
struct Linear {
  std::int64_t inputs = 0, outputs = 0;
  FixedType weight_type;
  Codes weight;            ///< [outputs][inputs], inputs in stream order
  std::vector<Wide> bias;  ///< [outputs], aligned to the accumulator; empty without
  int bias_width = 0;      ///< bits of every bias that may come; 0: of those that are there
};

/// y[r][o] = sum_i a[r][i] * b[set][o][i] of two streams: rows of the first by the matrices of the
/// second, of which a frame has `sets`. Each set serves `repeat` rows, one set after the other,
/// over and over.
struct MatrixProduct {
  std::int64_t inputs = 1, outputs = 1, sets = 1, repeat = 1;
  /// Distance in the second stream of neighbours; 0 along what has one.
  std::int64_t input_step = 1, output_step = 0, set_step = 0;

  std::int64_t set_of(std::int64_t row) const { return row / repeat % sets; }
  std::int64_t place(std::int64_t set, std::int64_t output, std::int64_t input) const {
    return set * set_step + output * output_step + input * input_step;
  }
};

/// Cross-correlation; group g maps channels/groups inputs to outputs/groups outputs. Padding is
/// code 0. Depthwise: groups = channels.
struct Convolution {
  Window window;
  std::int64_t outputs = 0, groups = 1;
  FixedType weight_type;
  Codes weight;            ///< [outputs][kernel_height][kernel_width][channels / groups]
  std::vector<Wide> bias;  ///< [outputs]; empty without
  int bias_width = 0;      ///< as a linear's

  std::int64_t taps() const { return window.channels / groups; }     ///< per place of the kernel
  std::int64_t columns() const { return window.kernel() * taps(); }  ///< weights of one output
};

/// y[i] = scale[i] * x[i] + shift[i], the constants repeated along the stream: one for each
/// channel, or one for each element of a frame.
struct ScaleShift {
  FixedType scale_type;
  Codes scale;
  std::vector<Wide> shift;  ///< aligned to the accumulator; empty without
  int shift_width = 0;      ///< as a linear's bias_width
};

/// y[i] = x[i] * 2^left[channel]: brings the accumulators of channels whose weights have fraction
/// bits of their own to one binary point. The codes of x are read at that of their channel, though
/// their type has the finest.
struct ChannelShift {
  std::vector<int> left;  ///< one for each channel, none negative
};

/// y = table[low bits of x]: any function of one input.
struct Lookup {
  std::string function;  ///< "sigmoid"
  Codes table;           ///< 2^width entries, indexed by the input code's bits
  /// The user's module that computes it, and keeps no table in memory; null for ours.
  std::shared_ptr<const ir::CustomHardware> external = nullptr;
};

/// y = base[s] + slope[s] * l, where l are the low bits of x and s the bits above them: a function
/// of one input in straight pieces.
struct Piecewise {
  std::string function;  ///< "sigmoid"
  int low_bits = 1;      ///< of x within its segment
  FixedType slope_type = {};
  Codes slope = {};             ///< one for each of 2^(width - low_bits) segments
  std::vector<Wide> base = {};  ///< aligned to the accumulator
  double largest_error = 0;     ///< over all inputs, in units of the result's last place

  Wide operator()(std::int64_t code) const;
};

/// What a window is reduced to.
enum class PoolKind { max, sum };
/// Maximum or sum over each window, channel by channel. An average is a sum whose Requantise
/// divides. Padding never wins a maximum and adds 0 to a sum.
struct Pool {
  PoolKind kind = PoolKind::max;
  Window window;
};

/// The place of the largest of every `row` elements, the first one where several are equal.
struct ArgMax {
  std::int64_t row = 1;
};

/// Maximum or sum of every `row` elements.
struct RowReduce {
  PoolKind kind = PoolKind::max;
  std::int64_t row = 1;
};

/// Every element `count` times: y[i] = x[i / count].
struct Repeat {
  std::int64_t count = 1;
};

/// What is done with two streams, element by element.
enum class BinaryKind { add, subtract, multiply, maximum, minimum };
/// (a << shift_a) op (b << shift_b), brought to the finer fraction; multiply: a * b without shifts.
struct Binary {
  BinaryKind kind = BinaryKind::add;
  int shift_a = 0, shift_b = 0;

  /// The operands are shifted already.
  template <class Sum>
  Sum operator()(Sum a, Sum b) const {
    switch (kind) {
      case BinaryKind::add:
        return a + b;
      case BinaryKind::subtract:
        return a - b;
      case BinaryKind::multiply:
        return a * b;
      case BinaryKind::maximum:
        return a > b ? a : b;
      case BinaryKind::minimum:
        return a < b ? a : b;
    }
    return a;
  }
};

/// a / b at the point of the accumulator, which has two bits below the result's last one:
/// |a| << shift_a divided by |b| << shift_b as `bits` bits, then one that tells whether something
/// is left, then the sign. So rounding the accumulator rounds the exact quotient. What passes
/// `bits` bits, as every x / 0 does, has all bits set, which is beyond the result's bounds; 0 / 0
/// is 0.
struct Quotient {
  int shift_a = 0, shift_b = 0, bits = 1;

  /// The type of the numbers holds |a| << shift_a, |b| << shift_b and the largest accumulator.
  template <class Number>
  Number operator()(Number a, Number b) const {
    if (a == 0) return 0;
    const Number numerator = (a < 0 ? -a : a) << shift_a, divisor = (b < 0 ? -b : b) << shift_b;
    Number magnitude = most<Number>();
    if (divisor != 0 && numerator / divisor < Number{1} << bits)
      magnitude = numerator / divisor * 2 + (numerator % divisor != 0 ? 1 : 0);
    return (a < 0) != (b < 0) ? -magnitude : magnitude;
  }
  template <class Number = Wide>
  Number most() const {  ///< the largest accumulator
    return (Number{1} << (bits + 1)) - 1;
  }
};

/// The whole part of sqrt((x << shift) + addend), for x that is not negative.
struct SquareRoot {
  int shift = 0;
  std::int64_t addend = 0;

  Wide operator()(Wide x) const;
};

/// Inputs in turn, `rows` times in a frame: elements / rows of each.
struct Concat {
  std::int64_t rows = 1;
};

/// Constants around the rows of a frame: `before` of them, elements / rows of the input, `after` of
/// them, in each. Codes stand in the order in which they leave and begin anew behind the last one.
struct Insert {
  std::int64_t rows = 1, before = 0, after = 0;
  Codes codes = {};
};

/// Each number gives its row of a table, `columns` codes; one beyond the table gives the last row.
struct Embedding {
  std::int64_t columns = 1;
  Codes table;  ///< [rows][columns]

  std::int64_t rows() const { return static_cast<std::int64_t>(table.size()) / columns; }
};

/// Elements [first, first + count) of every `period` of them, which divides the frame.
struct Slice {
  std::int64_t first = 0, count = 0, period = 1;
};

/// Elements in another order, some left out, some repeated, alike for every `period` elements of a
/// frame: y[i] = x[places[i]], or `outside` where places[i] is -1.
struct Gather {
  std::vector<std::int64_t> places;  ///< below `period`
  std::int64_t period = 1;
  std::int64_t outside = 0;  ///< a code

  /// The most elements that always move together: every run of so many in the result, from a
  /// multiple of it on, is one such run of the input, or all outside. Divides both frames.
  std::int64_t block() const;
};
/// The gather of places in a whole frame of `elements`, with the least period.
Gather gather_of(std::vector<std::int64_t> places, std::int64_t elements, std::int64_t outside = 0);

/// What a step computes.
using Operation = std::variant<Cast, Linear, Convolution, ScaleShift, ChannelShift, Lookup, Pool,
                               Binary, Concat, Slice, Gather, ArgMax, Quotient, MatrixProduct,
                               RowReduce, Repeat, SquareRoot, Insert, Embedding, Piecewise>;

/// One step: operation into an exact accumulator, then requantisation into the output's type.
struct Step {
  /// Graph node; casts and gathers between nodes: "<consumer>_<port>_cast", "..._reorder".
  std::string name;
  std::string layer;  ///< the graph node it belongs to
  std::vector<ValueId> inputs;
  ValueId output = -1;
  Operation operation;
  /// Every accumulator lies in [low, high], partial sums too: derived from the actual weights (or
  /// from all codes of their formats, where they may be replaced) and the input type (the worst
  /// case over all inputs). Lookup and what only moves: the output's range.
  Wide low = 0, high = 0;
  /// Fraction bits of the accumulator; an average counts the powers of two of its divisor as some.
  int frac = 0;
  Requantise requantise;
};
/// Whether the operation gives codes of its inputs as they are.
bool only_moves(const Operation& operation);
std::string operation_name(const Operation& operation);  ///< "linear", "max_pool", ...

/// Whether the constants of a checkpoint stay, or may be replaced by those of another one.
enum class Contents { fixed, reloadable };

/// A graph as integer steps over streams.
struct Program {
  std::string name;
  Contents contents = Contents::fixed;
  std::vector<StreamValue> values;
  std::vector<Step> steps;                        ///< in execution order
  std::vector<ValueId> inputs;                    ///< in the order of the placeholders
  std::vector<ValueId> outputs;                   ///< in the order of the graph's results
  std::vector<std::string> output_keys;           ///< as ir::Results names them
  std::vector<DType> output_dtypes;               ///< as torch has them: float32, int64 of places
  std::vector<formats::Rounding> input_rounding;  ///< how floats become codes, per input
  /// The least code of an input but that of masks (ir/masks.hpp), which is its type's least one;
  /// nullopt if a mask is a number like any other.
  std::vector<std::optional<std::int64_t>> input_masks;

  const StreamValue& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  std::vector<int> consumers(ValueId id) const;  ///< step indices
};

/// Lowers a quantized graph whose value infos carry shapes. Error(Fault::unsupported) listing every
/// node without a datapath at once, with the passes that would help.
///
/// A requantisation is done as early as it is exact: a consumer's data_in format moves backwards
/// through relu, pooling by maximum, flatten and the like to the step that produces the value, when
/// all consumers agree; otherwise the consumer casts. Results of tables and divisions need such a
/// format (their own data_out, or their consumers' data_in).
///
/// A value that cannot be negative is unsigned, one bit narrower than the format that asked for it.
///
/// With reloadable contents every checkpoint of the same graph and formats gives the same program
/// but for the codes of its weights, biases, scales and shifts. Constant tensors that do not become
/// such codes are refused then, as are those without a format.
Program lower(const ir::Graph& graph, Contents contents = Contents::fixed);
/// Whether nodes of this op can be lowered, given formats and arguments that fit.
bool has_datapath(std::string_view op);
/// Whether it only moves, chooses or clamps values, so that no format on it is needed: a quantizer
/// of its readers acts on what it reads.
bool passes_values_on(std::string_view op);

/// Text of the program, one line per step with types and the accumulator's bound: what
/// `mase show --format program` prints.
std::string program_text(const Program& program);

}  // namespace mase::integer
