// Op rows of shapes, memory and constants: ops that only move, choose or make values.
#include "ir/op_rows.hpp"

namespace mase::ir {

using enum MaseType;

namespace {

std::vector<ArgRow> data_with(std::vector<std::string_view> configuration) {
  std::vector<ArgRow> args{{"self", "data_in"}};
  for (std::string_view name : configuration) args.push_back({name, ""});
  return args;
}

std::vector<ArgRow> config(std::vector<std::string_view> names) {
  std::vector<ArgRow> args;
  for (std::string_view name : names) args.push_back({name, ""});
  return args;
}

OpSource shaping(std::string_view name, CallSource call, std::vector<std::string_view> arguments,
                 std::string_view doc) {
  return {name, implicit_func, {call}, data_with(std::move(arguments)), false, doc};
}

std::vector<OpSource> reshapes() {
  return {
      shaping("size", method("aten::size", "size"), {"dim"}, "The shape, or one dimension of it."),
      shaping("dim", method("aten::dim", "dim"), {}, "The number of dimensions."),
      shaping("numel", method("aten::numel", "numel"), {}, "The number of elements."),
      shaping("view", method("aten::view", "view"), {"size", "dtype"}, "The same data, reshaped."),
      shaping("reshape", method("aten::reshape", "reshape"), {"shape"}, "Another shape."),
      shaping("flatten", function("aten::flatten", "torch.flatten"), {"start_dim", "end_dim"},
              "Several dimensions as one."),
      shaping("unflatten", method("aten::unflatten", "unflatten"), {"dim", "sizes"},
              "One dimension as several."),
      shaping("squeeze", method("aten::squeeze", "squeeze"), {"dim"}, "Without dimensions of 1."),
      shaping("unsqueeze", method("aten::unsqueeze", "unsqueeze"), {"dim"},
              "A new dimension of 1."),
      shaping("transpose", method("aten::transpose", "transpose"), {"dim0", "dim1"},
              "Two dimensions swapped."),
      shaping("t", method("aten::t", "t"), {}, "A matrix transposed."),
      shaping("permute", method("aten::permute", "permute"), {"dims"}, "Dimensions reordered."),
      shaping("contiguous", method("aten::contiguous", "contiguous"), {"memory_format"},
              "The same values, in order in memory."),
      shaping("clone", method("aten::clone", "clone"), {"memory_format"}, "A copy."),
      shaping("detach", method("aten::detach", "detach"), {}, "The same values without gradient."),
      shaping("expand", method("aten::expand", "expand"), {"size", "implicit"},
              "Dimensions of 1 repeated."),
      shaping("repeat", method("aten::repeat", "repeat"), {"repeats"}, "The tensor repeated."),
      shaping("tile", function("aten::tile", "torch.tile"), {"dims"}, "The tensor repeated."),
      shaping("flip", method("aten::flip", "flip"), {"dims"}, "Reversed along dimensions."),
      shaping("roll", function("aten::roll", "torch.roll"), {"shifts", "dims"}, "Rotated."),
      shaping("pad", function("aten::pad", "torch.nn.functional.pad"), {"pad", "mode", "value"},
              "Values around the edges."),
  };
}

std::vector<OpSource> choices() {
  const std::vector<ArgRow> tensors{{"tensors", "data_in"}, {"dim", ""}};
  return {
      {"getitem",
       builtin_func,
       {function("mase::getitem", "_operator.getitem")},
       {{"value", "data_in"}, {"index", ""}},
       false,
       "Python indexing of a tensor or container."},
      {"cat",
       implicit_func,
       {function("aten::cat", "torch.cat"), function("aten::concat", "torch.concat")},
       tensors,
       false,
       "Tensors one after the other."},
      {"stack",
       implicit_func,
       {function("aten::stack", "torch.stack")},
       tensors,
       false,
       "Tensors along a new dimension."},
      shaping("chunk", function("aten::chunk", "torch.chunk"), {"chunks", "dim"},
              "A tensor in so many parts."),
      {"split",
       implicit_func,
       {function("aten::split", "torch.functional.split"),
        function("aten::split_with_sizes", "torch.split_with_sizes")},
       {{"self", "data_in"}, {"split_size", ""}, {"split_sizes", ""}, {"dim", ""}},
       false,
       "A tensor in parts of a size."},
      shaping("unbind", method("aten::unbind", "unbind"), {"dim"}, "A tensor as a list of slices."),
      shaping("slice", method("aten::slice", "slice"), {"dim", "start", "end", "step"},
              "A range along a dimension."),
      shaping("select", method("aten::select", "select"), {"dim", "index"},
              "One place along a dimension."),
      shaping("narrow", method("aten::narrow", "narrow"), {"dim", "start", "length"},
              "A range along a dimension."),
      shaping("index", method("aten::index", "index"), {"indices"}, "Indexing by tensors."),
      shaping("gather", method("aten::gather", "gather"), {"dim", "index", "sparse_grad"},
              "Values at places along a dimension."),
      shaping("index_select", method("aten::index_select", "index_select"), {"dim", "index"},
              "Chosen places along a dimension."),
      {"where",
       implicit_func,
       {function("aten::where", "torch.where")},
       {{"condition", ""}, {"self", "data_in"}, {"other", "data_in"}},
       false,
       "One of two values by a condition."},
      shaping("masked_fill", method("aten::masked_fill", "masked_fill"), {"mask", "value"},
              "A constant where a mask is true."),
      shaping("clamp", function("aten::clamp", "torch.clamp"), {"min", "max"}, "Limited values."),
      shaping("clamp_min", function("aten::clamp_min", "torch.clamp_min"), {"min"},
              "Values limited below."),
      shaping("clamp_max", function("aten::clamp_max", "torch.clamp_max"), {"max"},
              "Values limited above."),
      shaping("triu", function("aten::triu", "torch.triu"), {"diagonal"}, "Upper triangle."),
      shaping("tril", function("aten::tril", "torch.tril"), {"diagonal"}, "Lower triangle."),
  };
}

std::vector<OpSource> constants() {
  return {
      shaping("to", method("aten::to", "to"),
              {"other", "device", "dtype", "non_blocking", "copy", "memory_format"},
              "Another type or device."),
      {"type_as",
       implicit_func,
       {method("aten::type_as", "type_as")},
       {{"self", "data_in"}, {"other", ""}},
       false,
       "Another tensor's type."},
      {"arange",
       builtin_func,
       {function("aten::arange", "torch.arange")},
       config({"start", "end", "step", "dtype", "layout", "device", "pin_memory"}),
       false,
       "Numbers at equal steps."},
      {"range",
       builtin_func,
       {function("aten::range", "torch.range")},
       config({"start", "end", "step", "dtype", "layout", "device", "pin_memory"}),
       false,
       "Numbers at equal steps, the end included."},
      {"zeros",
       builtin_func,
       {function("aten::zeros", "torch.zeros")},
       config({"size", "dtype", "layout", "device", "pin_memory"}),
       false,
       "All zeros."},
      {"ones",
       implicit_func,
       {function("aten::ones", "torch.ones")},
       config({"size", "dtype", "layout", "device", "pin_memory"}),
       false,
       "All ones."},
      {"full",
       implicit_func,
       {function("aten::full", "torch.full")},
       config({"size", "fill_value", "dtype", "layout", "device", "pin_memory"}),
       false,
       "One value everywhere."},
      shaping("zeros_like", function("aten::zeros_like", "torch.zeros_like"),
              {"dtype", "layout", "device", "pin_memory", "memory_format"}, "Zeros of a shape."),
      shaping("ones_like", function("aten::ones_like", "torch.ones_like"),
              {"dtype", "layout", "device", "pin_memory", "memory_format"}, "Ones of a shape."),
      {"tensor",
       implicit_func,
       {function("aten::tensor", "torch.tensor")},
       config({"data", "dtype", "device", "requires_grad"}),
       false,
       "A constant tensor."},
      {"int",
       implicit_func,
       {function("aten::Int", "builtins.int")},
       config({"a"}),
       false,
       "A Python integer."},
      {"float",
       implicit_func,
       {function("aten::Float", "builtins.float")},
       config({"a"}),
       false,
       "A Python number."},
      {"bool",
       implicit_func,
       {function("aten::Bool", "builtins.bool")},
       config({"a"}),
       false,
       "A Python truth value."},
      {"len",
       implicit_func,
       {function("aten::len", "builtins.len")},
       config({"a"}),
       false,
       "The number of elements."},
  };
}

}  // namespace

std::vector<OpSource> shape_sources() {
  std::vector<OpSource> rows;
  for (const auto& part : {reshapes(), choices(), constants()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace mase::ir
