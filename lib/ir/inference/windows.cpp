// SPDX-License-Identifier: Apache-2.0
// Rules of windows over images and sequences: convolutions, pools and resampling. The formulas are
// those of torch.nn's documentation.
#include "ir/inference/rules.hpp"
#include "ir/space_dims.hpp"

namespace mase::ir {
namespace {

using Integers = Call::Integers;

constexpr std::int64_t most_factor = 1 << 15;
constexpr double most_places = 1 << 30;

/// The first dimension of the space: images of one sample have no N.
std::size_t first_of_space(const Call& call, const Shape& input, std::size_t count) {
  call.require(input.size() == count + 1 || input.size() == count + 2,
               "the input has " + std::to_string(input.size()) + " dimensions, not [N, C, " +
                   std::to_string(count) + " of space] or [C, " + std::to_string(count) +
                   " of space]");
  call.require_moderate(input);
  return input.size() - count;
}

/// Padding of both sides together, of each dimension of the space.
Integers paddings(const Call& call, const Shape& window, const Integers& dilation) {
  const std::string name = call.text("padding", "");
  Integers both =
      name.empty() ? call.integers("padding", window.size(), 0) : Integers(window.size(), 0);
  for (std::size_t i = 0; i < both.size(); ++i)
    both[i] = name == "same" ? dilation[i] * (window[i] - 1) : 2 * both[i];
  return both;
}

/// What convolutions read. The window is the end of the weight's shape, and `space` the first
/// dimension of the input over which it moves.
struct Convolution {
  ValueInfo input;
  Shape weight, window;
  std::size_t space = 0;
};

Convolution operands_of(const Call& call) {
  Convolution operands{call.tensor("input"), call.tensor("weight").shape, {}, 0};
  const Shape& weight = operands.weight;
  call.require(weight.size() > 2, "the weight has no window");
  call.require_moderate(weight);
  operands.window = part_of(weight, 2, weight.size());
  operands.space = first_of_space(call, operands.input.shape, operands.window.size());
  return operands;
}

Inferred convolved(const Call& call) {
  const auto [input, weight, window, space] = operands_of(call);
  const Integers stride = call.integers("stride", window.size(), 1);
  const Integers dilation = call.integers("dilation", window.size(), 1);
  const Integers padding = paddings(call, window, dilation);
  call.require(input.shape[space - 1] == call.product(weight[1], call.integer("groups", 1)),
               "the input's channels are not those of the weight and its groups");
  Shape shape = part_of(input.shape, 0, space);
  shape.back() = weight[0];
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::int64_t places =
        input.shape[space + i] + padding[i] - dilation[i] * (window[i] - 1) - 1;
    call.require(places >= 0 && stride[i] > 0, "the window is larger than the input");
    shape.push_back(places / stride[i] + 1);
  }
  return ValueInfo::tensor(input.dtype, shape);
}

Inferred transposed_convolved(const Call& call) {
  const auto [input, weight, window, space] = operands_of(call);
  const Integers stride = call.integers("stride", window.size(), 1);
  const Integers padding = call.integers("padding", window.size(), 0);
  const Integers added = call.integers("output_padding", window.size(), 0);
  const Integers dilation = call.integers("dilation", window.size(), 1);
  call.require(input.shape[space - 1] == weight[0], "the input's channels are not the weight's");
  Shape shape = part_of(input.shape, 0, space);
  shape.back() = call.product(weight[1], call.integer("groups", 1));
  for (std::size_t i = 0; i < window.size(); ++i) {
    shape.push_back((input.shape[space + i] - 1) * stride[i] - 2 * padding[i] +
                    dilation[i] * (window[i] - 1) + added[i] + 1);
    call.require(shape.back() >= 0, "the padding removes more than there is");
  }
  return ValueInfo::tensor(input.dtype, shape);
}

struct PoolWindow {
  std::int64_t size, stride, padding, dilation;
  bool ceil_mode;
};

/// The number of windows. In ceil mode the last one may reach over the edge, but begins before the
/// padding behind the input.
std::int64_t windows(const Call& call, std::int64_t input, const PoolWindow& window) {
  call.require(window.stride > 0, "the stride is not positive");
  const std::int64_t left = input + 2 * window.padding - window.dilation * (window.size - 1) - 1;
  call.require(left >= 0 || window.ceil_mode, "the window is larger than the input");
  const std::int64_t room = left + (window.ceil_mode ? window.stride - 1 : 0);
  std::int64_t count = room / window.stride + 1;
  if (window.ceil_mode && (count - 1) * window.stride >= input + window.padding) --count;
  call.require(room >= 0 && count > 0, "the window is larger than the input");
  return count;
}

std::size_t space_of(const Call& call) {
  const auto count = space_dims(call.op());
  call.require(count.has_value(), "it names no number of dimensions");
  return *count;
}

ValueInfo pooled_input(const Call& call) {
  ValueInfo result = call.input();
  const std::size_t count = space_of(call);
  const std::size_t space = first_of_space(call, result.shape, count);
  const Integers size = call.integers("kernel_size", count, 1);
  const Integers padding = call.integers("padding", count, 0);
  const Integers dilation = call.integers("dilation", count, 1);
  const Integers stride =
      call.integers("stride").empty() ? size : call.integers("stride", count, 1);
  const bool ceil_mode = call.truth("ceil_mode", false);
  for (std::size_t i = 0; i < count; ++i)
    result.shape[space + i] = windows(call, result.shape[space + i],
                                      {size[i], stride[i], padding[i], dilation[i], ceil_mode});
  return result;
}

ValueInfo with_indices(const ValueInfo& values) {
  return tuple_info({values, ValueInfo::tensor(DType::int64, values.shape)});
}

Inferred pooled(const Call& call) { return pooled_input(call); }
Inferred pooled_with_indices(const Call& call) { return with_indices(pooled_input(call)); }

ValueInfo adaptively_pooled(const Call& call) {
  ValueInfo result = call.input();
  const std::size_t count = space_of(call);
  const std::size_t space = first_of_space(call, result.shape, count);
  const Integers size = call.integers("output_size", count, 1);
  for (std::size_t i = 0; i < count; ++i) result.shape[space + i] = size[i];
  return result;
}

Inferred adaptive_mean(const Call& call) { return adaptively_pooled(call); }
Inferred adaptive_maximum(const Call& call) { return with_indices(adaptively_pooled(call)); }

/// The output size, or each size times its factor, rounded down.
Inferred resampled(const Call& call) {
  ValueInfo result = call.input();
  const std::size_t count = space_of(call);
  call.require(result.shape.size() == count + 2, "it takes [N, C, space...]");
  const bool sized = !call.integers("output_size").empty();
  const Integers sizes = call.integers("output_size", count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto places = static_cast<double>(result.shape[2 + i]);
    const double scaled =
        sized ? static_cast<double>(sizes[i]) : places * call.number_at("scale_factors", i);
    call.require(scaled >= 1 && scaled < most_places, "the result would be empty or too large");
    result.shape[2 + i] = static_cast<std::int64_t>(scaled);
  }
  return result;
}

/// [.., C r^2, H, W] to [.., C, H r, W r].
Inferred channels_to_space(const Call& call) {
  ValueInfo result = call.input();
  const std::int64_t factor = call.integer("upscale_factor", 1);
  const std::size_t rank = result.shape.size();
  call.require(rank > 2 && factor > 0 && factor < most_factor &&
                   result.shape[rank - 3] % (factor * factor) == 0,
               "the factor does not divide the channels");
  result.shape[rank - 3] /= factor * factor;
  for (const std::size_t dim : {rank - 2, rank - 1})
    result.shape[dim] = call.product(result.shape[dim], factor);
  return result;
}

/// [.., C, H r, W r] to [.., C r^2, H, W].
Inferred space_to_channels(const Call& call) {
  ValueInfo result = call.input();
  const std::int64_t factor = call.integer("downscale_factor", 1);
  const std::size_t rank = result.shape.size();
  call.require(rank > 2 && factor > 0 && factor < most_factor &&
                   result.shape[rank - 2] % factor == 0 && result.shape[rank - 1] % factor == 0,
               "the factor does not divide the image");
  result.shape[rank - 3] = call.product(result.shape[rank - 3], factor * factor);
  for (const std::size_t dim : {rank - 2, rank - 1}) result.shape[dim] /= factor;
  return result;
}

}  // namespace

