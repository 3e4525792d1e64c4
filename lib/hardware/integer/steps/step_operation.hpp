// SPDX-License-Identifier: Apache-2.0
// StepOperation: what every step declares about itself. A step without one of the declarations does
// not compile, so that no place that asks all steps can mistake it for another one.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <variant>

namespace mase::integer {

/// step_kind() is the row of the step table (lib/hardware/design) that makes hardware of the step;
/// name() and details() are what the text of a program says of it.
template <class Step>
concept NamedStep = requires(const Step& step) {
  { step.step_kind() } -> std::same_as<std::string_view>;
  { step.name() } -> std::same_as<std::string_view>;
  { step.details() } -> std::same_as<std::string>;
};

/// only_moves says whether the step gives codes of its inputs as they are.
template <class Step>
concept MovingOrNot = std::same_as<decltype(Step::only_moves), const bool>;

/// All that a step declares.
template <class Step>
concept StepOperation =
    std::copyable<Step> && std::default_initializable<Step> && NamedStep<Step> && MovingOrNot<Step>;

/// Stops the compiler at the first declaration that a step lacks.
template <class Step>
constexpr bool declared() {
  static_assert(NamedStep<Step>, "a step declares step_kind(), name() and details()");
  static_assert(MovingOrNot<Step>, "a step declares static constexpr bool only_moves");
  return StepOperation<Step>;
}

template <class... Steps>
constexpr bool all_declared(const std::variant<Steps...>*) {
  return (declared<Steps>() && ...);
}

}  // namespace mase::integer
