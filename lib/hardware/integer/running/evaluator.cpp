// SPDX-License-Identifier: Apache-2.0
// ir::Evaluator on an Interpreter: checks of inputs, codes in and out, names of results.
#include <algorithm>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "base/text.hpp"
#include "hardware/integer/interpreter.hpp"
#include "ir/guards.hpp"

namespace mase::integer {
namespace {

class IntegerEvaluator : public ir::Evaluator {
 public:
  explicit IntegerEvaluator(const ir::Graph& graph) : graph_(graph), interpreter_(lower(graph)) {}

  ir::Results run(const std::vector<Array>& inputs) override { return run(inputs, {}); }

  ir::Results run(const std::vector<Array>& inputs, const ir::Observer& observer) override {
    const std::int64_t frames = check_inputs(inputs);
    const Program& program = interpreter_.program();
    std::vector<Codes> codes;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      codes.push_back(encode_input(program, i, inputs[i]));
    std::function<void(ValueId, const Codes&)> observe;
    if (observer)
      observe = [&](ValueId id, const Codes& seen) { show(observer, id, seen, frames); };
    const std::vector<Codes> outputs = interpreter_.run(codes, frames, observe);
    ir::Results results;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      results.emplace_back(program.output_keys[i], decode_output(program, i, outputs[i], frames));
    return results;
  }

 private:
  /// The number of frames; Error(Fault::file) for inputs that do not fit the graph.
  std::int64_t check_inputs(const std::vector<Array>& inputs) const {
    const auto placeholders = graph_.placeholders();
    if (inputs.size() != placeholders.size())
      file_error("the model takes " + std::to_string(placeholders.size()) + " inputs, " +
                 std::to_string(inputs.size()) + " were given");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const ir::Node& node = graph_.node(placeholders[i]);
      check_dtype(node, inputs[i]);
      if (inputs[i].shape().empty() || inputs[i].shape()[0] != inputs[0].shape()[0])
        file_error("input '" + node.name + "' has the shape " + shape_text(inputs[i].shape()) +
                   ": all inputs need the same number of rows");
    }
    if (inputs.empty()) return 0;
    check_guards(inputs[0].shape()[0]);
    return inputs[0].shape()[0];
  }

  static void check_dtype(const ir::Node& node, const Array& input) {
    const DType dtype = input.dtype(), wanted = node.info.dtype;
    const bool is_half = dtype == DType::float16 || dtype == DType::bfloat16;
    if (dtype != wanted && !(wanted == DType::float32 && is_half))
      file_error("input '" + node.name + "' is " + std::string(dtype_name(dtype)) +
                 ", the model takes " + std::string(dtype_name(wanted)));
  }

  /// Only the number of rows can differ from the import. A guard that may depend on it is refused:
  /// one that reads more than sizes of inputs along other dimensions.
  void check_guards(std::int64_t rows) const {
    for (const ir::Guard& guard : graph_.guards) {
      const ir::Node& first = graph_.node(graph_.placeholders()[0]);
      if (rows == first.info.shape[0] || !may_read_rows(guard.condition)) continue;
      const bool is_true = ir::holds(guard.condition, [&](const ir::ReadSize& size) {
                             return size_of(size, rows);
                           }) == true;
      if (is_true) continue;
      file_error("input '" + first.name + "' has " + std::to_string(rows) +
                 " rows, but the model was imported with " + std::to_string(first.info.shape[0]) +
                 " and decides by a shape at " + guard.place + " (" + guard.condition +
                 "); import it again with an example of that many rows");
    }
  }

  /// A size of the inputs where they have `rows` rows.
  std::optional<std::int64_t> size_of(const ir::ReadSize& size, std::int64_t rows) const {
    const ir::Node* node = graph_.find_node(size.name);
    if (!node || node->kind != ir::NodeKind::placeholder) return std::nullopt;
    const auto dim = from_front(size.dim, node->info.shape.size());
    if (!dim) return std::nullopt;
    return *dim == 0 ? rows : node->info.shape[*dim];
  }

  bool may_read_rows(const std::string& condition) const {
    bool reads_size = false;
    for (std::size_t at = condition.find("size("); at != std::string::npos;
         at = condition.find("size(", at + 1)) {
      const std::size_t comma = condition.find(", ", at), end = condition.find(')', at);
      if (comma == std::string::npos || end < comma) return true;
      const auto dim = parse_int(condition.substr(comma + 2, end - comma - 2));
      const ir::Node* node = graph_.find_node(condition.substr(at + 5, comma - at - 5));
      if (!dim || !node || node->kind != ir::NodeKind::placeholder) return true;
      const auto rank = static_cast<std::int64_t>(node->info.shape.size());
      if (*dim == 0 || *dim == -rank) return true;
      reads_size = true;
    }
    return !reads_size;
  }

  void show(const ir::Observer& observer, ValueId id, const Codes& codes,
            std::int64_t frames) const {
    const StreamValue& value = interpreter_.program().value(id);
    if (const ir::Node* node = graph_.find_node(value.name))
      observer(*node, "data_out", decode_value(value, codes, frames));
  }

  ir::Graph graph_;
  Interpreter interpreter_;
};

}  // namespace

std::unique_ptr<ir::Evaluator> make_evaluator(const ir::Graph& graph) {
  return std::make_unique<IntegerEvaluator>(graph);
}

}  // namespace mase::integer
