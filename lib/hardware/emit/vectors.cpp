// SPDX-License-Identifier: Apache-2.0
// Frames that show faults. Bits of constants are drawn at random; a bit that the frames at hand do
// not show is looked for in further frames, and the first one that shows it joins them.
#include "hardware/emit/vectors.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/integer/faults.hpp"

namespace mase::emit {
namespace {

using integer::Codes;
using integer::Program;
using integer::StreamValue;

/// Elements of all frames beside a bench, and of one that is always there.
constexpr std::int64_t vector_elements = 500'000;
constexpr std::int64_t fewest_frames = 8, most_frames = 128, most_further = 4096;
/// Elements of the further frames, which are looked at but not shipped.
constexpr std::int64_t further_elements = 8'000'000;
/// Multiplications that may be spent on looking for frames, about half a second.
constexpr std::int64_t search_products = 2'000'000'000;
constexpr std::int64_t most_faults = 4'000;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::int64_t elements_of(const Program& program) {
  std::int64_t elements = 0;
  for (const auto* ids : {&program.inputs, &program.outputs})
    for (const integer::ValueId id : *ids) elements += program.value(id).elements();
  return elements;
}

/// Multiplications that take as long as calling a step does, for one of the few frames of a call.
constexpr std::int64_t call_products = 500;

/// Work of one frame: multiplications, an operation per element of every value, and the calls.
std::int64_t products_of(const Program& program) {
  std::int64_t products = std::ssize(program.steps) * call_products;
  for (const integer::Step& step : program.steps) {
    const std::int64_t outputs = program.value(step.output).elements();
    products += outputs * (1 + integer::products(step.operation));
  }
  return products;
}

/// The tap of a window that lies on a pixel when windows stand side by side; padding may be
/// negative.
std::int64_t tap_at(const integer::Axis& axis, std::int64_t pixel) {
  const std::int64_t reach = axis.kernel * axis.dilation;
  return ((pixel + axis.pad) % reach + reach) % reach / axis.dilation;
}

std::int64_t weight_at(const integer::Linear& linear, std::int64_t row, std::int64_t element) {
  return linear.weight[at(row * linear.inputs + element % linear.inputs)];
}

/// One window beside the other.
std::int64_t weight_at(const integer::Convolution& convolution, std::int64_t row,
                       std::int64_t element) {
  const integer::Window& window = convolution.window;
  const std::int64_t group = row / (convolution.outputs / convolution.groups);
  const std::int64_t channel = element % window.channels - group * convolution.taps();
  if (channel < 0 || channel >= convolution.taps()) return 0;
  const std::int64_t pixel = element / window.channels;
  const std::int64_t tap = tap_at(window.y, pixel / window.x.size) * window.x.kernel +
                           tap_at(window.x, pixel % window.x.size);
  return convolution.weight[at((row * window.kernel() + tap) * convolution.taps() + channel)];
}

/// The weight that the element of an input meets in row `row` of the step; 0 without one.
std::int64_t weight_at(const integer::Step& step, std::int64_t row, std::int64_t element) {
  return std::visit(
      [&](const auto& operation) -> std::int64_t {
        if constexpr (requires { weight_at(operation, row, element); })
          return weight_at(operation, row, element);
        return 0;
      },
      step.operation);
}

/// The rows of a step whose sums reach farthest, the farthest first.
std::vector<std::int64_t> widest_rows(const integer::Step& step, std::int64_t count) {
  const auto matrix = integer::constant_matrix(step.operation);
  if (!matrix) return {};
  std::vector<std::pair<std::int64_t, std::int64_t>> reach;
  for (std::int64_t row = 0; row < matrix->rows; ++row) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < matrix->columns; ++i)
      sum += std::abs(matrix->weight[at(row * matrix->columns + i)]);
    reach.emplace_back(-sum, row);
  }
  std::ranges::sort(reach);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < std::min(count, std::ssize(reach)); ++i)
    rows.push_back(reach[at(i)].second);
  return rows;
}

/// Makes the frames of one input.
class FrameMaker {
 public:
  FrameMaker(const Program& program, std::size_t input, std::uint64_t seed)
      : value_(program.value(program.inputs[input])), random_(seed, input) {
    for (const integer::Step& step : program.steps) {
      if (step.inputs.front() != program.inputs[input]) continue;
      reader_ = &step;
      rows_ = widest_rows(step, 2);
      break;
    }
  }

  void add(std::int64_t frame, Codes& codes) {
    const auto patterns = static_cast<std::int64_t>(4 + 2 * rows_.size());
    if (frame < patterns)
      pattern(frame, codes);
    else
      drawn(frame - patterns, codes);
  }

