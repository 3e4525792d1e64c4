// SPDX-License-Identifier: Apache-2.0
// Writes the functions of a recurrent operator as text, and calls them.
#include "torch/export/recurrent.hpp"

#include <ATen/core/ivalue.h>

#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::libtorch {
namespace {

using JitValue = MethodBuilder::JitValue;

/// The parameters, in the order of `recurrent_arguments`. `last` is for packed sequences only.
std::string parameters_text(const std::string& last) {
  return "(input: Tensor, hx: List[Tensor], weight_ih: List[Tensor], weight_hh: List[Tensor], "
         "weight_hr: List[Tensor], bias_ih: List[Tensor], bias_hh: List[Tensor], " +
         last +
         "num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool, "
         "training: bool)";
}

constexpr const char* recurrent_helpers =
    "def item_or_none(tensors: List[Tensor], i: int) -> Optional[Tensor]:\n"
    "  item: Optional[Tensor] = None\n"
    "  if i < len(tensors):\n"
    "    item = tensors[i]\n"
    "  return item\n";

/// The lines that add zeros to `state` for `rows` sequences.
std::string zeros_text(const RecurrentOp& op, const std::string& rows) {
  const std::string memory = "    state.append(torch.zeros([len(weight_hh), " + rows +
                             ", weight_hh[0].size(0) // 4], dtype=x.dtype))\n";
  return "  if len(state) == 0:\n"
         "    state.append(torch.zeros([len(weight_hh), " +
         rows + ", weight_hh[0].size(1)], dtype=x.dtype))\n" + (op.has_memory() ? memory : "");
}

/// Lines that give `x` an axis of rows, set `rows` if it had one, and set the initial `state`.
std::string preparation_text(const RecurrentOp& op) {
  return std::string("  rows = input.dim() == ") + (op.cell ? "2" : "3") +
         "\n"
         "  place = 0\n" +
         (op.cell ? "" : "  if not batch_first:\n    place = 1\n") +
         "  x = input\n"
         "  if not rows:\n"
         "    x = torch.unsqueeze(input, place)\n"
         "  state: List[Tensor] = []\n"
         "  for s in hx:\n"
         "    if not rows:\n"
         "      s = torch.unsqueeze(s, " +
         (op.cell ? "0" : "1") + ")\n" + (op.cell ? "    s = torch.unsqueeze(s, 0)\n" : "") +
         "    state.append(s)\n" + zeros_text(op, "x.size(place)");
}

/// The same for packed sequences, with the rows of each step as `sizes`.
std::string packed_preparation_text(const RecurrentOp& op) {
  return "  x = input\n"
         "  sizes: List[int] = batch_sizes.tolist()\n"
         "  state = [s for s in hx]\n" +
         zeros_text(op, "sizes[0]");
}

/// Lines that return `y` (for a layer), `h` and `c` (for an LSTM) in torch.nn's form.
std::string results_text(const RecurrentOp& op, bool packed) {
  std::string text;
  if (!packed) {
    text = "  if not rows:\n";
    if (!op.cell) text += "    y = torch.squeeze(y, place)\n";
    text += std::string("    h = torch.squeeze(h, ") + (op.cell ? "0" : "1") + ")\n";
    if (op.has_memory())
      text += std::string("    c = torch.squeeze(c, ") + (op.cell ? "0" : "1") + ")\n";
  }
  const std::string last = op.has_memory() ? "(h, c)" : "h";
  return text + "  return " + (op.cell ? last : "(y, " + last + ")") + "\n";
}

std::string aten_text(const RecurrentOp& op, bool packed) {
  const std::string name(op.aten.substr(6, op.aten.find('.') - 6));
  const std::string targets = op.has_memory() ? "h, c" : "h";
  if (op.cell)
    return "  " + targets + " = torch." + name + "(x, " +
           (op.has_memory() ? "[state[0][0], state[1][0]]" : "state[0][0]") +
           ", weight_ih[0], weight_hh[0], item_or_none(bias_ih, 0), item_or_none(bias_hh, 0))\n";
  // LibTorch adds up in a different order for weights that require gradients.
  return "  params: List[Tensor] = []\n"
         "  for i in range(len(weight_ih)):\n"
         "    params.append(weight_ih[i])\n"
         "    params.append(weight_hh[i])\n"
         "    if len(bias_ih) > 0:\n"
         "      params.append(bias_ih[i])\n"
         "      params.append(bias_hh[i])\n"
         "    if len(weight_hr) > 0:\n"
         "      params.append(weight_hr[i])\n"
         "  if not training:\n"
         "    params = [p.detach() for p in params]\n"
         "  y, " +
         targets + " = torch." + name + "(x, " + (packed ? "batch_sizes, " : "") +
         (op.has_memory() ? "state" : "state[0]") +
         ", params, len(bias_ih) > 0, num_layers, dropout, train, bidirectional" +
         (packed ? "" : ", batch_first") + ")\n";
}

/// A step, from the products of the input and of the state, as in run/recurrent.cpp.
std::string step_text(RecurrentOp::Kind kind) {
  const std::string head =
      "def step(x: Tensor, y: Tensor, h: Tensor, c: Tensor) -> Tuple[Tensor, Tensor]:\n";
  if (kind == RecurrentOp::Kind::lstm)
    return head +
           "  i, f, g, o = torch.chunk(x + y, 4, 1)\n"
           "  m = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)\n"
           "  return torch.sigmoid(o) * torch.tanh(m), m\n";
  if (kind == RecurrentOp::Kind::gru)
    return head +
           "  x_r, x_z, x_n = torch.chunk(x, 3, 1)\n"
           "  y_r, y_z, y_n = torch.chunk(y, 3, 1)\n"
           "  reset = torch.sigmoid(x_r + y_r)\n"
           "  keep = torch.sigmoid(x_z + y_z)\n"
           "  fresh = torch.tanh(x_n + reset * y_n)\n"
           "  return fresh + keep * (h - fresh), c\n";
  return head + "  return torch." + (kind == RecurrentOp::Kind::rnn_relu ? "relu" : "tanh") +
         "(x + y), c\n";
}

/// A direction of a level. Packed sequences end (or start, backwards) at different steps.
std::string direction_text(bool packed) {
  const std::string rows =
      "def with_first_rows(x: Tensor, rows: Tensor) -> Tensor:\n"
      "  return torch.cat([rows, x[rows.size(0):]])\n";
  return (packed ? rows : "") +
         "def run_direction(x: Tensor, h: Tensor, c: Tensor, weight_ih: Tensor, weight_hh: Tensor, "
         "weight_hr: Optional[Tensor], bias_ih: Optional[Tensor], bias_hh: Optional[Tensor], " +
         (packed ? "sizes: List[int], " : "") +
         "reverse: bool, training: bool) -> Tuple[Tensor, Tensor, Tensor, Tensor]:\n"
         "  products = " +
         (packed ? "torch.split_with_sizes(torch.linear(x, weight_ih, bias_ih), sizes)"
                 : "torch.unbind(torch.linear(x, weight_ih, bias_ih))") +
         "\n"
         "  computed: List[Tensor] = []\n"
         "  passed: List[Tensor] = []\n"
         "  state = pass_state(h, training)\n"
         "  steps = len(products)\n"
         "  for i in range(steps):\n"
         "    place = i\n"
         "    if reverse:\n"
         "      place = steps - 1 - i\n" +
         (packed ? "    s = state[:sizes[place]]\n"
                   "    m = c[:sizes[place]]\n"
                 : "    s = state\n"
                   "    m = c\n") +
         "    y = torch.linear(s, weight_hh, bias_hh)\n"
         "    o, m = step(products[place], y, s, m)\n"
         "    if weight_hr is not None:\n"
         "      o = torch.linear(pass_state(o, training), weight_hr)\n"
         "    s = pass_state(o, training)\n"
         "    computed.append(o)\n"
         "    passed.append(s)\n" +
         (packed ? "    h = with_first_rows(h, o)\n"
                   "    c = with_first_rows(c, m)\n"
                   "    state = with_first_rows(state, s)\n"
                 : "    h = o\n"
                   "    c = m\n"
                   "    state = s\n") +
         "  if reverse:\n"
         "    computed.reverse()\n"
         "    passed.reverse()\n" +
         (packed ? "  return torch.cat(computed), torch.cat(passed), h, c\n"
                 : "  return torch.stack(computed), torch.stack(passed), h, c\n");
}

std::string stepwise_text(const RecurrentOp& op, bool packed) {
  const std::string to_steps = packed    ? ""
                               : op.cell ? "  x = torch.unsqueeze(x, 0)\n"
                                         : "  if batch_first:\n"
                                           "    x = torch.transpose(x, 0, 1).contiguous()\n";
  const std::string from_steps =
      packed    ? ""
      : op.cell ? "  h = h[0]\n" + std::string(op.has_memory() ? "  c = c[0]\n" : "")
                : "  if batch_first:\n"
                  "    y = torch.transpose(y, 0, 1)\n";
  return to_steps +
         "  y = x\n"
         "  hs: List[Tensor] = []\n"
         "  cs: List[Tensor] = []\n"
         "  place_of_memory = len(state) - 1\n"
         "  for level in range(num_layers):\n"
         "    computed: List[Tensor] = []\n"
         "    passed: List[Tensor] = []\n"
         "    directions = 1\n"
         "    if bidirectional:\n"
         "      directions = 2\n"
         "    for direction in range(directions):\n"
         "      i = level * directions + direction\n"
         "      one, shown, h1, c1 = run_direction(x, state[0][i], state[place_of_memory][i], "
         "weight_ih[i], weight_hh[i], item_or_none(weight_hr, i), item_or_none(bias_ih, i), "
         "item_or_none(bias_hh, i), " +
         (packed ? "sizes, " : "") +
         "direction == 1, training)\n"
         "      computed.append(one)\n"
         "      passed.append(shown)\n"
         "      hs.append(h1)\n"
         "      cs.append(c1)\n"
         "    y = torch.cat(computed, -1)\n"
         "    x = torch.cat(passed, -1)\n"
         "    if train and dropout > 0.0 and level + 1 < num_layers:\n"
         "      x = torch.dropout(x, dropout, True)\n"
         "  h = torch.stack(hs)\n" +
         (op.has_memory() ? "  c = torch.stack(cs)\n" : "") + from_steps;
}

std::string pass_text(const formats::Format* format) {
  constexpr int rank = 2;  // [rows, features]
  return "def pass_state" +
         (format ? quantizer_source(*format, rank) : "(x: Tensor, training: bool):\n  return x\n");
}

std::string recurrent_source(const RecurrentOp& op, const RecurrentForm& form) {
  std::string text = recurrent_helpers;
  if (form.stepwise)
    text += pass_text(form.state) + step_text(op.kind) + direction_text(form.packed);
  return text + "def run" + parameters_text(form.packed ? "batch_sizes: Tensor, " : "") + ":\n" +
         (form.packed ? packed_preparation_text(op) : preparation_text(op)) +
         (form.stepwise ? stepwise_text(op, form.packed) : aten_text(op, form.packed)) +
         results_text(op, form.packed);
}

/// The operands with this name.
std::vector<JitValue*> operands_of(const MethodBuilder::Operands& operands, std::string_view name,
                                   const c10::TypePtr& type) {
  std::vector<JitValue*> values;
  for (const auto& [argument, operand] : operands)
    if (argument == name) values.push_back(operand(type));
  return values;
}

JitValue* operand_list(MethodBuilder& builder, const MethodBuilder::Operands& operands,
                       std::string_view name) {
  std::vector<JitValue*> items;
  for (JitValue* value : operands_of(operands, name, c10::TensorType::get())) {
    if (value->type()->kind() != c10::TypeKind::TupleType)
      items.push_back(value);
    else
      for (const int place : {0, 1}) items.push_back(builder.get_item(value, place, {}));
  }
  return builder.list(c10::TensorType::get(), items);
}

}  // namespace

JitValue* call_recurrent(MethodBuilder& builder, const RecurrentOp& op, const RecurrentForm& form,
                         const MethodBuilder::Operands& operands) {
  std::vector<JitValue*> values;
  for (const std::string_view name : recurrent_arguments) {
    const bool one = name == "input" || name == "batch_sizes";
    const auto given = operands_of(operands, name, c10::TensorType::get());
    if (one)
      values.insert(values.end(), given.begin(), given.end());
    else
      values.push_back(operand_list(builder, operands, name));
  }
  const std::pair<const char*, c10::IValue> constants[] = {{"num_layers", std::int64_t{1}},
                                                           {"dropout", 0.0},
                                                           {"train", false},
                                                           {"bidirectional", false},
                                                           {"batch_first", false}};
  for (const auto& [name, fallback] : constants) {
    const auto given = operands_of(operands, name, fallback.type());
    values.push_back(given.empty() ? builder.constant(fallback) : given[0]);
  }
  values.push_back(builder.attribute("training"));
  const std::string source = recurrent_source(op, form);
  const std::string name(op.name.substr(6));
  return builder.call_functions(name + "_" + sha256(source).substr(0, 8), source, values);
}

}  // namespace mase::libtorch