std::vector<InferenceRule> window_rules() {
  return {
      {OpFamily::convolution, convolved},
      {OpFamily::transposed_convolution, transposed_convolved},
      {OpFamily::pooling, pooled},
      {"aten::max_pool2d_with_indices", pooled_with_indices},
      {OpFamily::adaptive_pooling, adaptive_mean},
      {"aten::adaptive_max_pool1d", adaptive_maximum},
      {"aten::adaptive_max_pool2d", adaptive_maximum},
      {"aten::adaptive_max_pool3d", adaptive_maximum},
      {OpFamily::resampling, resampled},
      {"aten::conv3d", convolved},
      {"aten::conv_transpose3d", transposed_convolved},
      {"aten::avg_pool3d", pooled},
      {"aten::max_pool3d", pooled},
      {"aten::adaptive_avg_pool3d", adaptive_mean},
      {"aten::upsample_nearest1d", resampled},
      {"aten::upsample_nearest3d", resampled},
      {"aten::upsample_linear1d", resampled},
      {"aten::upsample_trilinear3d", resampled},
      {"aten::upsample_bicubic2d", resampled},
      {"aten::pixel_shuffle", channels_to_space},
      {"aten::pixel_unshuffle", space_to_channels},
  };
}

}  // namespace mase::ir
