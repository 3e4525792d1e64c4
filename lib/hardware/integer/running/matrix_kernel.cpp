// SPDX-License-Identifier: Apache-2.0
// Linear layers and convolutions on 16-bit codes: rows of pixels times blocks of outputs.
#include <algorithm>
#include <cstring>
#include <limits>

#include "hardware/integer/running/step_kernel.hpp"

namespace mase::integer {
namespace {

/// Pixels from the first tap of the first window to the last of the last.
std::int64_t covered(const Axis& axis) { return axis.last() + axis.reach(); }

/// One layer as a convolution; a linear layer is one with a window of 1 x 1 over its rows.
struct Layer {
  Window window;
  std::int64_t outputs = 0, groups = 1;
  const Codes* weight = nullptr;
  const std::vector<Wide>* bias = nullptr;

  std::int64_t taps() const { return window.channels / groups; }  ///< inputs of an output
  std::int64_t group_outputs() const { return outputs / groups; }
  /// Whether windows are read from a copy of what they cover, which begins at the first one.
  bool copies() const {
    return window.y.padded() || window.x.padded() || window.y.pad != 0 || window.x.pad != 0;
  }
  std::int64_t rows() const { return copies() ? covered(window.y) : window.y.size; }
  std::int64_t row_pixels() const { return copies() ? covered(window.x) : window.x.size; }
};

/// `elements`: of the input.
Layer layer_of(const Convolution& convolution, std::int64_t) {
  return {convolution.window, convolution.outputs, convolution.groups, &convolution.weight,
          &convolution.bias};
}

Layer layer_of(const Linear& linear, std::int64_t elements) {
  Layer layer{{}, linear.outputs, 1, &linear.weight, &linear.bias};
  layer.window.channels = linear.inputs;
  Axis& rows = layer.window.x;
  rows.size = rows.out = elements / linear.inputs;
  return layer;
}

std::optional<Layer> layer_of(const Program& program, const Step& step) {
  const std::int64_t elements = program.value(step.inputs[0]).elements();
  return std::visit(
      [&](const auto& operation) -> std::optional<Layer> {
        if constexpr (requires { layer_of(operation, elements); })
          return layer_of(operation, elements);
        return std::nullopt;
      },
      step.operation);
}

class MatrixKernel : public StepKernel {
  static constexpr std::int64_t flat_rows = 64;

 public:
  MatrixKernel(const Layer& layer, const kernels::Requantise32& requantise,
               const kernels::KernelTable& table)
      : layer_(layer), requantise_(requantise), table_(table) {
    // Channels last: without groups a row of the kernel is one run of codes.
    const Axis &y = layer.window.y, &x = layer.window.x;
    const bool whole_rows = layer.groups == 1 && x.dilation == 1;
    run_length_ = at(layer.taps() * (whole_rows ? x.kernel : 1));
    for (std::int64_t ky = 0; ky < y.kernel; ++ky)
      for (std::int64_t kx = 0; kx < (whole_rows ? 1 : x.kernel); ++kx)
        offsets_.push_back((ky * y.dilation * layer.row_pixels() + kx * x.dilation) *
                           layer.window.channels);
    pairs_ = (run_length_ + 1) / 2;
    filled_ = (at(layer.group_outputs()) + table.lanes - 1) / table.lanes * table.lanes;
    for (std::int64_t group = 0; group < layer.groups; ++group) pack(group);
    if (layer.copies())
      padded_.resize(at(layer.rows() * layer.row_pixels() * layer.window.channels) + 2);
  }

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) override {
    const Window& window = layer_.window;
    if (window.y.size == 1 && window.y.passes() && window.x.passes())
      return run_flat(in[0]->narrow(), frames * window.x.size, out);
    const std::int64_t frame = window.pixels() * window.channels;
    const std::int64_t row = window.y.stride * layer_.row_pixels() * window.channels;
    for (std::int64_t f = 0; f < frames; ++f) {
      const std::int16_t* image = padded(in[0]->narrow() + f * frame);
      for (std::int64_t y = 0; y < window.y.out; ++y)
        run_rows(image + y * row, window.x.out, (f * window.y.out + y) * window.x.out, out);
    }
  }

 private:
  void pack(std::int64_t group) {
    const std::size_t first = weights_.size(), lanes = table_.lanes;
    const std::size_t run_size = offsets_.size() * run_length_;  // of one output
    weights_.resize(first + filled_ * offsets_.size() * pairs_ * 2);
    for (std::size_t o = 0; o < at(layer_.group_outputs()); ++o) {
      const std::size_t output = at(group * layer_.group_outputs()) + o;
      std::int16_t* block =
          weights_.data() + first + o / lanes * lanes * offsets_.size() * pairs_ * 2;
      for (std::size_t i = 0; i < run_size; ++i) {
        const std::size_t pair = i / run_length_ * pairs_ + i % run_length_ / 2;
        block[(pair * lanes + o % lanes) * 2 + i % run_length_ % 2] =
            static_cast<std::int16_t>((*layer_.weight)[output * run_size + i]);
      }
      biases_.push_back(layer_.bias->empty() ? 0
                                             : static_cast<std::int32_t>((*layer_.bias)[output]));
    }
    biases_.resize(at(group + 1) * filled_);
  }

  const std::int16_t* padded(const std::int16_t* image) {
    if (!layer_.copies()) return image;
    const Axis &y = layer_.window.y, &x = layer_.window.x;
    const std::int64_t channels = layer_.window.channels;
    // What both the image and the copy have of a dimension, in pixels of the image.
    const auto first = [](const Axis& axis) { return std::max<std::int64_t>(-axis.pad, 0); };
    const std::int64_t last_y = std::min(y.size, layer_.rows() - y.pad);
    const std::int64_t last_x = std::min(x.size, layer_.row_pixels() - x.pad);
    if (last_x <= first(x)) return padded_.data();
    for (std::int64_t row = first(y); row < last_y; ++row)
      std::memcpy(
          padded_.data() + ((row + y.pad) * layer_.row_pixels() + first(x) + x.pad) * channels,
          image + (row * x.size + first(x)) * channels,
          at((last_x - first(x)) * channels) * sizeof(std::int16_t));
    return padded_.data();
  }

