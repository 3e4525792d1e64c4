// SPDX-License-Identifier: Apache-2.0
// Decides which tensors the kernels of mase normalise, and whether these give LibTorch's bits.
#include "torch/run/normalise.hpp"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <c10/core/InferenceMode.h>

#include <vector>

#include "base/random.hpp"
#include "torch/run/in_place.hpp"

namespace mase::libtorch {
namespace {

bool is_plain(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.scalar_type() == at::kFloat && tensor.is_contiguous();
}

/// Whether it is undefined, or has one float per channel.
bool is_per_channel(const at::Tensor& tensor, std::int64_t channels) {
  return !tensor.defined() || (is_plain(tensor) && tensor.numel() == channels);
}

bool fits(const at::Tensor& input, const NormTensors& norm, const at::Tensor& addend) {
  if (input.dim() < 2 || !is_plain(input) || !norm.mean.defined() || !norm.variance.defined())
    return false;
  for (const at::Tensor& tensor : {norm.weight, norm.bias, norm.mean, norm.variance})
    if (!is_per_channel(tensor, input.size(1))) return false;
  return !addend.defined() || (is_plain(addend) && addend.sizes() == input.sizes());
}

const float* first_float(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<const float*>(tensor.const_data_ptr()) : nullptr;
}

/// Normalises all rows of [rows, channels], or all planes of [images, channels, ...].
void normalise_values(const at::Tensor& input, const NormTensors& norm, const at::Tensor& addend,
                      const Clamp& activation, const at::Tensor& out) {
  const NormKernels& kernels = norm_kernels(simd::best_isa());
  const auto channels = static_cast<std::size_t>(input.size(1));
  const auto count = static_cast<std::size_t>(input.numel());
  if (count == 0) return;
  const std::size_t spans = static_cast<std::size_t>(input.size(0)) * channels;
  std::vector<float> terms(2 * channels);
  float *const alpha = terms.data(), *const beta = alpha + channels;
  kernels.terms({first_float(norm.weight), first_float(norm.bias), first_float(norm.mean),
                 first_float(norm.variance), static_cast<float>(norm.epsilon)},
                channels, alpha, beta);
  const bool rows = count == spans;
  const std::size_t length = rows ? channels : count / spans;
  const float *const in = first_float(input), *const plus = first_float(addend);
  float* const to = static_cast<float*>(out.data_ptr());
  for (std::size_t at = 0, c = 0; at < count; at += length, c = c + 1 == channels ? 0 : c + 1)
    kernels.span({in + at, plus ? plus + at : nullptr, alpha + (rows ? 0 : c),
                  beta + (rows ? 0 : c), length, rows},
                 activation, to + at);
}

/// Random normal numbers, whose products need rounding.
at::Tensor probe_values(std::vector<std::int64_t> shape, std::uint64_t seed) {
  at::Tensor values = at::empty(shape, at::kFloat);
  Random random(seed);
  float* const to = values.data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) to[i] = static_cast<float>(random.normal());
  return values;
}

bool probe(const std::vector<std::int64_t>& shape) {
  const std::vector<std::int64_t> channels{shape[1]};
  const at::Tensor input = probe_values(shape, 1);
  const NormTensors norm{probe_values(channels, 2), probe_values(channels, 3),
                         probe_values(channels, 4), probe_values(channels, 5).square_(), 1e-5};
  const at::Tensor out = at::empty_like(input);
  normalise_values(input, norm, {}, {}, out);
  return at::equal(out, at::batch_norm(input, norm.weight, norm.bias, norm.mean, norm.variance,
                                       false, 0, norm.epsilon, false));
}

}  // namespace

bool normalises_as_libtorch() {
  static const bool found = [] {
    const c10::InferenceMode guard;
    // Covers whole vectors and remainders, over positions and over channels.
    return probe({2, 37, 3, 13}) && probe({5, 37});
  }();
  return found;
}

at::Tensor normalise(const at::Tensor& input, const NormTensors& norm, const at::Tensor& addend,
                     const Clamp& activation) {
  if (!fits(input, norm, addend) || !normalises_as_libtorch()) return {};
  const at::Tensor out = is_exclusive(input) ? input : at::empty_like(input);
  normalise_values(input, norm, addend, activation, out);
  return out;
}

}  // namespace mase::libtorch
