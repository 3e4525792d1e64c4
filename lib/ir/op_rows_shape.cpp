// SPDX-License-Identifier: Apache-2.0
// Op rows of shapes, memory and constants: ops that only move, choose or make values.
#include "ir/op_rows.hpp"

namespace mase::ir {

using enum MaseType;

namespace {

/// An op of one tensor.
OpRow of_tensor(std::string_view name, OpFamily family, CallRow call,
                const std::vector<std::string_view>& arguments, std::string_view doc) {
  return {.name = name,
          .family = family,
          .type = implicit_func,
          .calls = {std::move(call)},
          .args = self_and(arguments),
          .doc = doc};
}

PythonSignature pad_signature() {
  return {required("input", "self"), required("pad", "pad"), optional("mode", "mode", "constant"),
          optional("value", "value", Value())};
}

std::vector<OpRow> reshapes() {
  return {
      of_tensor("size", OpFamily::size, method("aten::size", "size"), {"dim"},
                "The shape, or one dimension of it."),
      of_tensor("dim", OpFamily::host_value, method("aten::dim", "dim"), {},
                "The number of dimensions."),
      of_tensor("numel", OpFamily::host_value, method("aten::numel", "numel"), {},
                "The number of elements."),
      of_tensor("view", OpFamily::reshape, variadic_method("aten::view", "view"), {"size", "dtype"},
                "The same data, reshaped."),
      of_tensor("reshape", OpFamily::reshape, variadic_method("aten::reshape", "reshape"),
                {"shape"}, "Another shape."),
      {.name = "flatten",
       .family = OpFamily::reshape,
       .type = implicit_func,
       .calls = {function("aten::flatten", "torch.flatten")},
       .modules = {layer("torch.nn.modules.flatten.Flatten")},
       .args = self_and({"start_dim", "end_dim"}),
       .doc = "Several dimensions as one."},
      of_tensor("unflatten", OpFamily::reshape, method("aten::unflatten", "unflatten"),
                {"dim", "sizes"}, "One dimension as several."),
      of_tensor("squeeze", OpFamily::reshape, method("aten::squeeze", "squeeze"), {"dim"},
                "Without dimensions of 1."),
      of_tensor("unsqueeze", OpFamily::reshape, method("aten::unsqueeze", "unsqueeze"), {"dim"},
                "A new dimension of 1."),
      of_tensor("transpose", OpFamily::transpose, method("aten::transpose", "transpose"),
                {"dim0", "dim1"}, "Two dimensions swapped."),
      of_tensor("t", OpFamily::transpose, method("aten::t", "t"), {}, "A matrix transposed."),
      of_tensor("permute", OpFamily::permute, variadic_method("aten::permute", "permute"), {"dims"},
                "Dimensions reordered."),
      of_tensor("contiguous", OpFamily::copy, method("aten::contiguous", "contiguous"),
                {"memory_format"}, "The same values, in order in memory."),
      of_tensor("clone", OpFamily::copy, method("aten::clone", "clone"), {"memory_format"},
                "A copy."),
      of_tensor("detach", OpFamily::copy, method("aten::detach", "detach"), {},
                "The same values without gradient."),
      of_tensor("expand", OpFamily::expand, variadic_method("aten::expand", "expand"),
                {"size", "implicit"}, "Dimensions of 1 repeated."),
      of_tensor("repeat", OpFamily::movement, variadic_method("aten::repeat", "repeat"),
                {"repeats"}, "The tensor repeated."),
      of_tensor("tile", OpFamily::movement, function("aten::tile", "torch.tile"), {"dims"},
                "The tensor repeated."),
      of_tensor("flip", OpFamily::movement, method("aten::flip", "flip"), {"dims"},
                "Reversed along dimensions."),
      of_tensor("roll", OpFamily::movement, function("aten::roll", "torch.roll"),
                {"shifts", "dims"}, "Rotated."),
      {.name = "pad",
       .family = OpFamily::pad,
       .type = implicit_func,
       .calls = {function("aten::pad", "torch.nn.functional.pad", pad_signature())},
       .args = self_and({"pad", "mode", "value"}),
       .doc = "Values around the edges."},
  };
}

std::vector<OpRow> choices() {
  const std::vector<ArgRow> tensors{{"tensors", "data_in"}, {"dim", ""}};
  return {
      {.name = "getitem",
       .family = OpFamily::movement,
       .type = builtin_func,
       .calls = {function("mase::getitem", "_operator.getitem")},
       .args = {{"value", "data_in"}, {"index", ""}},
       .doc = "Python indexing of a tensor or container."},
      {.name = "cat",
       .family = OpFamily::concatenation,
       .type = builtin_func,  // as the reference's lab sheet has it; its API calls it implicit
       .calls = {function("aten::cat", "torch.cat"), function("aten::concat", "torch.concat")},
       .args = tensors,
       .doc = "Tensors one after the other."},
      {.name = "stack",
       .family = OpFamily::movement,
       .type = implicit_func,
       .calls = {function("aten::stack", "torch.stack")},
       .args = tensors,
       .doc = "Tensors along a new dimension."},
      of_tensor("chunk", OpFamily::movement, function("aten::chunk", "torch.chunk"),
                {"chunks", "dim"}, "A tensor in so many parts."),
      {.name = "split",
       .family = OpFamily::movement,
       .type = implicit_func,
       .calls = {function("aten::split", "torch.functional.split"),
                 function("aten::split_with_sizes", "torch.split_with_sizes")},
       .args = {{"self", "data_in"}, {"split_size", ""}, {"split_sizes", ""}, {"dim", ""}},
       .doc = "A tensor in parts of a size."},
      of_tensor("unbind", OpFamily::movement, method("aten::unbind", "unbind"), {"dim"},
                "A tensor as a list of slices."),
      of_tensor("slice", OpFamily::movement, method("aten::slice", "slice"),
                {"dim", "start", "end", "step"}, "A range along a dimension."),
      of_tensor("select", OpFamily::movement, method("aten::select", "select"), {"dim", "index"},
                "One place along a dimension."),
      of_tensor("narrow", OpFamily::movement, method("aten::narrow", "narrow"),
                {"dim", "start", "length"}, "A range along a dimension."),
      of_tensor("index", OpFamily::movement, method("aten::index", "index"), {"indices"},
                "Indexing by tensors."),
      of_tensor("gather", OpFamily::movement, method("aten::gather", "gather"),
                {"dim", "index", "sparse_grad"}, "Values at places along a dimension."),
      of_tensor("index_select", OpFamily::movement, method("aten::index_select", "index_select"),
                {"dim", "index"}, "Chosen places along a dimension."),
      {.name = "where",
       .family = OpFamily::elementwise,
       .type = implicit_func,
       .calls = {function("aten::where", "torch.where")},
       .args = {{"condition", ""}, {"self", "data_in"}, {"other", "data_in"}},
       .doc = "One of two values by a condition."},
      of_tensor("masked_fill", OpFamily::elementwise, method("aten::masked_fill", "masked_fill"),
                {"mask", "value"}, "A constant where a mask is true."),
      of_tensor("clamp", OpFamily::elementwise, function("aten::clamp", "torch.clamp"),
                {"min", "max"}, "Limited values."),
      of_tensor("clamp_min", OpFamily::elementwise, function("aten::clamp_min", "torch.clamp_min"),
                {"min"}, "Values limited below."),
      of_tensor("clamp_max", OpFamily::elementwise, function("aten::clamp_max", "torch.clamp_max"),
                {"max"}, "Values limited above."),
      of_tensor("triu", OpFamily::movement, function("aten::triu", "torch.triu"), {"diagonal"},
                "Upper triangle."),
      of_tensor("tril", OpFamily::movement, function("aten::tril", "torch.tril"), {"diagonal"},
                "Lower triangle."),
  };
}

std::vector<OpRow> constants() {
  return {
      of_tensor("to", OpFamily::copy, method("aten::to", "to"),
                {"other", "device", "dtype", "non_blocking", "copy", "memory_format"},
                "Another type or device."),
      {.name = "type_as",
       .family = OpFamily::copy,
       .type = implicit_func,
       .calls = {method("aten::type_as", "type_as")},
       .args = {{"self", "data_in"}, {"other", ""}},
       .doc = "Another tensor's type."},
      {.name = "arange",
       .family = OpFamily::creation,
       .type = builtin_func,
       .calls = {function("aten::arange", "torch.arange")},
       .args = configuration({"start", "end", "step", "dtype", "layout", "device", "pin_memory"}),
       .doc = "Numbers at equal steps."},
      {.name = "range",
       .family = OpFamily::creation,
       .type = builtin_func,
       .calls = {function("aten::range", "torch.range")},
       .args = configuration({"start", "end", "step", "dtype", "layout", "device", "pin_memory"}),
       .doc = "Numbers at equal steps, the end included."},
      {.name = "zeros",
       .family = OpFamily::creation,
       .type = builtin_func,
       .calls = {function("aten::zeros", "torch.zeros")},
       .args = configuration({"size", "dtype", "layout", "device", "pin_memory"}),
       .doc = "All zeros."},
      {.name = "ones",
       .family = OpFamily::creation,
       .type = implicit_func,
       .calls = {function("aten::ones", "torch.ones")},
       .args = configuration({"size", "dtype", "layout", "device", "pin_memory"}),
       .doc = "All ones."},
      {.name = "full",
       .family = OpFamily::creation,
       .type = implicit_func,
       .calls = {function("aten::full", "torch.full")},
       .args = configuration({"size", "fill_value", "dtype", "layout", "device", "pin_memory"}),
       .doc = "One value everywhere."},
      of_tensor("zeros_like", OpFamily::copy, function("aten::zeros_like", "torch.zeros_like"),
                {"dtype", "layout", "device", "pin_memory", "memory_format"}, "Zeros of a shape."),
      of_tensor("ones_like", OpFamily::copy, function("aten::ones_like", "torch.ones_like"),
                {"dtype", "layout", "device", "pin_memory", "memory_format"}, "Ones of a shape."),
      {.name = "tensor",
       .family = OpFamily::creation,
       .type = implicit_func,
       .calls = {function("aten::tensor", "torch.tensor")},
       .args = configuration({"data", "dtype", "device", "requires_grad"}),
       .doc = "A constant tensor."},
      {.name = "int",
       .family = OpFamily::host_value,
       .type = implicit_func,
       .calls = {function("aten::Int", "builtins.int")},
       .args = configuration({"a"}),
       .doc = "A Python integer."},
      {.name = "float",
       .family = OpFamily::host_value,
       .type = implicit_func,
       .calls = {function("aten::Float", "builtins.float")},
       .args = configuration({"a"}),
       .doc = "A Python number."},
      {.name = "bool",
       .family = OpFamily::host_value,
       .type = implicit_func,
       .calls = {function("aten::Bool", "builtins.bool")},
       .args = configuration({"a"}),
       .doc = "A Python truth value."},
      {.name = "len",
       .family = OpFamily::host_value,
       .type = implicit_func,
       .calls = {function("aten::len", "builtins.len")},
       .args = configuration({"a"}),
       .doc = "The number of elements."},
  };
}

}  // namespace

std::vector<OpRow> shape_rows() {
  std::vector<OpRow> rows;
  for (const auto& part : {reshapes(), choices(), constants()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace mase::ir
