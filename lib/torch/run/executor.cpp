// SPDX-License-Identifier: Apache-2.0
// Runs a plan, in eval and in training mode.
#include "torch/run/executor.hpp"

#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <limits>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "ir/masks.hpp"
#include "torch/run/arguments.hpp"
#include "torch/run/device.hpp"
#include "torch/run/in_place.hpp"
#include "torch/run/normalise.hpp"
#include "torch/run/operator_demands.hpp"
#include "torch/run/plan.hpp"
#include "torch/run/quantize_op.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

/// The tensors of an initial state: none, h or (h, c).
std::vector<at::Tensor> state_tensors(const c10::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  if (value.isTensorList()) return value.toTensorVector();
  std::vector<at::Tensor> tensors;
  if (value.isTuple())
    for (const c10::IValue& item : value.toTupleRef().elements())
      tensors.push_back(item.toTensor());
  return tensors;
}

}  // namespace

c10::IValue Executor::Plan::fetch(Recipe& recipe) {
  switch (recipe.kind) {
    case Recipe::Kind::constant:
      return recipe.constant;
    case Recipe::Kind::slot: {
      c10::IValue& slot = slots_[static_cast<std::size_t>(recipe.slot)];
      return recipe.last_use ? std::move(slot) : slot;
    }
    case Recipe::Kind::tensor:
      return *recipe.tensor;
    case Recipe::Kind::training:
      return training_;
    case Recipe::Kind::average:  // the weight of a batch in the mean over all batches so far
      return training_ ? 1.0 / static_cast<double>(recipe.tensor->item<std::int64_t>() + 1) : 0.0;
    default:
      break;
  }
  std::vector<c10::IValue> items;
  items.reserve(recipe.items.size());
  for (Recipe& item : recipe.items) items.push_back(evaluate(item));
  if (recipe.kind == Recipe::Kind::tuple) return c10::ivalue::Tuple::create(std::move(items));
  if (recipe.kind == Recipe::Kind::list) return make_list(std::move(items), recipe.type);
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (std::size_t i = 0; i < items.size(); ++i) dict.insert(recipe.keys[i], items[i]);
  return dict;
}

bool Executor::Plan::quantizes(const Recipe& recipe) const {
  return recipe.format != nullptr && level == ir::Level::quantized &&
         (recipe.in_training || !training_);
}

c10::IValue Executor::Plan::evaluate(Recipe& recipe) {
  if (!quantizes(recipe)) return fetch(recipe);
  const bool keep = recipe.kind == Recipe::Kind::tensor && !training_ && !observe_tensor_;
  if (keep && recipe.cached.defined()) return recipe.cached;
  c10::IValue value = quantized(recipe, fetch(recipe));
  if (keep) recipe.cached = value.toTensor();
  return value;
}

c10::IValue Executor::Plan::quantized(Recipe& recipe, c10::IValue value) {
  if (value.isTensor()) return show_quantized(recipe, value.toTensor(), 0);
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> out;
  for (const at::Tensor& tensor : value.toTensorVector())
    out.push_back(show_quantized(recipe, tensor, static_cast<std::int64_t>(out.size())));
  return out;
}

/// Rounds a tensor. A mask counts as 0 for formats that consider neighbouring elements.
at::Tensor Executor::Plan::rounded(const at::Tensor& tensor, const PortFormat& by, Rounded what,
                                   std::int64_t item) const {
  if (!by.keeps_masks || tensor.scalar_type() != at::kFloat) return on_grid(tensor, by, what, item);
  const at::Tensor masked = tensor.le(ir::mask_bound);
  return on_grid(tensor.masked_fill(masked, 0.0), by, what, item)
      .masked_fill(masked, -std::numeric_limits<double>::infinity());
}

