// SPDX-License-Identifier: Apache-2.0
// Op rows of activations: elementwise functions that exist as torch.nn modules too, and softmax.
#include "ir/op_rows.hpp"

namespace mase::ir {

using enum MaseType;

namespace {

/// `NAME(input, <own>..., inplace=False)` in torch.nn.functional.
PythonSignature in_python(const PythonSignature& own = {}) {
  PythonSignature signature{required("input", "self")};
  signature.insert(signature.end(), own.begin(), own.end());
  signature.push_back(optional("inplace", "", false));
  return signature;
}

PythonSignature softmax_signature() {
  return {required("input", "self"), optional("dim", "dim", Value()),
          optional("_stacklevel", "", 3), optional("dtype", "dtype", Value())};
}

/// An activation; `settings` are the operator's arguments besides the input.
OpRow activation(std::string_view name, CallRow call, LayerRow module, std::string_view doc,
                 const std::vector<std::string_view>& settings = {}) {
  return {.name = name,
          .family = OpFamily::unary,
          .type = module_related_func,
          .calls = {std::move(call)},
          .modules = {module},
          .args = self_and(settings),
          .quantizable = true,
          .doc = doc};
}

/// An activation that is a builtin when it is called.
OpRow builtin(OpRow row) {
  row.type = builtin_func;
  return row;
}

}  // namespace

std::vector<OpRow> activation_rows() {
  return {
      activation("relu", function("aten::relu", "torch.nn.functional.relu", in_python()),
                 layer("torch.nn.modules.activation.ReLU"), "Negative values become zero."),
      activation("relu6", function("aten::relu6", "torch.nn.functional.relu6", in_python()),
                 layer("torch.nn.modules.activation.ReLU6"), "Clamp to 0 .. 6."),
      activation("hardtanh",
                 function("aten::hardtanh", "torch.nn.functional.hardtanh",
                          in_python({optional("min_val", "min_val", -1.0),
                                     optional("max_val", "max_val", 1.0)})),
                 layer("torch.nn.modules.activation.Hardtanh"), "Clamp to a fixed range.",
                 {"min_val", "max_val"}),
      activation("hardswish",
                 function("aten::hardswish", "torch.nn.functional.hardswish", in_python()),
                 layer("torch.nn.modules.activation.Hardswish"), "Piecewise form of silu."),
      activation("hardsigmoid",
                 function("aten::hardsigmoid", "torch.nn.functional.hardsigmoid", in_python()),
                 layer("torch.nn.modules.activation.Hardsigmoid"), "Piecewise linear sigmoid."),
      activation("leaky_relu",
                 function("aten::leaky_relu", "torch.nn.functional.leaky_relu",
                          in_python({optional("negative_slope", "negative_slope", 0.01)})),
                 layer("torch.nn.modules.activation.LeakyReLU"), "Relu with a slope below zero.",
                 {"negative_slope"}),
      {.name = "prelu",
       .family = OpFamily::channel_activation,
       .type = module_related_func,
       .calls = {function("aten::prelu", "torch.prelu")},
       .modules = {layer("torch.nn.modules.activation.PReLU")},
       .args = {{"self", "data_in"}, {"weight", "weight"}},
       .quantizable = true,
       .doc = "Leaky relu with a learned slope."},
      {.name = "multi_threshold",
       .family = OpFamily::channel_activation,
       .type = module_related_func,
       .calls = {function("mase::multi_threshold", "mase.multi_threshold")},
       .args = {{"self", "data_in"}, {"thresholds", ""}, {"out_scale", ""}, {"out_bias", ""}},
       .quantizable = true,
       .doc = "How many thresholds an element reaches, scaled and shifted."},
      activation("mish", function("aten::mish", "torch.nn.functional.mish", in_python()),
                 layer("torch.nn.modules.activation.Mish"), "x * tanh(softplus(x))."),
      activation("silu", function("aten::silu", "torch.nn.functional.silu", in_python()),
                 layer("torch.nn.modules.activation.SiLU"), "x * sigmoid(x)."),
      activation("selu", function("aten::selu", "torch.nn.functional.selu", in_python()),
                 layer("torch.nn.modules.activation.SELU"), "Scaled exponential linear unit."),
      activation("elu",
                 function("aten::elu", "torch.nn.functional.elu",
                          in_python({optional("alpha", "alpha", 1.0)})),
                 layer("torch.nn.modules.activation.ELU"), "Exponential linear unit.",
                 {"alpha", "scale", "input_scale"}),
      activation("celu",
                 function("aten::celu", "torch.nn.functional.celu",
                          in_python({optional("alpha", "alpha", 1.0)})),
                 layer("torch.nn.modules.activation.CELU"), "Continuously differentiable elu.",
                 {"alpha"}),
      activation("softplus", function("aten::softplus", "torch._C._nn.softplus"),
                 layer("torch.nn.modules.activation.Softplus"), "log(1 + exp(x)).",
                 {"beta", "threshold"}),
      activation("softsign", function("mase::softsign", "torch.nn.functional.softsign"),
                 layer("torch.nn.modules.activation.Softsign"),
                 "x / (1 + |x|); it has no ATen operator."),
      activation("hardshrink", function("aten::hardshrink", "torch.hardshrink"),
                 layer("torch.nn.modules.activation.Hardshrink"), "Small values become zero.",
                 {"lambd"}),
      activation("softshrink", function("aten::softshrink", "torch._C._nn.softshrink"),
                 layer("torch.nn.modules.activation.Softshrink"), "Values move towards zero.",
                 {"lambd"}),
      activation("logsigmoid", function("aten::log_sigmoid", "torch._C._nn.log_sigmoid"),
                 layer("torch.nn.modules.activation.LogSigmoid"), "log(sigmoid(x))."),
      builtin(activation("sigmoid", function("aten::sigmoid", "torch.sigmoid"),
                         layer("torch.nn.modules.activation.Sigmoid"), "1 / (1 + exp(-x)).")),
      builtin(activation("tanh", function("aten::tanh", "torch.tanh"),
                         layer("torch.nn.modules.activation.Tanh"), "Hyperbolic tangent.")),
      builtin(activation("gelu", function("aten::gelu", "torch._C._nn.gelu"),
                         layer("torch.nn.modules.activation.GELU"), "Gaussian error linear unit.",
                         {"approximate"})),
      {.name = "softmax",
       .family = OpFamily::softmax,
       .type = builtin_func,
       .calls = {function("aten::softmax", "torch.nn.functional.softmax", softmax_signature())},
       .modules = {layer("torch.nn.modules.activation.Softmax")},
       .args = self_and({"dim", "dtype"}),
       .quantizable = true,
       .doc = "Exponentials divided by their sum along a dimension."},
      {.name = "log_softmax",
       .family = OpFamily::softmax,
       .type = builtin_func,
       .calls = {function("aten::log_softmax", "torch.nn.functional.log_softmax",
                          softmax_signature())},
       .modules = {layer("torch.nn.modules.activation.LogSoftmax")},
       .args = self_and({"dim", "dtype"}),
       .quantizable = true,
       .doc = "Logarithm of softmax."},
      {.name = "identity",
       .family = OpFamily::copy,
       .type = module_related_func,
       .calls = {function("mase::identity", "mase.identity")},
       .modules = {layer("torch.nn.modules.linear.Identity")},
       .args = self_and({}),
       .doc = "The input itself."},
  };
}

}  // namespace mase::ir
