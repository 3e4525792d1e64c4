// SPDX-License-Identifier: Apache-2.0
// Folds batch norms: first the algebra on weights, then the choice of the layer for each norm.
#include "passes/transform/fuse_batch_norm.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "ir/tensor_readers.hpp"

namespace mase::passes {
namespace {

/// y = scale[c] * x + shift[c].
struct Affine {
  std::vector<double> scale, shift;
};

std::vector<double> values_of(const ir::Graph& graph, const ir::Module& module,
                              std::string_view argument, std::size_t channels, double otherwise) {
  const std::string* path = module.tensor(argument);
  if (path == nullptr) return std::vector<double>(channels, otherwise);
  const Array floats = graph.tensors.at(*path).value.to_float32();
  const auto span = floats.span<float>();
  return {span.begin(), span.end()};
}

/// The function of a batch norm with running statistics.
Affine affine_of(const ir::Graph& graph, const ir::Module& norm) {
  const auto mean_size = graph.tensors.at(*norm.tensor("running_mean")).value.size();
  const auto channels = static_cast<std::size_t>(mean_size);
  const auto weight = values_of(graph, norm, "weight", channels, 1);
  const auto bias = values_of(graph, norm, "bias", channels, 0);
  const auto mean = values_of(graph, norm, "running_mean", channels, 0);
  const auto variance = values_of(graph, norm, "running_var", channels, 1);
  const double eps = norm.attribute("eps")->as_double();
  Affine affine;
  for (std::size_t c = 0; c < channels; ++c) {
    affine.scale.push_back(weight[c] / std::sqrt(variance[c] + eps));
    affine.shift.push_back(bias[c] - affine.scale[c] * mean[c]);
  }
  return affine;
}

Array float_array(const std::vector<double>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  return Array::from(floats, {static_cast<std::int64_t>(floats.size())});
}

/// Sets the tensor of a module's argument; a new one goes after the module's other tensors.
void set_module_tensor(ir::Graph& graph, ir::Module& module, const std::string& argument,
                       const std::vector<double>& values) {
  const std::string* known = module.tensor(argument);
  const std::string path = known ? *known : module.path + "." + argument;
  if (!known) module.tensors.emplace_back(argument, path);
  const bool trained = argument == "weight" || argument == "bias";
  graph.set_tensor(path, {float_array(values), true, trained});
}

/// A layer's weight as [outputs][inputs of a group][kernel elements].
struct Weight {
  std::string path;
  std::int64_t outputs, inputs, kernel, groups;
};

Weight weight_of(const ir::Graph& graph, const ir::Module& layer) {
  Weight weight{*layer.tensor("weight"), 1, 1, 1, 1};
  const Shape& shape = graph.tensors.at(weight.path).value.shape();
  weight.outputs = shape[0];
  weight.inputs = shape[1];
  for (std::size_t d = 2; d < shape.size(); ++d) weight.kernel *= shape[d];
  if (const ir::Value* groups = layer.attribute("groups")) weight.groups = groups->as_int();
  return weight;
}

/// Calls f(output, input channel, weight) for every weight; f may change it.
template <class F>
void for_each_weight(ir::Graph& graph, const Weight& weight, F&& f) {
  auto values = graph.tensors.at(weight.path).value.mutable_span<float>();
  std::size_t at = 0;
  for (std::int64_t o = 0; o < weight.outputs; ++o) {
    const std::int64_t first = o / (weight.outputs / weight.groups) * weight.inputs;
    for (std::int64_t i = 0; i < weight.inputs; ++i)
      for (std::int64_t k = 0; k < weight.kernel; ++k)
        f(static_cast<std::size_t>(o), static_cast<std::size_t>(first + i), values[at++]);
  }
}

/// w' = s[o] * w, b' = s[o] * b + t[o].
void fold_into_producer(ir::Graph& graph, ir::Module& layer, const Affine& affine) {
  const Weight weight = weight_of(graph, layer);
  auto bias = values_of(graph, layer, "bias", affine.scale.size(), 0);
  for_each_weight(graph, weight, [&](std::size_t o, std::size_t, float& w) {
    w = static_cast<float>(affine.scale[o] * w);
  });
  for (std::size_t o = 0; o < bias.size(); ++o)
    bias[o] = affine.scale[o] * bias[o] + affine.shift[o];
  set_module_tensor(graph, layer, "bias", bias);
}

/// w' = w * s[i], b' = b + sum_i w * t[i].
void fold_into_consumer(ir::Graph& graph, ir::Module& layer, const Affine& affine) {
  const Weight weight = weight_of(graph, layer);
  auto bias = values_of(graph, layer, "bias", static_cast<std::size_t>(weight.outputs), 0);
  for_each_weight(graph, weight, [&](std::size_t o, std::size_t i, float& w) {
    bias[o] += static_cast<double>(w) * affine.shift[i];
    w = static_cast<float>(w * affine.scale[i]);
  });
  set_module_tensor(graph, layer, "bias", bias);
}

void make_scale_and_shift(ir::Graph& graph, ir::Module& norm, const Affine& affine) {
  const std::size_t channels = affine.scale.size();
  set_module_tensor(graph, norm, "weight", affine.scale);
  set_module_tensor(graph, norm, "bias", affine.shift);
  const auto constant = [&](const char* argument, double value) {
    graph.tensors.at(*norm.tensor(argument)).value =
        float_array(std::vector<double>(channels, value));
  };
  constant("running_mean", 0);
  constant("running_var", 1);
  for (ir::Argument& attribute : norm.attributes) {
    if (attribute.name == "eps") attribute.value = 0.0;
    // Training may move scale and shift, but statistics of its batches would make it a norm again.
    if (attribute.name == "training") attribute.value = false;
  }
}

bool is_scale_and_shift(const ir::Graph& graph, const ir::Module& norm) {
  const auto all = [&](const char* argument, float wanted) {
    const auto values = graph.tensors.at(*norm.tensor(argument)).value.span<float>();
    return std::ranges::all_of(values, [&](float value) { return value == wanted; });
  };
  return norm.attribute("eps")->as_double() == 0 && all("running_mean", 0) && all("running_var", 1);
}

/// The pass's view of one graph: which calls use which module and tensor.
class Fuser {
 public:
  Fuser(ir::Graph& graph, bool scale_rest, Result& result)
      : graph_(graph),
        scale_rest_(scale_rest),
        result_(result),
        tensor_uses_(ir::tensor_uses(graph)) {
    for (const char* key : {"into_previous", "into_next", "scale_and_shift"})
      result_.info[key] = Tree::list();
    for (ir::NodeId id : graph_.order())
      if (const ir::Module* module = module_at(id)) calls_[module->path].push_back(id);
  }

