// The table of Python signatures, as `inspect.signature` gives them for torch 2.13.
#include "ir/fx_signatures.hpp"

#include <map>

namespace mase::ir {
namespace {

using Signature = std::vector<PythonParameter>;

PythonParameter required(std::string_view name, std::string_view aten) {
  return {name, aten, true, Value()};
}
PythonParameter optional(std::string_view name, std::string_view aten, Value fallback) {
  return {name, aten, false, std::move(fallback)};
}

// `activation(input, <own>..., inplace=False)`
Signature activation(std::vector<PythonParameter> own = {}) {
  Signature signature{required("input", "self")};
  signature.insert(signature.end(), own.begin(), own.end());
  signature.push_back(optional("inplace", "", false));
  return signature;
}

Signature softmax() {
  return {required("input", "self"), optional("dim", "dim", Value()),
          optional("_stacklevel", "", 3), optional("dtype", "dtype", Value())};
}

Signature dropout(bool training) {
  return {required("input", "input"), optional("p", "p", 0.5),
          optional("training", "train", training), optional("inplace", "", false)};
}

Signature max_pool(bool indices) {
  return {required("input", "self"),
          required("kernel_size", "kernel_size"),
          optional("stride", "stride", Value()),
          optional("padding", "padding", 0),
          optional("dilation", "dilation", 1),
          optional("ceil_mode", "ceil_mode", false),
          optional("return_indices", "", indices)};
}

Signature adaptive_max_pool() {
  return {required("input", "self"), required("output_size", "output_size"),
          optional("return_indices", "", false)};
}

// `norm(input, <shape>, weight=None, bias=None, eps=1e-5)`
Signature shaped_norm(std::string_view shape) {
  return {required("input", "input"), required(shape, shape), optional("weight", "weight", Value()),
          optional("bias", "bias", Value()), optional("eps", "eps", 1e-5)};
}

Signature batch_norm() {
  return {required("input", "input"),
          required("running_mean", "running_mean"),
          required("running_var", "running_var"),
          optional("weight", "weight", Value()),
          optional("bias", "bias", Value()),
          optional("training", "training", false),
          optional("momentum", "momentum", 0.1),
          optional("eps", "eps", 1e-5)};
}

Signature instance_norm() {
  return {required("input", "input"),
          optional("running_mean", "running_mean", Value()),
          optional("running_var", "running_var", Value()),
          optional("weight", "weight", Value()),
          optional("bias", "bias", Value()),
          optional("use_input_stats", "use_input_stats", true),
          optional("momentum", "momentum", 0.1),
          optional("eps", "eps", 1e-5)};
}

Signature embedding() {
  return {required("input", "indices"),
          required("weight", "weight"),
          optional("padding_idx", "padding_idx", Value()),
          optional("max_norm", "", Value()),
          optional("norm_type", "", 2.0),
          optional("scale_grad_by_freq", "scale_grad_by_freq", false),
          optional("sparse", "sparse", false)};
}

Signature interpolate() {
  return {required("input", "input"),
          optional("size", "output_size", Value()),
          optional("scale_factor", "scale_factors", Value()),
          optional("mode", "", "nearest"),
          optional("align_corners", "", Value()),
          optional("recompute_scale_factor", "", Value()),
          optional("antialias", "", false)};
}

const std::map<std::string_view, Signature>& signatures() {
  static const std::map<std::string_view, Signature> table{
      {"relu", activation()},
      {"relu6", activation()},
      {"silu", activation()},
      {"selu", activation()},
      {"mish", activation()},
      {"hardswish", activation()},
      {"hardsigmoid", activation()},
      {"elu", activation({optional("alpha", "alpha", 1.0)})},
      {"celu", activation({optional("alpha", "alpha", 1.0)})},
      {"leaky_relu", activation({optional("negative_slope", "negative_slope", 0.01)})},
      {"hardtanh",
       activation({optional("min_val", "min_val", -1.0), optional("max_val", "max_val", 1.0)})},
      {"softmax", softmax()},
      {"log_softmax", softmax()},
      {"dropout", dropout(true)},
      {"dropout2d", dropout(true)},
      {"alpha_dropout", dropout(false)},
      {"max_pool1d", max_pool(false)},
      {"max_pool2d", max_pool(false)},
      {"max_pool2d_with_indices", max_pool(true)},
      {"adaptive_avg_pool2d", {required("input", "self"), required("output_size", "output_size")}},
      {"adaptive_max_pool1d", adaptive_max_pool()},
      {"adaptive_max_pool2d", adaptive_max_pool()},
      {"layer_norm", shaped_norm("normalized_shape")},
      {"group_norm", shaped_norm("num_groups")},
      {"rms_norm",
       {required("input", "input"), required("normalized_shape", "normalized_shape"),
        optional("weight", "weight", Value()), optional("eps", "eps", Value())}},
      {"batch_norm", batch_norm()},
      {"instance_norm", instance_norm()},
      {"embedding", embedding()},
      {"interpolate", interpolate()},
      {"pad",
       {required("input", "self"), required("pad", "pad"), optional("mode", "mode", "constant"),
        optional("value", "value", Value())}},
  };
  return table;
}

}  // namespace

const std::vector<PythonParameter>* python_signature(std::string_view target) {
  constexpr std::string_view module = "torch.nn.functional.";
  if (!target.starts_with(module)) return nullptr;
  const auto it = signatures().find(target.substr(module.size()));
  return it == signatures().end() ? nullptr : &it->second;
}

}  // namespace mase::ir
