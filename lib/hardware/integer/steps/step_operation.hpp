// SPDX-License-Identifier: Apache-2.0
// StepOperation: what every step declares about itself. A step without one of the declarations does
// not compile, so that no place that asks all steps can mistake it for another one.
#pragma once

#include <concepts>
#include <variant>

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// step_kind() is the row of the step table (lib/hardware/design) that makes hardware of the step;
/// name() and details() are what the text of a program says of it.
template <class Step>
concept NamedStep = requires(const Step& step) {
  { step.step_kind() } -> std::same_as<std::string_view>;
  { step.name() } -> std::same_as<std::string_view>;
  { step.details() } -> std::same_as<std::string>;
};

/// products() of two numbers are summed up to one element of the result.
template <class Step>
concept CountedStep = requires(const Step& step) {
  { step.products() } -> std::same_as<std::int64_t>;
};

/// only_moves says whether the step gives codes of its inputs as they are.
template <class Step>
concept MovingOrNot = std::same_as<decltype(Step::only_moves), const bool>;

/// Is shown any list of constants.
struct AnyList {
  template <class List>
  void operator()(const ConstantList<List>&) const {}
};

/// constants(self, output, see) calls `see` with every ConstantList of the step, at most one of
/// each kind; `output` is the type of the step's output.
template <class Step>
concept StepOfConstants = requires(Step& step, const FixedType& output) {
  Step::constants(step, output, AnyList{});
};

template <class Step>
concept StepWithoutConstants = std::same_as<decltype(Step::constants), const NoConstants>;

/// replaceable says whether constants of another checkpoint may come in a program of reloadable
/// contents, whose bounds then hold for all of them. bounds(input) holds every partial sum with the
/// constants as they are, for all inputs of an interval; nullopt where it does not follow from
/// them.
template <class Step>
concept BoundedStep = StepWithoutConstants<Step> ||
    requires(const Step& step, const Interval& input) {
  { Step::replaceable } -> std::convertible_to<bool>;
  { step.bounds(input) } -> std::same_as<std::optional<Interval>>;
};

/// cast_behind says how the step saves a cast, by take_cast() where it enters or passes the step.
template <class Step>
concept TakesCasts = requires(Step& step, const Requantise& cast) {
  { step.take_cast(cast) } -> std::same_as<void>;
};
template <class Step>
concept AsksForCasts = requires(const Step& step) {
  { step.takes_casts() } -> std::same_as<bool>;
};
template <class Step>
concept StepBeforeCasts = std::same_as<decltype(Step::cast_behind), const CastBehind> &&
    (Step::cast_behind == CastBehind::merges || Step::cast_behind == CastBehind::stays ||
     (Step::cast_behind == CastBehind::enters && TakesCasts<Step> && AsksForCasts<Step>) ||
     (Step::cast_behind == CastBehind::passes && TakesCasts<Step> && Step::only_moves));

/// run(frame) computes one frame; sum_bits(inputs) are the bits of numbers on the way to the
/// accumulator where they can be more than its own, else 0.
template <class Step>
concept ExactStep = requires(const Step& step, const Frame<std::int64_t>& frame,
                             const Frame<Wide>& wide, std::span<const FixedType> inputs) {
  { step.run(frame) } -> std::same_as<void>;
  { step.run(wide) } -> std::same_as<void>;
  { step.sum_bits(inputs) } -> std::same_as<int>;
};

/// All that a step declares.
template <class Step>
concept StepOperation = std::copyable<Step> && std::default_initializable<Step> &&
    NamedStep<Step> && MovingOrNot<Step> && CountedStep<Step> && StepBeforeCasts<Step> &&
    StepOfConstants<Step> && BoundedStep<Step> && ExactStep<Step>;

/// Stops the compiler at the first declaration that a step lacks.
template <class Step>
constexpr bool declared() {
  static_assert(NamedStep<Step>, "a step declares step_kind(), name() and details()");
  static_assert(MovingOrNot<Step>, "a step declares static constexpr bool only_moves");
  static_assert(CountedStep<Step>, "a step declares products()");
  static_assert(StepBeforeCasts<Step>,
                "a step declares static constexpr CastBehind cast_behind; with passes, take_cast() "
                "and that it only moves, with enters, take_cast() and takes_casts()");
  static_assert(StepOfConstants<Step>,
                "a step declares constants(self, output, see) or NoConstants");
  static_assert(BoundedStep<Step>, "a step with constants declares replaceable and bounds(input)");
  static_assert(ExactStep<Step>,
                "a step declares run(frame), and sum_bits(inputs) or SumsInAccumulator");
  return StepOperation<Step>;
}

template <class... Steps>
constexpr bool all_declared(const std::variant<Steps...>*) {
  return (declared<Steps>() && ...);
}

}  // namespace mase::integer
