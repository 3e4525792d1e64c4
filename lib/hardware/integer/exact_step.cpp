// SPDX-License-Identifier: Apache-2.0
// The steps in plain loops.
#include "hardware/integer/exact_step.hpp"

#include <algorithm>

namespace mase::integer {
namespace {

using Index = std::int64_t;

/// One step on one frame, with sums in the type Sum.
template <class Sum>
class Frame {
 public:
  Frame(const Program& program, const Step& step)
      : program_(program),
        step_(step),
        elements_(program.value(step.output).elements()),
        narrow_(NarrowRequantise::of(step.requantise, signed_width(step.low, step.high))) {}

  /// Sets the codes of the frame's inputs and output.
  void set(std::vector<const std::int64_t*> inputs, std::int64_t* output) {
    in_ = std::move(inputs);
    out_ = output;
  }

  void operator()(const Cast&) const {
    for (Index i = 0; i < elements(); ++i) put(i, in_[0][i]);
  }

  void operator()(const Linear& linear) const {
    for (Index o = 0; o < elements(); ++o) {
      const Index row = o / linear.outputs, output = o % linear.outputs;
      Sum sum = linear.bias.empty() ? Sum{0} : static_cast<Sum>(linear.bias[at(output)]);
      for (Index i = 0; i < linear.inputs; ++i)
        sum += static_cast<Sum>(linear.weight[at(output * linear.inputs + i)]) *
               in_[0][row * linear.inputs + i];
      put(o, sum);
    }
  }

  void operator()(const MatrixProduct& product) const {
    for (Index y = 0; y < elements(); ++y) {
      const Index row = y / product.outputs, output = y % product.outputs,
                  set = product.set_of(row);
      Sum sum = 0;
      for (Index i = 0; i < product.inputs; ++i)
        sum += static_cast<Sum>(in_[0][row * product.inputs + i]) *
               in_[1][product.place(set, output, i)];
      put(y, sum);
    }
  }

  void operator()(const Convolution& convolution) const {
    Index i = 0;
    convolution.window.for_each_place([&](Index y, Index x) {
      for (Index o = 0; o < convolution.outputs; ++o) put(i++, correlate(convolution, y, x, o));
    });
  }

  void operator()(const ScaleShift& scale) const {
    const auto channels = static_cast<Index>(scale.scale.size());
    for (Index i = 0; i < elements(); ++i) {
      const Sum shift =
          scale.shift.empty() ? Sum{0} : static_cast<Sum>(scale.shift[at(i % channels)]);
      put(i, static_cast<Sum>(scale.scale[at(i % channels)]) * in_[0][i] + shift);
    }
  }

  void operator()(const ChannelShift& shift) const {
    const auto channels = static_cast<Index>(shift.left.size());
    for (Index i = 0; i < elements(); ++i)
      put(i, static_cast<Sum>(in_[0][i]) * (Sum{1} << shift.left[at(i % channels)]));
  }

  void operator()(const Lookup& lookup) const {
    const std::uint64_t mask = lookup.table.size() - 1;
    for (Index i = 0; i < elements(); ++i)
      out_[i] = lookup.table[static_cast<std::uint64_t>(in_[0][i]) & mask];
  }

  void operator()(const Piecewise& pieces) const {
    for (Index i = 0; i < elements(); ++i) put(i, static_cast<Sum>(pieces(in_[0][i])));
  }

  void operator()(const Pool& pool) const {
    Index i = 0;
    pool.window.for_each_place([&](Index y, Index x) {
      for (Index c = 0; c < pool.window.channels; ++c) put(i++, pooled(pool, y, x, c));
    });
  }

  void operator()(const Binary& binary) const {
    for (Index i = 0; i < elements(); ++i) {
      const Sum a = static_cast<Sum>(in_[0][i]) * (Sum{1} << binary.shift_a);
      const Sum b = static_cast<Sum>(in_[1][i]) * (Sum{1} << binary.shift_b);
      put(i, binary(a, b));
    }
  }

  void operator()(const Quotient& quotient) const {
    for (Index i = 0; i < elements(); ++i) put(i, quotient(Sum{in_[0][i]}, Sum{in_[1][i]}));
  }

  void operator()(const SquareRoot& root) const {
    for (Index i = 0; i < elements(); ++i) out_[i] = static_cast<std::int64_t>(root(in_[0][i]));
  }

  void operator()(const Concat& concat) const {
    const Index all = elements() / concat.rows;
    Index first = 0;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const Index width = program_.value(step_.inputs[i]).elements() / concat.rows;
      for (Index row = 0; row < concat.rows; ++row)
        std::copy_n(in_[i] + row * width, width, out_ + row * all + first);
      first += width;
    }
  }

  void operator()(const Insert& insert) const {
    const Index kept = elements() / insert.rows - insert.before - insert.after;
    std::size_t next = 0;
    std::int64_t* out = out_;
    const auto constants = [&](Index count) {
      for (Index i = 0; i < count; ++i, next = (next + 1) % insert.codes.size())
        *out++ = insert.codes[next];
    };
    for (Index row = 0; row < insert.rows; ++row) {
      constants(insert.before);
      out = std::copy_n(in_[0] + row * kept, kept, out);
      constants(insert.after);
    }
  }

