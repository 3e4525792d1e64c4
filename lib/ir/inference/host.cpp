// SPDX-License-Identifier: Apache-2.0
// Rules of values on the host: sizes, and the kinds of numbers.
#include "ir/inference/dtypes.hpp"
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

Inferred one_integer(const Call&) { return host_info(InfoKind::integer); }
Inferred one_number(const Call&) { return host_info(InfoKind::number); }
Inferred one_truth(const Call&) { return host_info(InfoKind::boolean); }

Inferred sizes(const Call& call) {
  if (call.value("dim")) return host_info(InfoKind::integer);
  return container_info(InfoKind::list, std::vector<ValueInfo>(call.input().shape.size(),
                                                               host_info(InfoKind::integer)));
}

/// An integer if both operands are, else a float.
Inferred same_kind_of_number(const Call& call) {
  for (const Argument& argument : call.node().args)
    if (call.info_of(argument.value).kind == InfoKind::number) return host_info(InfoKind::number);
  return host_info(InfoKind::integer);
}

Inferred quotient_with_rest(const Call& call) {
  const ValueInfo number = *same_kind_of_number(call);
  return tuple_info({number, number});
}

/// The number that a tensor holds.
Inferred held_number(const Call& call) {
  return host_info(is_floating(call.input().dtype) ? InfoKind::number : InfoKind::integer);
}

}  // namespace

std::vector<InferenceRule> host_rules() {
  return {
      {"aten::size", sizes},
      {"aten::dim", one_integer},
      {"aten::numel", one_integer},
      {"aten::len", one_integer},
      {"aten::Int", one_integer},
      {"aten::IntImplicit", one_integer},
      {"aten::Float", one_number},
      {"aten::FloatImplicit", one_number},
      {"aten::Bool", one_truth},
      {"aten::__not__", one_truth},
      {"aten::item", held_number},
      {"aten::ScalarImplicit", held_number},
      {"prim::min", same_kind_of_number},
      {"prim::max", same_kind_of_number},
      {"aten::gcd", one_integer},
      {"aten::divmod", quotient_with_rest},
  };
}

}  // namespace mase::ir