at::Tensor Executor::Plan::on_grid(const at::Tensor& tensor, const PortFormat& by, Rounded what,
                                   std::int64_t item) const {
  if (!training_) return quantize(tensor, by.format->deterministic());
  RoundedSizes sizes;
  if (what == Rounded::data) sizes = tensor.sizes();
  const at::Tensor out =
      quantize(tensor, rounding.at(*by.format, by.place, what, sizes, item), by.log2_step);
  if (!rounding.gradient) return out;
  return round_gradient(out,
                        rounding.at(*rounding.gradient, by.place, Rounded::gradient, sizes, item));
}

at::Tensor Executor::Plan::show_quantized(const Recipe& recipe, const at::Tensor& tensor,
                                          std::int64_t item) {
  const bool stored = recipe.kind == Recipe::Kind::tensor;
  at::Tensor out = rounded(tensor, recipe, stored ? Rounded::parameter : Rounded::data, item);
  if (observe_tensor_) {
    (*observe_tensor_)(*current_->shown, recipe.port + ".raw", tensor);
    (*observe_tensor_)(*current_->shown, recipe.port, out);
  }
  return out;
}

/// The tensor on the device of the plan.
c10::IValue Executor::Plan::moved(const c10::IValue& value) const {
  return value.isTensor() ? value.toTensor().to(device) : value;
}

/// Arguments that LibTorch reads on the CPU, wherever the others lie.
void Executor::Plan::bring_to_host(const PlanStep& step) {
  for (const std::size_t i : step.on_host)
    if (stack_[i].isTensor()) stack_[i] = stack_[i].toTensor().cpu();
}

/// Runs a batch norm in eval mode with the kernels of mase, with linked steps unless observed.
bool Executor::Plan::call_norm(PlanStep& step) {
  enum { input, weight, bias, mean, variance, training, momentum, epsilon };
  if (stack_[training].toBool()) return false;
  const auto tensor = [&](int i) {
    return stack_[i].toOptional<at::Tensor>().value_or(at::Tensor());
  };
  const bool watched = observe_tensor_ || observe_value_;
  PlanStep* const sum = watched ? nullptr : step.sum;
  PlanStep* const activation = watched ? nullptr : step.activation;
  const at::Tensor from = std::move(stack_[input]).toTensor();
  const at::Tensor out = normalise(
      from,
      {tensor(weight), tensor(bias), tensor(mean), tensor(variance), stack_[epsilon].toDouble()},
      sum ? slots_[static_cast<std::size_t>(step.addend)].toTensor() : at::Tensor(),
      activation ? step.clamp : Clamp());
  for (PlanStep* next : {sum, activation})
    if (next) next->done = out.defined();
  if (out.defined()) stack_.resize(1);
  stack_[input] = out.defined() ? out : from;
  return out.defined();
}

c10::IValue Executor::Plan::take_done(PlanStep& step) {
  c10::IValue result;
  for (std::size_t i = 0; i < step.arguments.size(); ++i)
    if (c10::IValue value = fetch(step.arguments[i]); i == step.done_place)
      result = std::move(value);
  return result;
}

/// Calls an operator. In eval runs it may overwrite an argument that is not needed any more, if the
/// result is the same. Training runs keep arguments for gradients.
void Executor::Plan::call_operator(PlanStep& step) {
  if (!step.on_host.empty()) bring_to_host(step);
  if (step.has_demands) require_demands(step.node->op, stack_);
  if (training_ && step.draw_by_row && batch_parts_in_use() && step.draw_by_row(stack_)) return;
  if (step.is_batch_norm && (training_ ? call_shared_norm() : call_norm(step))) return;
  const bool over = !training_ && step.in_place && may_overwrite(stack_);
  (over ? step.in_place : step.aten)->callBoxed(&stack_);
}

c10::IValue Executor::Plan::call_aten(PlanStep& step) {
  if (step.done) return take_done(step);
  stack_.clear();
  for (Recipe& recipe : step.arguments) stack_.push_back(evaluate(recipe));
  at::Tensor hidden;
  if (step.hides && quantizes(step.arguments[0])) hidden = stack_[0].toTensor().isneginf();
  call_operator(step);
  if (hidden.defined()) stack_[0] = stack_[0].toTensor().masked_fill(hidden, 0.0);
  if (training_ && step.batches) count_batch(*step.batches);
  if (stack_.size() == 1) return std::move(stack_.back());
  std::vector<c10::IValue> results = std::move(stack_);
  stack_ = {};
  return c10::ivalue::Tuple::create(std::move(results));
}