  /// Fuses all calls of a norm at once, since they read the same numbers.
  void fuse(ir::NodeId id) {
    if (!graph_.contains(id)) return;
    const ir::Node& node = graph_.node(id);
    if (family_of(id) != ir::OpFamily::batch_norm) return;
    const ir::Module* norm = module_at(id);
    if (const char* reason = obstacle(norm)) {
      result_.notes.push_back("'" + node.name + "' stays: " + reason);
      return;
    }
    if (calls_of(*norm).front() != id) return;
    if (!into_previous(*norm) && !into_next(*norm) && scale_rest_) scale(*norm);
  }

 private:
  const char* obstacle(const ir::Module* norm) const {
    if (norm == nullptr) return "it is a function call";
    if (norm->tensor("running_mean") == nullptr) return "it has no running statistics";
    return owns_tensors(*norm) ? nullptr : "it shares tensors with another layer";
  }

  ir::OpFamily family_of(ir::NodeId id) const {
    return ir::classify(graph_, graph_.node(id)).family();
  }

  const ir::Module* module_at(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    return node.kind == ir::NodeKind::call_module ? &graph_.module_of(node) : nullptr;
  }

  /// Returns a copy, since fusing removes calls.
  std::vector<ir::NodeId> calls_of(const ir::Module& module) const {
    std::vector<ir::NodeId> calls = calls_.at(module.path);
    std::erase_if(calls, [&](ir::NodeId id) { return !graph_.contains(id); });
    return calls;
  }

  /// True when changing the module's tensors affects calls of this module only. (Tensors that the
  /// pass added have no count.)
  bool owns_tensors(const ir::Module& module) const {
    return std::ranges::none_of(module.tensors, [&](const auto& tensor) {
      const auto uses = tensor_uses_.find(tensor.second);
      return uses != tensor_uses_.end() && uses->second > 1;
    });
  }

  /// The linear or convolution layer at a node, when its channels would be the features of a batch
  /// norm; otherwise null. Rows of features, [N, T, F], are normalised along T and do not qualify.
  ir::Module* layer_at(ir::NodeId id) {
    const ir::Module* module = module_at(id);
    if (module == nullptr || !owns_tensors(*module)) return nullptr;
    const ir::OpFamily family = family_of(id);
    const bool linear = family == ir::OpFamily::linear && graph_.node(id).info.shape.size() == 2;
    const bool convolution = family == ir::OpFamily::convolution;
    return linear || convolution ? &graph_.modules.at(module->path) : nullptr;
  }

