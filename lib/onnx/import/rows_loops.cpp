// SPDX-License-Identifier: Apache-2.0
// Rows of control flow that is known at import: the branch or the turns come in the place of the
// node.
#include <algorithm>
#include <limits>

#include "onnx/import/bodies.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// The value of a condition; nullopt if it is not known at import.
std::optional<bool> truth_of(const Operand& operand) {
  auto known = operand.host;
  if (!known && operand.constant) known = host_of(operand.constant->value);
  const bool single = known && known->items.size() == 1 && known->dtype == DType::boolean;
  return single && known->is_constant() ? std::optional(known->items[0].as_bool()) : std::nullopt;
}

void branch(Call& call) {
  const auto condition = truth_of(call.value(0));
  if (!condition)
    call.refuse("operand '" + call.node().inputs.at(0) +
                "' must be known when the model is imported: the graph has no branches");
  const Graph& body = body_of(call, *condition ? "then_branch" : "else_branch");
  std::vector<Operand> results = import_branch(call, body);
  if (results.size() < call.results()) call.wrong("its branch has too few outputs");
  for (std::size_t i = 0; i < call.results(); ++i) call.result(std::move(results[i]), i);
}

/// How often a loop runs at most.
std::int64_t most_turns_of(Call& call) {
  if (!call.has(0)) return std::numeric_limits<std::int64_t>::max();
  const auto known = call.find_host(0);
  if (!known || known->items.size() != 1 || known->items[0].kind() != ir::Value::Kind::integer)
    call.refuse("operand '" + call.node().inputs[0] +
                "' must be known when the model is imported, since the graph has a copy of the "
                "body for each turn; export the model with a fixed number of steps");
  return known->items[0].as_int();
}

/// Inputs of the body: the turn, the condition, the values that go from turn to turn. Outputs: the
/// condition, these values, and what is collected.
void loop(Call& call) {
  const Graph& body = body_of(call, "body");
  const std::int64_t most = most_turns_of(call);
  const std::size_t carried = call.count() < 2 ? 0 : call.count() - 2;
  if (body.outputs.size() < carried + 1 || call.results() > body.outputs.size() - 1)
    call.wrong("its body has too few outputs");
  std::vector<Operand> state;
  for (std::size_t i = 2; i < call.count(); ++i) state.push_back(call.value(i));
  std::vector<std::vector<Operand>> collected(body.outputs.size() - 1 - carried);
  Operand condition{.host = HostTensor{DType::boolean, {}, {ir::Value(true)}}};
  if (call.has(1)) condition = call.value(1);
  Turns turns(call, body);
  for (std::int64_t turn = 0; turn < most; ++turn) {
    const auto runs = truth_of(condition);
    if (!runs)
      call.refuse(
          "whether it goes on depends on values that are not known when the model is "
          "imported; the graph has no loops");
    if (!*runs) break;
    std::vector<Operand> inputs{Operand{.host = HostTensor::integer(turn)}, condition};
    std::ranges::move(state, std::back_inserter(inputs));
    std::vector<Operand> outputs = turns.next(std::move(inputs));
    condition = outputs[0];
    state.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (std::size_t i = 0; i < collected.size(); ++i)
      collected[i].push_back(std::move(outputs[1 + carried + i]));
  }
  for (std::size_t i = 0; i < carried; ++i) call.result(std::move(state[i]), i);
  for (std::size_t i = 0; i < collected.size(); ++i)
    if (call.wants(carried + i)) call.result(stacked(call, collected[i], 0), carried + i);
}

/// Axes or directions of what a scan reads or collects; 0 for all if the node does not say them.
std::vector<std::int64_t> each_of(const Call& call, std::string_view name, std::size_t count) {
  auto numbers = call.integers(name).value_or(std::vector<std::int64_t>(count, 0));
  if (numbers.size() != count) call.wrong("its " + std::string(name) + " are not one for each");
  return numbers;
}

class Scan {
 public:
  explicit Scan(Call& call)
      : call_(call),
        body_(body_of(call, "body")),
        scanned_(static_cast<std::size_t>(call.integer("num_scan_inputs", 0))) {
    if (scanned_ == 0 || scanned_ > call.count()) call.wrong("it scans no input");
    carried_ = call.count() - scanned_;
    if (body_.outputs.size() < carried_ || call.results() > body_.outputs.size())
      call.wrong("its body has too few outputs");
    axes_ = each_of(call, "scan_input_axes", scanned_);
    backwards_ = each_of(call, "scan_input_directions", scanned_);
    for (std::size_t i = 0; i < scanned_; ++i)
      axes_[i] = call.axis(axes_[i], call.rank(carried_ + i));
  }

  void import() {
    const std::int64_t count = fixed_size(call_, call_.tensor(carried_), axes_[0]);
    std::vector<Operand> state;
    for (std::size_t i = 0; i < carried_; ++i) state.push_back(call_.value(i));
    std::vector<std::vector<Operand>> collected(body_.outputs.size() - carried_);
    Turns turns(call_, body_);
    for (std::int64_t turn = 0; turn < count; ++turn) {
      for (std::size_t i = 0; i < scanned_; ++i) state.push_back(item(i, turn, count));
      std::vector<Operand> outputs = turns.next(std::move(state));
      state.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(carried_));
      for (std::size_t i = 0; i < collected.size(); ++i)
        collected[i].push_back(std::move(outputs[carried_ + i]));
    }
    for (std::size_t i = 0; i < carried_; ++i) call_.result(std::move(state[i]), i);
    give(std::move(collected));
  }

 private:
  Operand item(std::size_t i, std::int64_t turn, std::int64_t count) {
    const std::int64_t place = backwards_[i] == 0 ? turn : count - 1 - turn;
    return {.node = call_.emit(
                "aten::select.int",
                {{"self", call_.ref(carried_ + i)}, {"dim", axes_[i]}, {"index", place}})};
  }

  void give(std::vector<std::vector<Operand>> collected) {
    const auto axes = each_of(call_, "scan_output_axes", collected.size());
    const auto backwards = each_of(call_, "scan_output_directions", collected.size());
    for (std::size_t i = 0; i < collected.size(); ++i) {
      if (!call_.wants(carried_ + i)) continue;
      if (backwards[i] != 0) std::ranges::reverse(collected[i]);
      call_.result(stacked(call_, collected[i], axes[i]), carried_ + i);
    }
  }

  Call& call_;
  const Graph& body_;
  std::size_t scanned_, carried_ = 0;
  std::vector<std::int64_t> axes_, backwards_;
};

void scan(Call& call) {
  if (call.opset() < 9)
    call.refuse("it is that of opset 8, which scans batches; onnx.version_converter takes it to 9");
  Scan(call).import();
}

}  // namespace

std::vector<Row> loop_rows() {
  return {
      {"If", 1, branch},
      {"Loop", 1, loop},
      {"Scan", 8, scan},
  };
}

}  // namespace mase::onnx