 private:
  std::int64_t low() const { return value_.least_code(); }
  std::int64_t high() const { return value_.greatest_code(); }
  std::int64_t uniform() {
    return low() +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high() - low()) + 1));
  }

  void pattern(std::int64_t kind, Codes& codes) const {
    for (std::int64_t i = 0; i < value_.elements(); ++i) codes.push_back(pattern_code(kind, i));
  }

  std::int64_t pattern_code(std::int64_t kind, std::int64_t element) const {
    if (kind == 0) return low();
    if (kind == 1) return high();
    if (kind == 2) return element % 2 == 0 ? low() : high();
    if (kind == 3) return 0;
    const std::int64_t weight = weight_at(*reader_, rows_[at((kind - 4) / 2)], element);
    return (weight > 0) == (kind % 2 == 0) ? high() : low();
  }

  void drawn(std::int64_t frame, Codes& codes) {
    const std::int64_t kind = frame % 4, scale = frame / 4 % value_.type.width;
    Codes middles;  // a level for each channel
    for (std::int64_t c = 0; c < value_.channels(); ++c) middles.push_back(uniform());
    for (std::int64_t i = 0; i < value_.elements(); ++i) {
      const std::int64_t code = uniform();
      if (kind == 1)
        codes.push_back(code / (std::int64_t{1} << scale));
      else if (kind == 2)
        codes.push_back(random_.below(8) == 0 ? code : 0);
      else if (kind == 3)
        codes.push_back(std::clamp(middles[at(i % value_.channels())] + code / 8, low(), high()));
      else
        codes.push_back(code);
    }
  }

  const StreamValue& value_;
  const integer::Step* reader_ = nullptr;
  std::vector<std::int64_t> rows_;
  Random random_;
};

/// One frame of all frames of a stream.
Codes frame_of(const Codes& codes, std::int64_t frames, std::int64_t frame) {
  const auto size = std::ssize(codes) / frames;
  return {codes.begin() + frame * size, codes.begin() + (frame + 1) * size};
}

/// Adds to the vectors the first of further frames that shows what they do not.
class Reach {
 public:
  Reach(const Program& program, Vectors& vectors, std::int64_t further)
      : simulator_(program), vectors_(vectors) {
    further_.frames = further;
    further_.inputs = varied_frames(program, further_.frames, 1);
    further_.outputs = integer::Interpreter(program).run(further_.inputs, further_.frames);
  }

  std::int64_t frames_run() const { return frames_; }

  void show(const integer::ConstantBit& bit) {
    if (shown_by(bit, vectors_) >= 0) return;
    const std::int64_t frame = shown_by(bit, further_);
    if (frame < 0) return;
    const auto take = [&](std::vector<Codes>& to, const std::vector<Codes>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        const Codes one = frame_of(from[i], further_.frames, frame);
        to[i].insert(to[i].end(), one.begin(), one.end());
      }
    };
    take(vectors_.inputs, further_.inputs);
    take(vectors_.outputs, further_.outputs);
    ++vectors_.frames;
  }

 private:
  std::int64_t shown_by(const integer::ConstantBit& bit, const Vectors& vectors) {
    const std::int64_t frame =
        simulator_.shown_by(bit, vectors.inputs, vectors.outputs, vectors.frames);
    frames_ += frame < 0 ? vectors.frames : frame + 1;
    return frame;
  }

  integer::FaultSimulator simulator_;
  Vectors& vectors_;
  Vectors further_;
  std::int64_t frames_ = 0;
};

}  // namespace

std::vector<Codes> varied_frames(const Program& program, std::int64_t count, std::uint64_t seed) {
  std::vector<Codes> inputs;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    FrameMaker maker(program, i, seed);
    Codes codes;
    for (std::int64_t frame = 0; frame < count; ++frame) maker.add(frame, codes);
    inputs.push_back(std::move(codes));
  }
  return inputs;
}

Vectors example_vectors(const Program& program) {
  Vectors vectors;
  vectors.frames = std::clamp(vector_elements / elements_of(program), fewest_frames, most_frames);
  vectors.inputs = varied_frames(program, vectors.frames, 0);
  vectors.outputs = integer::Interpreter(program).run(vectors.inputs, vectors.frames);
  const integer::ConstantBits bits(program);
  if (bits.count() == 0) return vectors;
  const std::int64_t most = search_products / products_of(program);
  if (most < 16 * vectors.frames) return vectors;
  const std::int64_t further =
      std::min({most / 16, most_further, further_elements / elements_of(program)});
  if (further == 0) return vectors;
  Reach reach(program, vectors, further);
  Random random(0);
  // Large layers have most of the bits, small ones and tables those that are hard to show.
  for (std::int64_t i = 0; i < most_faults && reach.frames_run() < most; ++i)
    reach.show(i % 2 == 0 ? bits.draw(random) : bits.draw_evenly(random));
  return vectors;
}

}  // namespace mase::emit
