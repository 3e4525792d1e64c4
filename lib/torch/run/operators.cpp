// SPDX-License-Identifier: Apache-2.0
// Looks up operators, and has the list of those that are refused.
#include "torch/run/operators.hpp"

#include <algorithm>
#include <array>

#include "ir/allowed_operators.hpp"
#include "ir/op_table.hpp"
#include "torch/run/recurrent.hpp"

namespace mase::libtorch {
namespace {

/// Base names whose result is random or comes from outside the graph. Dropout is not here: it is
/// the identity in eval mode.
constexpr std::array impure{
    "aten::rand",
    "aten::randn",
    "aten::randint",
    "aten::randperm",
    "aten::rand_like",
    "aten::randn_like",
    "aten::randint_like",
    "aten::normal",
    "aten::bernoulli",
    "aten::multinomial",
    "aten::poisson",
    "aten::binomial",
    "aten::uniform",
    "aten::exponential",
    "aten::log_normal",
    "aten::cauchy",
    "aten::geometric",
    "aten::random",
    "aten::empty",
    "aten::empty_like",
    "aten::new_empty",
    "aten::empty_strided",
    "aten::from_file",
    "aten::save",
    "aten::manual_seed",
    "aten::seed",
    "aten::load",
    "aten::_standard_gamma",
    "aten::_sample_dirichlet",
};

}  // namespace

std::optional<c10::OperatorHandle> find_operator(std::string_view op) {
  const std::string_view base = ir::base_op(op);
  const std::string_view overload = op.size() > base.size() ? op.substr(base.size() + 1) : "";
  const auto found =
      c10::Dispatcher::singleton().findSchema({std::string(base), std::string(overload)});
  if (!found) return std::nullopt;
  return *found;
}

std::string full_name(const c10::FunctionSchema& schema) {
  const std::string& overload = schema.overload_name();
  return overload.empty() ? schema.name() : schema.name() + "." + overload;
}

bool is_impure(std::string_view base) {
  return std::find(impure.begin(), impure.end(), base) != impure.end();
}

std::string refusal(std::string_view op) {
  const std::string_view base = ir::base_op(op);
  const bool own = find_recurrent(op) || find_own_operator(op);
  if (own || op == "mase::getitem" || op == "mase::identity") return "";
  if (is_impure(base)) return "its result is random, uninitialised or read from outside the model";
  if (!base.starts_with("aten::") && !base.starts_with("prim::"))
    return "only aten operators can be run";
  const auto found = find_operator(op);
  if (!found && !is_known_to_torchscript(op))
    return "this LibTorch has no such operator; a newer one may have it";
  if (!ir::is_allowed(op)) return ir::not_allowed(op);
  if (find_host_operator(op)) return "";
  if (!found) return "it computes with lists or text, which may not depend on the input";
  if (found->schema().is_mutable()) return "it changes its arguments in place";
  return "";
}

}  // namespace mase::libtorch
