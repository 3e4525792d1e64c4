// SPDX-License-Identifier: Apache-2.0
// Look-up of operators and the list of those that are refused.
#include "torch/run/operators.hpp"

#include <algorithm>
#include <array>

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

/// LibTorch divides by zero in one and counts up to its argument in the other.
constexpr std::array unsafe{"aten::__round_to_zero_floordiv", "aten::factorial"};

}  // namespace

std::optional<c10::OperatorHandle> find_operator(std::string_view op) {
  const std::string_view base = ir::base_op(op);
  const std::string_view overload = op.size() > base.size() ? op.substr(base.size() + 1) : "";
  const auto found =
      c10::Dispatcher::singleton().findSchema({std::string(base), std::string(overload)});
  if (!found) return std::nullopt;
  return *found;
}

bool is_impure(std::string_view base) {
  return std::find(impure.begin(), impure.end(), base) != impure.end();
}

bool is_unsafe(std::string_view base) {
  return std::find(unsafe.begin(), unsafe.end(), base) != unsafe.end();
}

std::string refusal(std::string_view op) {
  const std::string_view base = ir::base_op(op);
  if (op == "mase::getitem" || op == "mase::identity" || find_recurrent(op)) return "";
  if (find_host_operator(op)) return "";
  if (!base.starts_with("aten::")) return "only aten operators can be run";
  if (is_impure(base)) {
    return "its result is random, uninitialised or read from outside the model";
  }
  if (is_unsafe(base)) return "LibTorch ends or never ends with it for some numbers";
  const auto found = find_operator(op);
  if (!found) return "this LibTorch has no such operator";
  if (found->schema().is_mutable()) return "it changes its arguments in place";
  return "";
}

}  // namespace mase::libtorch