c10::IValue Executor::Plan::call_recurrent(PlanStep& step) {
  RecurrentCall call{step.constants};
  if (step.trains_with_graph) call.train = training_;
  call.input = evaluate(step.arguments[0]).toTensor();
  Recipe& state = step.arguments[1];  // its format applies at every step, not only the first
  call.state = state_tensors(fetch(state));
  std::size_t place = 2;
  for (auto* tensors :
       {&call.weight_ih, &call.weight_hh, &call.weight_hr, &call.bias_ih, &call.bias_hh})
    *tensors = evaluate(step.arguments[place++]).toTensorVector();
  if (step.node->find("batch_sizes"))
    call.batch_sizes = evaluate(step.arguments[place]).toTensor().cpu();
  if (level == ir::Level::quantized && !step.node->formats.empty())
    return run_steps(*step.recurrent, call,
                     [&, time = std::int64_t{0}](const at::Tensor& h) mutable {
                       return quantizes(state) ? show_quantized(state, h, time++) : h;
                     });
  if (observe_tensor_) {
    run_steps(*step.recurrent, call, [&](const at::Tensor& h) {
      (*observe_tensor_)(*current_->shown, "state", h);
      return h;
    });
  }
  return run_recurrent(*step.recurrent, call);
}

c10::IValue Executor::Plan::call(PlanStep& step) {
  switch (step.kind) {
    case PlanStep::Kind::aten:
      return step.norm ? call_folded(step) : call_aten(step);
    case PlanStep::Kind::host: {
      std::vector<c10::IValue> arguments;
      for (Recipe& recipe : step.arguments) arguments.push_back(evaluate(recipe));
      return step.host->run(arguments);
    }
    case PlanStep::Kind::recurrent:
      return call_recurrent(step);
    case PlanStep::Kind::get_item:
      return get_item(evaluate(step.arguments[0]), step.node->args[1].value,
                      [&](ir::NodeId id) { return slots_[static_cast<std::size_t>(id)]; });
    default:
      return evaluate(step.arguments[0]);
  }
}

void Executor::Plan::finish(const PlanStep& step, c10::IValue value) {
  if (step.out.format && level == ir::Level::quantized && value.isTensor()) {
    const at::Tensor raw = value.toTensor();
    if (observe_tensor_) (*observe_tensor_)(*step.node, "data_out.raw", raw);
    value = rounded(raw, step.out, Rounded::data);
  }
  if (observe_tensor_ && value.isTensor() && step.kind != PlanStep::Kind::output) {
    (*observe_tensor_)(*step.node, "data_out", value.toTensor());
  }
  if (observe_value_) (*observe_value_)(*step.node, value);
  for (const ir::NodeId id : step.dead) slots_[static_cast<std::size_t>(id)] = {};
  if (step.kind == PlanStep::Kind::output) {
    result_ = std::move(value);
  } else {
    slots_[static_cast<std::size_t>(step.node->id)] = std::move(value);
  }
}

void Executor::Plan::run_step(PlanStep& step, const std::vector<c10::IValue>& inputs,
                              std::size_t& next_input) {
  current_ = &step;
  const Running running(Running::Kind::model_operator, step.node->op.c_str(),
                        step.node->name.c_str());
  if (step.kind == PlanStep::Kind::input) {
    if (next_input == inputs.size()) file_error("too few inputs were given");
    finish(step, moved(inputs[next_input++]));
  } else {
    finish(step, call(step));
  }
}