  void operator()(const Embedding& embedding) const {
    const Index last = embedding.rows() - 1, columns = embedding.columns;
    for (Index i = 0; i * columns < elements(); ++i) {
      const std::int64_t* row = embedding.table.data() + std::min(in_[0][i], last) * columns;
      std::copy_n(row, columns, out_ + i * columns);
    }
  }

  void operator()(const Slice& slice) const {
    for (Index row = 0; row * slice.count < elements(); ++row)
      std::copy_n(in_[0] + row * slice.period + slice.first, slice.count, out_ + row * slice.count);
  }

  void operator()(const Gather& gather) const {
    const auto count = static_cast<Index>(gather.places.size());
    for (Index i = 0; i < elements(); ++i) {
      const Index place = gather.places[at(i % count)];
      out_[i] = place < 0 ? gather.outside : in_[0][i / count * gather.period + place];
    }
  }

  void operator()(const RowReduce& reduce) const {
    for (Index i = 0; i < elements(); ++i) {
      const std::int64_t* row = in_[0] + i * reduce.row;
      Sum result = row[0];
      for (Index k = 1; k < reduce.row; ++k)
        result = reduce.kind == PoolKind::sum ? result + row[k] : std::max<Sum>(result, row[k]);
      put(i, result);
    }
  }

  void operator()(const Repeat& repeat) const {
    for (Index i = 0; i < elements(); ++i) out_[i] = in_[0][i / repeat.count];
  }

  void operator()(const ArgMax& argmax) const {
    for (Index i = 0; i < elements(); ++i) {
      const std::int64_t* row = in_[0] + i * argmax.row;
      put(i, static_cast<Sum>(std::max_element(row, row + argmax.row) - row));
    }
  }

 private:
  Index elements() const { return elements_; }
  void put(Index i, Sum sum) const {
    out_[i] = narrow_ ? (*narrow_)(static_cast<std::int64_t>(sum))
                      : static_cast<std::int64_t>(step_.requantise(sum));
  }

  Sum correlate(const Convolution& convolution, Index y, Index x, Index o) const {
    const Index taps = convolution.taps();
    const Index group = o / (convolution.outputs / convolution.groups);
    Sum sum = convolution.bias.empty() ? Sum{0} : static_cast<Sum>(convolution.bias[at(o)]);
    const Window& window = convolution.window;
    window.for_each_tap(y, x, [&](Index pixel, Index k) {
      const std::int64_t* weight = convolution.weight.data() + (o * window.kernel() + k) * taps;
      for (Index c = 0; c < taps; ++c)
        sum += static_cast<Sum>(weight[c]) * in_[0][pixel * window.channels + group * taps + c];
    });
    return sum;
  }

  Sum pooled(const Pool& pool, Index y, Index x, Index c) const {
    Sum result = 0;
    bool first = true;
    pool.window.for_each_tap(y, x, [&](Index pixel, Index) {
      const Sum code = in_[0][pixel * pool.window.channels + c];
      if (pool.kind == PoolKind::sum)
        result += code;
      else if (first || code > result)
        result = code;
      first = false;
    });
    return result;
  }

  const Program& program_;
  const Step& step_;
  Index elements_;
  std::optional<NarrowRequantise> narrow_;
  std::vector<const std::int64_t*> in_;
  std::int64_t* out_ = nullptr;
};

template <class Sum>
Codes run_frames(const Program& program, const Step& step, std::span<const Codes* const> inputs,
                 Index frames) {
  const Index size = program.value(step.output).elements();
  Codes out(at(frames * size));
  Frame<Sum> frame(program, step);
  for (Index f = 0; f < frames; ++f) {
    std::vector<const std::int64_t*> in;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      in.push_back(inputs[i]->data() + f * program.value(step.inputs[i]).elements());
    frame.set(std::move(in), out.data() + f * size);
    std::visit(frame, step.operation);
  }
  return out;
}

}  // namespace

namespace {

/// The bits that hold every number on the way to the accumulator, and the accumulator.
int sum_bits(const Program& program, const Step& step) {
  const int bits = signed_width(step.low, step.high);
  const auto* quotient = std::get_if<Quotient>(&step.operation);
  if (!quotient) return bits;
  const int a = program.value(step.inputs[0]).type.width + quotient->shift_a + 1;
  const int b = program.value(step.inputs[1]).type.width + quotient->shift_b + 1;
  return std::max({bits, a, b, quotient->bits + 2});
}

}  // namespace

Codes run_exactly(const Program& program, const Step& step, std::span<const Codes* const> inputs,
                  Index frames) {
  if (sum_bits(program, step) <= 63) return run_frames<std::int64_t>(program, step, inputs, frames);
  return run_frames<Wide>(program, step, inputs, frames);
}

}  // namespace mase::integer
