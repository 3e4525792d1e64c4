// SPDX-License-Identifier: Apache-2.0
// Every step of the integer program has a row of its own in the step table.
#include "hardware/design/step_table.hpp"

#include <catch2/catch.hpp>

#include <set>

#include "hardware/design/modules/all.hpp"

namespace mase::design {
namespace {

Step step_of(integer::Operation operation) {
  Step step;
  step.operation = std::move(operation);
  return step;
}

/// Calls see(step) with every alternative of an Operation.
template <class See, class... Steps>
void for_each_kind(const std::variant<Steps...>*, See&& see) {
  (see(step_of(Steps{})), ...);
}

}  // namespace

TEST_CASE("every step has a row of its own") {
  std::set<std::string_view> kinds;
  for_each_kind(static_cast<const integer::Operation*>(nullptr), [&](const Step& step) {
    INFO(integer::step_kind(step.operation));
    CHECK(step_row(step).kind == integer::step_kind(step.operation));
    CHECK(kinds.insert(step_row(step).kind).second);
  });
}

TEST_CASE("every row has its step") {
  std::set<std::string_view> kinds{"depthwise", "external"};  // of a convolution and of a lookup
  for_each_kind(static_cast<const integer::Operation*>(nullptr),
                [&](const Step& step) { kinds.insert(integer::step_kind(step.operation)); });
  std::set<std::string_view> rows;
  for (const Listed& listed : all_modules())
    if (listed.step) CHECK(rows.insert(listed.step().kind).second);
  CHECK(rows == kinds);
}

}  // namespace mase::design
