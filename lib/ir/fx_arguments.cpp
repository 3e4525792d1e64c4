// SPDX-License-Identifier: Apache-2.0
// A node's arguments as torch.fx shows them. The rules were found by observing its traces.
#include <algorithm>
#include <array>

#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

template <std::size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Arguments that Python takes by keyword only.
constexpr std::array<std::string_view, 16> keyword_only{
    "alpha",       "beta",     "dtype",      "layout",        "device",        "pin_memory",
    "approximate", "scale",    "enable_gqa", "memory_format", "requires_grad", "rounding_mode",
    "sparse_grad", "implicit", "copy",       "non_blocking"};

// Sizes per spatial dimension: TorchScript stores [2, 2] where Python has 2.
constexpr std::array<std::string_view, 6> spatial_arguments{
    "kernel_size", "stride", "padding", "dilation", "output_size", "output_padding"};

Value as_written(const Argument& argument) {
  if (!is_one_of(argument.name, spatial_arguments)) return argument.value;
  if (argument.value.kind() != Value::Kind::list || argument.value.items().empty())
    return argument.value;
  const Value::List& sizes = argument.value.items();
  const bool equal = std::ranges::all_of(sizes, [&](const Value& v) { return v == sizes[0]; });
  return equal ? sizes[0] : argument.value;
}

FxArguments by_signature(const Node& node, const PythonSignature& signature) {
  FxArguments shown;
  for (const PythonParameter& parameter : signature) {
    const auto given = std::ranges::find(node.args, parameter.aten, &Argument::name);
    const bool present = !parameter.aten.empty() && given != node.args.end();
    Value value = present ? as_written(*given) : parameter.fallback;
    if (parameter.required)
      shown.args.push_back(std::move(value));
    else
      shown.kwargs.emplace_back(parameter.name, std::move(value));
  }
  return shown;
}

// The place of an argument in the operator's schema; nullopt when the table does not have it.
std::optional<std::size_t> schema_place(const OpRow* row, std::string_view name) {
  if (!row) return std::nullopt;
  const auto it = std::ranges::find(row->args, name, &ArgRow::name);
  if (it == row->args.end()) return std::nullopt;
  return static_cast<std::size_t>(it - row->args.begin());
}

// Arguments by position, in schema order; after one that is left at its default, by keyword.
FxArguments by_schema(const Node& node, const OpRow* row) {
  FxArguments shown;
  bool positional = true;
  std::optional<std::size_t> last;
  for (const Argument& argument : node.args) {
    const auto place = schema_place(row, argument.name);
    if (place && last && *place != *last + 1) positional = false;
    if (place) last = place;
    const bool keyword = is_one_of(argument.name, keyword_only) && !shown.args.empty();
    if (positional && !keyword)
      shown.args.push_back(as_written(argument));
    else
      shown.kwargs.emplace_back(argument.name, as_written(argument));
  }
  return shown;
}

bool is_variadic(std::string_view method) {
  return std::ranges::any_of(
      call_table(), [&](const CallRow& call) { return call.variadic && call.target == method; });
}

void spread_sizes(FxArguments& shown) {
  if (shown.args.size() != 2 || shown.args[1].kind() != Value::Kind::list) return;
  const Value sizes = shown.args[1];
  shown.args.pop_back();
  shown.args.insert(shown.args.end(), sizes.items().begin(), sizes.items().end());
}

}  // namespace

FxArguments fx_arguments(const Graph& graph, const Node& node) {
  const bool function = node.kind == NodeKind::call_function;
  const bool method = node.kind == NodeKind::call_method;
  if (!function && !method) {
    FxArguments shown;
    for (const Argument& argument : node.args) shown.args.push_back(argument.value);
    return shown;
  }
  if (const auto* signature = function ? python_signature(node.target) : nullptr)
    return by_signature(node, *signature);
  FxArguments shown = by_schema(node, classify(graph, node).row);
  if (method && is_variadic(node.target)) spread_sizes(shown);
  // aten::rsub(x, 1) is the operator form of 1 - x.
  const bool reversed = base_op(node.op) == "aten::rsub" && node.target == "_operator.sub";
  if (reversed && shown.args.size() == 2) std::swap(shown.args[0], shown.args[1]);
  return shown;
}

}  // namespace mase::ir