  /// Windows of one place: rows of all frames follow each other.
  void run_flat(const std::int16_t* in, std::int64_t rows, Buffer& out) {
    for (std::int64_t first = 0; first < rows; first += flat_rows)
      run_rows(in + first * layer_.window.channels, std::min(flat_rows, rows - first), first, out);
  }

  void run_rows(const std::int16_t* in, std::int64_t rows, std::int64_t out_row, Buffer& out) {
    accumulators_.resize(std::max(accumulators_.size(), at(rows) * filled_));
    for (std::int64_t group = 0; group < layer_.groups; ++group) {
      table_.matrix(job_of(in, rows, group));
      requantise_rows(rows, out_row * layer_.outputs + group * layer_.group_outputs(), out);
    }
  }

  kernels::MatrixJob job_of(const std::int16_t* in, std::int64_t rows, std::int64_t group) {
    kernels::MatrixJob job;
    job.in = in + group * layer_.taps();
    job.row_stride = layer_.window.x.stride * layer_.window.channels;
    job.rows = at(rows);
    job.offsets = offsets_.data();
    job.segments = offsets_.size();
    job.pairs = pairs_;
    job.weights = weights_.data() + at(group) * filled_ * offsets_.size() * pairs_ * 2;
    job.bias = biases_.data() + at(group) * filled_;
    job.accumulators = accumulators_.data();
    job.outputs = filled_;
    return job;
  }

  void requantise_rows(std::int64_t rows, std::int64_t first, Buffer& out) {
    if (layer_.groups == 1 && filled_ == at(layer_.outputs))
      return requantise_into(table_, requantise_, accumulators_.data(), out, at(first),
                             at(rows) * filled_);
    for (std::int64_t row = 0; row < rows; ++row)
      requantise_into(table_, requantise_, accumulators_.data() + at(row) * filled_, out,
                      at(first + row * layer_.outputs), at(layer_.group_outputs()));
  }

  Layer layer_;
  kernels::Requantise32 requantise_;
  const kernels::KernelTable& table_;
  std::vector<std::ptrdiff_t> offsets_;  ///< of the runs of codes that an output reads
  std::size_t run_length_ = 0, pairs_ = 0;
  std::size_t filled_ = 0;  ///< outputs of a group, filled up to whole blocks
  std::vector<std::int16_t> weights_, padded_;
  std::vector<std::int32_t> biases_, accumulators_;
};

/// Every channel with its own weights: vectors run along the channels.
class DepthwiseKernel : public StepKernel {
 public:
  DepthwiseKernel(const Layer& layer, const kernels::Requantise32& requantise,
                  const kernels::KernelTable& table)
      : window_(layer.window), requantise_(requantise), table_(table) {
    const std::size_t channels = at(window_.channels), kernel = at(window_.kernel());
    weights_.resize(kernel * channels);
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t k = 0; k < kernel; ++k)
        weights_[k * channels + c] = static_cast<std::int16_t>((*layer.weight)[c * kernel + k]);
    biases_.resize(channels);
    for (std::size_t c = 0; c < channels && !layer.bias->empty(); ++c)
      biases_[c] = static_cast<std::int32_t>((*layer.bias)[c]);
    accumulators_.resize(channels);
  }

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) override {
    const std::int64_t frame = window_.pixels() * window_.channels;
    std::size_t first = 0;
    for (std::int64_t f = 0; f < frames; ++f)
      window_.for_each_place([&](std::int64_t y, std::int64_t x) {
        run_pixel(in[0]->narrow() + f * frame, y, x);
        requantise_into(table_, requantise_, accumulators_.data(), out, first, biases_.size());
        first += biases_.size();
      });
  }

 private:
  void run_pixel(const std::int16_t* image, std::int64_t y, std::int64_t x) {
    accumulators_ = biases_;
    window_.for_each_tap(y, x, [&](std::int64_t pixel, std::int64_t k) {
      table_.multiply_add(image + pixel * window_.channels, weights_.data() + k * window_.channels,
                          accumulators_.data(), biases_.size());
    });
  }

  Window window_;
  kernels::Requantise32 requantise_;
  const kernels::KernelTable& table_;
  std::vector<std::int16_t> weights_;
  std::vector<std::int32_t> biases_, accumulators_;
};

bool fits_16(const Codes& codes) {
  return std::ranges::all_of(codes, [](std::int64_t code) {
    return code >= std::numeric_limits<std::int16_t>::min() &&
           code <= std::numeric_limits<std::int16_t>::max();
  });
}

}  // namespace

std::unique_ptr<StepKernel> make_matrix_kernel(const Program& program, const Step& step,
                                               const kernels::KernelTable& table) {
  const auto layer = layer_of(program, step);
  const auto requantise = narrow_requantise(step);
  if (!layer || !requantise || !fits_16(*layer->weight) ||
      storage_for(program.value(step.inputs[0]).type) != Storage::narrow ||
      storage_for(program.value(step.output).type) == Storage::wide)
    return nullptr;
  if (layer->taps() == 1 && layer->groups > 1 && layer->outputs == layer->groups)
    return std::make_unique<DepthwiseKernel>(*layer, *requantise, table);
  return std::make_unique<MatrixKernel>(*layer, *requantise, table);
}

}  // namespace mase::integer
