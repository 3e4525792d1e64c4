// SPDX-License-Identifier: Apache-2.0
// Rows of sequences whose lengths are known at import: they are lists of the importer, and the
// graph has their tensors alone.
#include "onnx/import/bodies.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

void give_sequence(Call& call, std::vector<Operand> items, std::size_t i = 0) {
  call.result(Operand{.items = std::make_shared<const std::vector<Operand>>(std::move(items))}, i);
}

/// A place in a sequence, which may be counted from its end. `size` is what it must stay below.
std::size_t item_place(Call& call, std::size_t i, std::int64_t length, std::int64_t size) {
  const auto numbers = call.integers(i);
  std::int64_t place = numbers.size() == 1 ? numbers[0] : -size - 1;
  if (place < 0) place += length;
  if (place < 0 || place >= size)
    call.wrong("operand '" + call.node().inputs[i] + "' is not a place in a sequence of " +
               std::to_string(length));
  return static_cast<std::size_t>(place);
}

std::int64_t length_of(const std::vector<Operand>& items) {
  return static_cast<std::int64_t>(items.size());
}

void construct_sequence(Call& call) {
  std::vector<Operand> items;
  for (std::size_t i = 0; i < call.count(); ++i) items.push_back(call.operand(i));
  give_sequence(call, std::move(items));
}

void empty_sequence(Call& call) { give_sequence(call, {}); }

void insert_item(Call& call) {
  std::vector<Operand> items = call.sequence(0);
  const std::int64_t length = length_of(items);
  const auto place =
      call.has(2) ? item_place(call, 2, length, length + 1) : static_cast<std::size_t>(length);
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), call.operand(1));
  give_sequence(call, std::move(items));
}

void erase_item(Call& call) {
  std::vector<Operand> items = call.sequence(0);
  const std::int64_t length = length_of(items);
  if (length == 0) call.wrong("it erases from an empty sequence");
  const auto place =
      call.has(1) ? item_place(call, 1, length, length) : static_cast<std::size_t>(length - 1);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  give_sequence(call, std::move(items));
}

void item_at(Call& call) {
  const auto& items = call.sequence(0);
  const std::int64_t length = length_of(items);
  call.result(Operand(items[item_place(call, 1, length, length)]));
}

void sequence_length(Call& call) { call.result(HostTensor::integer(length_of(call.sequence(0)))); }

void join_sequence(Call& call) {
  const auto& items = call.sequence(0);
  const std::int64_t axis = call.integer("axis", 0);
  if (items.empty()) call.wrong("it joins an empty sequence");
  if (call.integer("new_axis", 0) != 0) return call.result(stacked(call, items, axis));
  std::vector<ir::Value> tensors;
  for (Operand one : items) tensors.push_back(ref(call.importer().node_of(one, "a tensor")));
  call.result(
      call.emit("aten::cat", {{"tensors", ir::Value::list(std::move(tensors))}, {"dim", axis}}));
}

/// The sizes of the parts: all of one size but the last one, or as they are given.
std::vector<std::int64_t> sizes_of_parts(Call& call, std::int64_t size) {
  if (call.has(1) && !call.shape(1).empty()) return call.integers(1);
  const std::int64_t step = call.has(1) ? call.integers(1).at(0) : 1;
  if (step <= 0) call.wrong("its parts are not of a positive size");
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < size; start += step)
    sizes.push_back(std::min(step, size - start));
  return sizes;
}

void split_to_sequence(Call& call) {
  const ir::NodeId input = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const bool drops = !call.has(1) && call.integer("keepdims", 1) == 0;
  std::vector<Operand> items;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes_of_parts(call, fixed_size(call, input, axis))) {
    ir::NodeId part = ir::no_node;
    if (drops)
      part = call.emit("aten::select.int", {{"self", ref(input)}, {"dim", axis}, {"index", start}});
    else
      part = call.emit("aten::slice.Tensor", {{"self", ref(input)},
                                              {"dim", axis},
                                              {"start", start},
                                              {"end", start + size},
                                              {"step", 1}});
    items.push_back({.node = part});
    start += size;
  }
  give_sequence(call, std::move(items));
}

/// The body runs once for each item of the first sequence. Further sequences are read item by item;
/// tensors are the same in each turn.
void map_sequence(Call& call) {
  const std::vector<Operand> first = call.sequence(0);
  std::vector<std::vector<Operand>> results(call.results());
  Turns turns(call, body_of(call, "body"));
  for (std::size_t turn = 0; turn < first.size(); ++turn) {
    std::vector<Operand> inputs;
    for (std::size_t i = 0; i < call.count(); ++i) {
      const Operand& one = call.value(i);
      if (one.items && turn >= one.items->size()) call.wrong("its sequences differ in length");
      inputs.push_back(one.items ? one.items->at(turn) : one);
    }
    std::vector<Operand> outputs = turns.next(std::move(inputs));
    if (outputs.size() < results.size()) call.wrong("its body has too few outputs");
    for (std::size_t i = 0; i < results.size(); ++i) results[i].push_back(std::move(outputs[i]));
  }
  for (std::size_t i = 0; i < results.size(); ++i) give_sequence(call, std::move(results[i]), i);
}

/// A value that may be absent is there at import, or it is not.
void optional_value(Call& call) {
  if (!call.has(0)) call.refuse("it is a value that is absent; export the model without it");
  call.result(Operand(call.value(0)));
}

void has_element(Call& call) {
  call.result(HostTensor{DType::boolean, {}, {ir::Value(call.has(0))}});
}

}  // namespace

std::vector<Row> sequence_rows() {
  return {
      {"SequenceConstruct", 11, construct_sequence},
      {"SequenceEmpty", 11, empty_sequence},
      {"SequenceInsert", 11, insert_item},
      {"SequenceErase", 11, erase_item},
      {"SequenceAt", 11, item_at},
      {"SequenceLength", 11, sequence_length},
      {"ConcatFromSequence", 11, join_sequence},
      {"SplitToSequence", 11, split_to_sequence},
      {"SequenceMap", 17, map_sequence},
      {"Optional", 15, optional_value},
      {"OptionalGetElement", 15, optional_value},
      {"OptionalHasElement", 15, has_element},
  };
}

}  // namespace mase::onnx
