// Gradients of chains of common layers, by hand-written backward steps.
#include <ATen/ATen.h>

#include <set>

#include "train/layers.hpp"
#include "train/network.hpp"

namespace mase::train {
namespace {

class ChainNetwork : public Network {
 public:
  explicit ChainNetwork(std::vector<std::unique_ptr<Layer>> layers) : layers_(std::move(layers)) {}

  at::Tensor forward(const at::Tensor& inputs) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    at::Tensor value = inputs;
    for (const auto& layer : layers_) value = layer->forward(value);
    return value;
  }

  void backward(const at::Tensor& output_gradient) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    at::Tensor gradient = output_gradient;
    for (std::size_t i = layers_.size(); i-- > 0;) gradient = layers_[i]->backward(gradient, i > 0);
  }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

/// Whether the node's only reference is to `previous`.
bool follows(const ir::Node& node, ir::NodeId previous) {
  int references = 0;
  bool right = true;
  for (const ir::Argument& argument : node.args)
    argument.value.for_each_node([&](ir::NodeId id) {
      ++references;
      right = right && id == previous;
    });
  return references == 1 && right && node.formats.empty();
}

}  // namespace

std::unique_ptr<Network> make_chain_network(torch_frontend::Executor& executor,
                                            Parameters& parameters) {
  const ir::Graph& graph = executor.graph();
  std::vector<std::unique_ptr<Layer>> layers;
  std::set<std::string> called;
  ir::NodeId previous = ir::no_node;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.kind == ir::NodeKind::placeholder) {
      if (previous != ir::no_node || !node.formats.empty()) return nullptr;
    } else if (!follows(node, previous)) {
      return nullptr;
    } else if (node.kind == ir::NodeKind::output) {
      if (!node.args.front().value.is_node()) return nullptr;
    } else {
      // A layer called twice would need its gradients added up.
      const bool again =
          node.kind == ir::NodeKind::call_module && !called.insert(node.target).second;
      auto layer = make_layer({graph, node, executor.tensors(), parameters});
      if (again || !layer) return nullptr;
      layers.push_back(std::move(layer));
    }
    previous = id;
  }
  return std::make_unique<ChainNetwork>(std::move(layers));
}

}  // namespace mase::train
