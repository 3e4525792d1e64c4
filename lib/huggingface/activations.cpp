// SPDX-License-Identifier: Apache-2.0
// The activation functions that config.json names (transformers/activations.py, ACT2CLS).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.hpp"
#include "huggingface/builder.hpp"

namespace mase::huggingface {
namespace {

/// A layer of torch.nn where it has an op, else a class of transformers with this function.
struct ActivationRow {
  std::string_view name, class_name, op;
  Ref (*build)(Builder&, const Ref&);
};

Ref gelu(Builder& b, const Ref& x) {
  return b.function("torch._C._nn.gelu", "aten::gelu", {{"self", x}});
}

Ref gelu_tanh(Builder& b, const Ref& x) {
  return b.function("torch._C._nn.gelu", "aten::gelu", {{"self", x}, {"approximate", "tanh"}});
}

/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
Ref gelu_new(Builder& b, const Ref& x) {
  const Ref half = b.multiply(x, 0.5);
  const Ref cubic = b.add(x, b.multiply(b.power(x, 3.0), 0.044715));
  const Ref inner = b.unary("tanh", b.multiply(cubic, std::sqrt(2.0 / std::numbers::pi)));
  return b.multiply(half, b.add(inner, 1.0));
}

/// x sigmoid(1.702 x)
Ref quick_gelu(Builder& b, const Ref& x) {
  return b.multiply(x, b.unary("sigmoid", b.multiply(x, 1.702)));
}

Ref silu(Builder& b, const Ref& x) {
  return b.function("torch.nn.functional.silu", "aten::silu", {{"self", x}});
}

constexpr ActivationRow activation_rows[] = {
    {"gelu", "GELUActivation", "", gelu},
    {"gelu_pytorch_tanh", "GELUTanh", "", gelu_tanh},
    {"gelu_new", "NewGELUActivation", "", gelu_new},
    {"quick_gelu", "QuickGELUActivation", "", quick_gelu},
    {"silu", "SiLUActivation", "", silu},
    {"swish", "activation.SiLU", "aten::silu", nullptr},
    {"relu", "activation.ReLU", "aten::relu", nullptr},
    {"sigmoid", "activation.Sigmoid", "aten::sigmoid", nullptr},
    {"tanh", "activation.Tanh", "aten::tanh", nullptr},
};

}  // namespace

Ref Builder::activation(const std::string& path, const std::string& key, const std::string& usual,
                        const Ref& x) {
  const auto row = std::ranges::find(activation_rows, std::string_view(config_.text(key, usual)),
                                     &ActivationRow::name);
  if (row == std::end(activation_rows)) {
    std::vector<std::string> names;
    for (const ActivationRow& each : activation_rows) names.emplace_back(each.name);
    config_.refuse(key, join(names, ", "));
  }
  if (!row->build) return layer(path, std::string(row->class_name), std::string(row->op), x);
  foreign(path, "transformers.activations." + std::string(row->class_name));
  return row->build(*this, x);
}

}  // namespace mase::huggingface
