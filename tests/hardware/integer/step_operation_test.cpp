// SPDX-License-Identifier: Apache-2.0
// A step that lacks a declaration is refused by the compiler; each of these hides one.
#include "hardware/integer/steps/step_operation.hpp"

#include "hardware/integer/steps/gather.hpp"
#include "hardware/integer/steps/linear.hpp"
#include "hardware/integer/steps/repeat.hpp"

namespace mase::integer {
namespace {

struct WithoutKind : Repeat {
  void step_kind() const;
};
struct WithoutName : Repeat {
  void name() const;
};
struct WithoutDetails : Repeat {
  void details() const;
};
struct MovingUnknown : Repeat {
  void only_moves() const;
};
struct WithoutProducts : Repeat {
  void products() const;
};
struct CastsUnknown : Repeat {
  void cast_behind() const;
};
struct WithoutTakeCast : Gather {
  using take_cast = int;
};
struct PassedThoughItComputes : Repeat {
  static constexpr bool only_moves = false;
};
struct WithoutRun : Repeat {
  void run() const;
};
struct SumsUnknown : Repeat {
  void sum_bits() const;
};
struct ConstantsUnknown : Repeat {
  void constants() const;
};
struct WithoutReplaceable : Linear {
  void replaceable() const;
};
struct WithoutBounds : Linear {
  void bounds() const;
};

static_assert(StepOperation<Repeat>);
static_assert(StepOperation<Linear>);
static_assert(StepOperation<Gather>);
static_assert(!StepOperation<WithoutKind>);
static_assert(!StepOperation<WithoutName>);
static_assert(!StepOperation<WithoutDetails>);
static_assert(!StepOperation<MovingUnknown>);
static_assert(!StepOperation<WithoutProducts>);
static_assert(!StepOperation<CastsUnknown>);
static_assert(!StepOperation<WithoutTakeCast>);
static_assert(!StepOperation<PassedThoughItComputes>);
static_assert(!StepOperation<WithoutRun>);
static_assert(!StepOperation<SumsUnknown>);
static_assert(!StepOperation<ConstantsUnknown>);
static_assert(!StepOperation<WithoutReplaceable>);
static_assert(!StepOperation<WithoutBounds>);

}  // namespace
}  // namespace mase::integer
