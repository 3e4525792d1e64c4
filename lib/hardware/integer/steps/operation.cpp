// SPDX-License-Identifier: Apache-2.0
// What the step at hand declares.
#include "hardware/integer/steps/operation.hpp"

#include "hardware/integer/steps/step_operation.hpp"

namespace mase::integer {

// Here and not in the header, since every source that knows programs would wait for it.
static_assert(all_declared(static_cast<const Operation*>(nullptr)));

std::string_view step_kind(const Operation& operation) {
  return std::visit([](const auto& step) { return step.step_kind(); }, operation);
}

std::string operation_name(const Operation& operation) {
  return std::visit([](const auto& step) { return std::string(step.name()); }, operation);
}

std::string operation_details(const Operation& operation) {
  return std::visit([](const auto& step) { return step.details(); }, operation);
}

bool only_moves(const Operation& operation) {
  return std::visit([](const auto& step) { return step.only_moves; }, operation);
}

bool decodes_inputs(const Operation& operation) {
  return std::visit(
      []<class Step>(const Step&) {
        return requires { Step::decodes_inputs; };
      },
      operation);
}

bool keeps_numbers(const Operation& operation) {
  return only_moves(operation) || std::holds_alternative<Cast>(operation);
}

std::int64_t products(const Operation& operation) {
  return std::visit([](const auto& step) { return step.products(); }, operation);
}

std::optional<ConstantMatrix> constant_matrix(const Operation& operation) {
  return std::visit(
      [](const auto& step) -> std::optional<ConstantMatrix> {
        if constexpr (requires { step.matrix(); }) return step.matrix();
        return std::nullopt;
      },
      operation);
}

std::optional<Approximation> approximation(const Operation& operation) {
  return std::visit(
      [](const auto& step) -> std::optional<Approximation> {
        if constexpr (requires { step.approximation(); }) return step.approximation();
        return std::nullopt;
      },
      operation);
}

BlockInput blocks_of(const Operation& operation) {
  return std::visit(
      [](const auto& step) -> BlockInput {
        if constexpr (requires { step.blocks; }) return step.blocks;
        return {};
      },
      operation);
}

void take_numbers(Operation& operation) {
  std::visit(
      [](auto& step) {
        if constexpr (requires { step.blocks; }) step.blocks = {};
      },
      operation);
}

std::optional<std::int64_t> index_end(const Operation& operation) {
  return std::visit(
      [](const auto& step) -> std::optional<std::int64_t> {
        if constexpr (requires { step.index_end(); }) return step.index_end();
        return std::nullopt;
      },
      operation);
}

CastBehind cast_behind(const Operation& operation) {
  return std::visit(
      []<class Step>(const Step& step) {
        if constexpr (Step::cast_behind == CastBehind::enters)
          if (!step.takes_casts()) return CastBehind::stays;
        return Step::cast_behind;
      },
      operation);
}

void take_cast(Operation& operation, const Requantise& cast) {
  std::visit(
      [&]<class Step>(Step& step) {
        if constexpr (TakesCasts<Step>) step.take_cast(cast);
      },
      operation);
}

int sum_bits(const Operation& operation, std::span<const FixedType> inputs) {
  return std::visit([&](const auto& step) { return step.sum_bits(inputs); }, operation);
}

}  // namespace mase::integer
