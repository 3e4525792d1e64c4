// SPDX-License-Identifier: Apache-2.0
// The straight-through quantizer. Forward, it runs the format's kernel, or its operators on devices
// that have none; backward, the gradient is the identity, clipped, or also learns the step.
#include "torch/run/quantize_op.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <numbers>
#include <vector>

#include "base/error.hpp"
#include "torch/run/device_quantizer.hpp"
#include "torch/run/kernel_quantizer.hpp"

namespace mase::libtorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::span<const float> floats(const at::Tensor& tensor) {
  return {static_cast<const float*>(tensor.data_ptr()), static_cast<std::size_t>(tensor.numel())};
}

std::span<float> mutable_floats(at::Tensor& tensor) {
  return {static_cast<float*>(tensor.data_ptr()), static_cast<std::size_t>(tensor.numel())};
}

Shape shape_of(const at::Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

at::Tensor quantize_values(const at::Tensor& tensor, const formats::Format& format) {
  const at::Tensor in = tensor.contiguous();
  at::Tensor out = at::empty_like(in);
  if (in.is_cpu())
    quantize_into(in, format, out);
  else if (!quantize_by_kernel(in, format, out))
    out = format.is_stochastic()  // no operators make the random numbers
              ? quantize_values(in.cpu(), format).to(in.device())
              : quantize_by_operators(in, format);
  return out;
}

/// Adds the second half to the first until one number is left: any device can keep this order.
double sum_of_halves(std::span<double> parts) {
  if (parts.empty()) return 0;
  while (parts.size() > 1) {
    const std::size_t half = (parts.size() + 1) / 2;
    for (std::size_t i = half; i < parts.size(); ++i) parts[i - half] += parts[i];
    parts = parts.first(half);
  }
  return parts[0];
}

/// A format that lives as long as the autograd node that needs it.
struct HeldFormat : torch::CustomClassHolder {
  explicit HeldFormat(formats::Format held) : format(std::move(held)) {}
  formats::Format format;
};

void hold(AutogradContext* context, const formats::Format& format) {
  context->saved_data["format"] =
      c10::IValue::make_capsule(c10::make_intrusive<HeldFormat>(format));
}

const formats::Format& held_format(AutogradContext* context) {
  return static_cast<HeldFormat*>(context->saved_data["format"].toCapsule().get())->format;
}

/// Saves nothing: the gradient of the output is the gradient of the input.
class StraightThrough : public torch::autograd::Function<StraightThrough> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& tensor,
                            const formats::Format& format) {
    return quantize_values(tensor, format);
  }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {gradients[0], at::Tensor()};
  }
};

/// The gradient is zero where the input saturates.
class Clipped : public torch::autograd::Function<Clipped> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tensor,
                            const formats::Format& format) {
    context->save_for_backward({tensor});
    hold(context, format);
    return quantize_values(tensor, format);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor raw = context->get_saved_variables()[0].contiguous();
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor into = at::empty_like(gradient);
    clip_gradient(held_format(context), raw, gradient, into);
    return {into, at::Tensor()};
  }
};

/// The step also gets a gradient.
class Learned : public torch::autograd::Function<Learned> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tensor,
                            const formats::Format& format, const at::Tensor&) {
    const at::Tensor out = quantize_values(tensor, format);
    context->save_for_backward({tensor, out});
    hold(context, format);
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor into = at::empty_like(gradient);
    const at::Tensor raw = saved[0].contiguous();
    const formats::Format& format = held_format(context);
    const at::Tensor step =
        raw.is_cpu()
            ? at::scalar_tensor(step_gradient(format, raw, saved[1], gradient, into), at::kFloat)
            : step_gradient_by_operators(format, raw, saved[1], gradient, into).to(at::kFloat);
    return {into, at::Tensor(), step};
  }
};

/// Passes values unchanged, and rounds gradients to their format.
class RoundedGradient : public torch::autograd::Function<RoundedGradient> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tensor,
                            const formats::Format& format) {
    hold(context, format);
    return tensor.view_as(tensor);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor into = at::empty_like(gradient);
    quantize_gradient_into(gradient, held_format(context), into);
    return {into, at::Tensor()};
  }
};

}  // namespace

at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format) {
  if (tensor.scalar_type() != at::kFloat) return tensor;
  if (!c10::GradMode::is_enabled() || !tensor.requires_grad())
    return quantize_values(tensor, format);
  return format.clips_gradient() ? Clipped::apply(tensor, format)
                                 : StraightThrough::apply(tensor, format);
}

at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format,
                    const at::Tensor& log2_step) {
  const bool learn =
      log2_step.defined() && c10::GradMode::is_enabled() && tensor.scalar_type() == at::kFloat;
  return learn ? Learned::apply(tensor, format, log2_step) : quantize(tensor, format);
}

at::Tensor round_gradient(const at::Tensor& tensor, const formats::Format& format) {
  const bool flows =
      c10::GradMode::is_enabled() && tensor.requires_grad() && tensor.scalar_type() == at::kFloat;
  return flows ? RoundedGradient::apply(tensor, format) : tensor;
}

void quantize_into(const at::Tensor& in, const formats::Format& format, at::Tensor& out) {
  if (!in.is_cpu()) {
    const c10::NoGradGuard guard;
    out.copy_(quantize_values(in, format));
    return;
  }
  format.quantize(floats(in), mutable_floats(out), shape_of(in));
}

void quantize_gradient_into(const at::Tensor& gradient, const formats::Format& format,
                            at::Tensor& out) {
  try {
    quantize_into(gradient, format, out);
  } catch (const Error& error) {
    throw Error(error.fault(),
                "gradient_format = '" + std::string(format.name()) + "': " + error.what());
  }
}

void clip_gradient(const formats::Format& format, const at::Tensor& raw, const at::Tensor& gradient,
                   at::Tensor& into) {
  thread_local std::vector<std::uint8_t> mask;  // scratch memory that is reused
  const at::Tensor host = raw.cpu();            // the tensor itself, unless it is elsewhere
  mask.resize(static_cast<std::size_t>(host.numel()));
  format.saturates(floats(host), mask, shape_of(host));
  if (!raw.is_cpu()) {
    into.copy_(gradient);  // nothing if they are the same
    into.masked_fill_(
        at::from_blob(mask.data(), raw.sizes(), at::kByte).to(at::kBool).to(raw.device()), 0.0);
    return;
  }
  const auto from = floats(gradient);
  const auto to = mutable_floats(into);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = mask[i] ? 0.0f : from[i];
}

double step_gradient(const formats::Format& format, const at::Tensor& raw,
                     const at::Tensor& quantized, const at::Tensor& gradient, at::Tensor& into) {
  const auto x = floats(raw), q = floats(quantized), from = floats(gradient);
  const auto to = mutable_floats(into);
  const formats::Range range = format.range();
  const auto low = static_cast<float>(range.low), high = static_cast<float>(range.high);
  thread_local std::vector<double> parts;  // scratch memory that is reused
  parts.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool saturates = x[i] < low || x[i] > high;
    const float moved = saturates ? q[i] : q[i] - x[i];
    parts[i] = static_cast<double>(from[i] * moved);
    to[i] = saturates ? 0.0f : from[i];
  }
  return sum_of_halves(parts) * std::numbers::ln2;
}

}  // namespace mase::libtorch
