// SPDX-License-Identifier: Apache-2.0
// The few ops that the tests of statistics and calibration need.
#include "passes/float_runner.hpp"

#include <algorithm>
#include <map>

#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "passes/runner.hpp"

namespace mase::test {
namespace {

Array relu(const Array& x) {
  Array y = x;
  for (float& value : y.mutable_span<float>()) value = std::max(value, 0.0f);
  return y;
}

Array linear(const Array& x, const Array& weight, const Array& bias) {
  const std::int64_t rows = x.shape()[0], inputs = weight.shape()[1], outputs = weight.shape()[0];
  Array y(DType::float32, {rows, outputs});
  const auto in = x.span<float>(), w = weight.span<float>(), b = bias.span<float>();
  auto out = y.mutable_span<float>();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t o = 0; o < outputs; ++o) {
      double sum = b[std::size_t(o)];
      for (std::int64_t i = 0; i < inputs; ++i)
        sum += double(in[std::size_t(r * inputs + i)]) * w[std::size_t(o * inputs + i)];
      out[std::size_t(r * outputs + o)] = float(sum);
    }
  return y;
}

/// Products or sums, element by element.
Array joined(const Array& a, const Array& b, bool product) {
  Array y = a;
  const auto other = b.span<float>();
  std::size_t i = 0;
  for (float& value : y.mutable_span<float>()) {
    value = product ? value * other[i] : value + other[i];
    ++i;
  }
  return y;
}

class FloatRunner : public ir::Evaluator {
 public:
  FloatRunner(const ir::Graph& graph, ir::Level level) : graph_(graph), level_(level) {}

  ir::Results run(const std::vector<Array>& inputs) override { return run(inputs, {}); }

  ir::Results run(const std::vector<Array>& inputs, const ir::Observer& observer) override {
    std::map<ir::NodeId, Array> results;
    std::size_t next = 0;
    Array last;
    for (ir::NodeId id : graph_.order()) {
      const ir::Node& node = graph_.node(id);
      if (node.kind == ir::NodeKind::output) continue;
      last = node.kind == ir::NodeKind::placeholder ? inputs.at(next++)
                                                    : layer(node, results, observer);
      results.emplace(id, last);
      if (observer) observer(node, "data_out", last);
    }
    return {{"", last}};
  }

 private:
  Array layer(const ir::Node& node, const std::map<ir::NodeId, Array>& results,
              const ir::Observer& observer) const {
    const Array x =
        quantized(node, "data_in", results.at(graph_.inputs(node.id).front()), observer);
    if (node.op == "aten::relu") return relu(x);
    if (const bool product = node.op == "aten::mul.Tensor";
        product || node.op == "aten::add.Tensor")
      return joined(
          x, quantized(node, "data_in_1", results.at(graph_.inputs(node.id).back()), observer),
          product);
    const ir::Module& module = graph_.module_of(node);
    return linear(x, graph_.tensors.at(*module.tensor("weight")).value,
                  graph_.tensors.at(*module.tensor("bias")).value);
  }

  Array quantized(const ir::Node& node, const std::string& port, const Array& x,
                  const ir::Observer& observer) const {
    const auto format = node.formats.find(port);
    if (level_ != ir::Level::quantized || format == node.formats.end()) return x;
    Array y(DType::float32, x.shape());
    format->second.quantize(x.span<float>(), y.mutable_span<float>(), x.shape());
    if (observer) observer(node, port + ".raw", x);
    if (observer) observer(node, port, y);
    return y;
  }

  const ir::Graph graph_;
  ir::Level level_;
};

}  // namespace

ir::MakeEvaluator float_runner() {
  return [](const ir::Graph& graph, ir::Level level) {
    return std::make_unique<FloatRunner>(graph, level);
  };
}

ir::Graph two_layers(const std::vector<float>& weight, const std::vector<float>& bias) {
  ir::Graph graph = ir::parse(R"(graph "two_layers" {
  module act : torch.nn.modules.activation.ReLU = aten::relu()
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight, bias=@fc.bias]
  tensor fc.weight : float32[2, 4] parameter grad
  tensor fc.bias : float32[2] parameter grad
  %x : float32[3, 4] = placeholder x
  %act : float32[3, 4] = call_module act aten::relu(self=%x)
  %fc : float32[3, 2] = call_module fc aten::linear(input=%act)
  %output : float32[3, 2] = output output(value=%fc)
}
)",
                              "two_layers");
  graph.tensors.at("fc.weight").value = Array::from(weight, {2, 4});
  graph.tensors.at("fc.bias").value = Array::from(bias, {2});
  return graph;
}

passes::Result run_pass(ir::Graph& graph, const std::string& pass, const std::string& options,
                        passes::PassContext& context) {
  const ir::Graph original = graph;
  context.original = &original;
  const passes::PassCall call{pass, config::parse_toml(options, "options.toml"), {}};
  return passes::run_passes(graph, {call}, driver::all_passes(), context, {}).front().result;
}

passes::PassContext context_with_rows(const Array& rows, std::int64_t batch) {
  passes::PassContext context;
  context.evaluator = float_runner();
  context.training_rows = [rows, batch](std::int64_t count, const passes::SeeBatch& see) {
    count = std::min(count, rows.shape()[0]);
    for (std::int64_t first = 0; first < count; first += batch)
      see({rows.rows(first, std::min(batch, count - first))});
  };
  return context;
}

}  // namespace mase::test