  /// The layer whose calls are the neighbours of these calls, one to one; null when no such layer
  /// exists.
  template <class Neighbour>
  ir::Module* layer_beside(const std::vector<ir::NodeId>& norms, Neighbour&& neighbour) {
    ir::Module* layer = nullptr;
    for (const ir::NodeId norm : norms) {
      const ir::NodeId beside = neighbour(norm);
      ir::Module* found = beside == ir::no_node ? nullptr : layer_at(beside);
      if (!found || (layer && found != layer)) return nullptr;
      layer = found;
    }
    return calls_of(*layer).size() == norms.size() ? layer : nullptr;
  }

  bool into_previous(const ir::Module& norm) {
    const auto previous = [&](ir::NodeId id) {
      const ir::NodeId node = graph_.inputs(id).front();
      return graph_.users(node).size() == 1 ? node : ir::no_node;
    };
    const std::vector<ir::NodeId> calls = calls_of(norm);
    ir::Module* layer = layer_beside(calls, previous);
    if (layer == nullptr) return false;
    for (const ir::NodeId id : calls) require_no_formats(id, previous(id));
    fold_into_producer(graph_, *layer, affine_of(graph_, norm));
    remove(calls, "into_previous");
    return true;
  }

  bool into_next(const ir::Module& norm) {
    const auto next = [&](ir::NodeId id) {
      const auto users = graph_.users(id);
      return users.size() == 1 ? users.front() : ir::no_node;
    };
    const std::vector<ir::NodeId> calls = calls_of(norm);
    ir::Module* layer = layer_beside(calls, next);
    if (layer == nullptr || !reads_every_input(*layer)) return false;
    for (const ir::NodeId id : calls) require_no_formats(id, next(id));
    fold_into_consumer(graph_, *layer, affine_of(graph_, norm));
    remove(calls, "into_next");
    return true;
  }

  /// False for a padded convolution, which reads zeros where the batch norm would give its shift.
  static bool reads_every_input(const ir::Module& layer) {
    const ir::Value* padding = layer.attribute("padding");
    if (padding == nullptr) return true;
    if (padding->kind() != ir::Value::Kind::list) return false;
    return std::ranges::all_of(padding->items(),
                               [](const ir::Value& side) { return side.as_int() == 0; });
  }

  void scale(const ir::Module& norm) {
    if (is_scale_and_shift(graph_, norm)) return;
    for (const ir::NodeId id : calls_of(norm)) require_float_weights(id);
    make_scale_and_shift(graph_, graph_.modules.at(norm.path), affine_of(graph_, norm));
    for (const ir::NodeId id : calls_of(norm)) note("scale_and_shift", id);
  }

  [[noreturn]] void refuse_formats(ir::NodeId id) const {
    config_error("node '" + graph_.node(id).name +
                 "' is quantized already; run fuse_batch_norm before quantize");
  }

  void require_no_formats(ir::NodeId norm, ir::NodeId other) const {
    for (ir::NodeId id : {norm, other})
      if (!graph_.node(id).formats.empty()) refuse_formats(id);
  }

  /// A scale and shift takes and gives the numbers of its norm: quantized files have formats there.
  void require_float_weights(ir::NodeId id) const {
    const auto& formats = graph_.node(id).formats;
    if (formats.contains("weight") || formats.contains("bias")) refuse_formats(id);
  }

  void remove(const std::vector<ir::NodeId>& calls, const char* where) {
    for (const ir::NodeId id : calls) {
      note(where, id);
      graph_.replace_uses(id, graph_.inputs(id).front());
      graph_.erase(id);
    }
  }

  void note(const char* where, ir::NodeId id) {
    result_.info[where].push_back(graph_.node(id).name);
    result_.changed = true;
  }

  ir::Graph& graph_;
  bool scale_rest_;
  Result& result_;
  std::map<std::string, std::vector<ir::NodeId>> calls_;  ///< by module
  std::map<std::string, int> tensor_uses_;
};

}  // namespace

Result FuseBatchNorm::run(ir::Graph& graph, const Options& options, PassContext& context) {
  Result result;
  Fuser fuser(graph, options.rest == "scale", result);
  const std::vector<ir::NodeId> order = graph.order();
  for (ir::NodeId id : order) fuser.fuse(id);
  ir::remove_unused_tensors(graph);
  if (result.changed) context.start_again(graph, context.probe);
  return result;
}

}  // namespace mase::passes