c10::IValue Executor::Plan::run(const std::vector<c10::IValue>& inputs, bool train,
                                const TensorObserver* observe_tensor,
                                const ValueObserver* observe_value) {
  training_ = train;
  observe_tensor_ = observe_tensor && *observe_tensor ? observe_tensor : nullptr;
  observe_value_ = observe_value && *observe_value ? observe_value : nullptr;
  for (PlanStep& step : steps) step.done = false;
  std::size_t next_input = 0;
  try {
    for (PlanStep& step : steps) run_step(step, inputs, next_input);
  } catch (const Error& error) {
    throw Error(error.fault(), "node '" + current_->node->name + "' (" + current_->node->op +
                                   "): " + error.what());
  } catch (const c10::Error& error) {
    file_error("node '" + current_->node->name + "' (" + current_->node->op +
               "): " + device_error(error, device, current_->node->op));
  } catch (const std::runtime_error& error) {
    file_error("node '" + current_->node->name + "' (" + current_->node->op + "): " + error.what());
  }
  return std::move(result_);
}

Executor::Executor(const ir::Graph& graph, ir::Level level, c10::Device device)
    : plan_(std::make_unique<Plan>(graph, level, device)) {}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

const ir::Graph& Executor::graph() const { return plan_->graph; }
c10::Device Executor::device() const { return plan_->device; }
std::map<std::string, at::Tensor>& Executor::tensors() { return plan_->tensors; }

c10::IValue Executor::run(const std::vector<c10::IValue>& inputs) {
  c10::InferenceMode guard;
  return plan_->run(inputs, false, nullptr, nullptr);
}

c10::IValue Executor::run(const std::vector<c10::IValue>& inputs,
                          const TensorObserver& observe_tensor,
                          const ValueObserver& observe_value) {
  c10::InferenceMode guard;
  return plan_->run(inputs, false, &observe_tensor, &observe_value);
}

c10::IValue Executor::run_training(const std::vector<c10::IValue>& inputs) {
  forget_quantized();
  c10::AutoGradMode guard(true);
  return plan_->run(inputs, true, nullptr, nullptr);
}

void Executor::set_level(ir::Level level) {
  forget_quantized();
  plan_->level = level;
}

void Executor::learn_step(ir::NodeId node, const std::string& port, const at::Tensor& log2_step) {
  for (PlanStep& step : plan_->steps) {
    if (step.shown->id != node) continue;
    if (port == "data_out") step.out.log2_step = log2_step;
    for (Recipe& recipe : step.arguments) {
      if (recipe.port == port) recipe.log2_step = log2_step;
      for (Recipe& item : recipe.items)
        if (item.port == port) item.log2_step = log2_step;
    }
  }
}

TrainingRounding& Executor::rounding() { return plan_->rounding; }

void Executor::set_format(ir::NodeId node, const std::string& port, const formats::Format& format) {
  // Changed in place, because the steps point to it.
  ir::Node& own = plan_->graph.node(node);
  if (const auto found = own.formats.find(port); found != own.formats.end()) found->second = format;
  if (const auto leaf = plan_->leaves.find(node); leaf != plan_->leaves.end())
    leaf->second.formats.at(port) = format;
  for (const auto& [rounding, at] : plan_->leaf_ports)
    if (at.leaf == node && at.port == port)
      plan_->graph.node(rounding).formats.at("data_in") = format;
  forget_quantized();
}

void Executor::own_tensors() {
  for (auto& [path, tensor] : plan_->tensors) {
    tensor = tensor.detach().clone();
    const ir::Tensor& source = plan_->graph.tensors.at(path);
    if (source.requires_grad && tensor.is_floating_point()) tensor.set_requires_grad(true);
  }
}

void Executor::store_tensors(ir::Graph& graph) const {
  for (const auto& [path, tensor] : plan_->tensors) {
    graph.tensors.at(path).value = to_array(tensor, path);
  }
}

void Executor::forget_quantized() {
  for (PlanStep& step : plan_->steps) {
    for (Recipe& recipe : step.arguments) {
      recipe.cached.reset();
      for (Recipe& item : recipe.items) item.cached.reset();
    }
  }
}

}  // namespace mase::libtorch
