// SPDX-License-Identifier: Apache-2.0
// Rows of conversions between types of elements.
#include "onnx/import/host.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

DType target(Call& call) {
  const auto type = static_cast<ElementType>(call.integer("to", 0));
  const auto dtype = dtype_of(type);
  if (!dtype) call.refuse("it converts to elements of type " + element_name(type));
  return *dtype;
}

void convert(Call& call, DType dtype) {
  if (call.dtype(0) == dtype) return call.result(Operand(call.operand(0)));
  call.result(converted(call, call.tensor(0), dtype));
}

std::optional<HostTensor> on_host(Call& call, DType dtype) {
  HostTensor tensor = call.host(0);
  for (ir::Value& item : tensor.items) {
    auto cast = cast_item(item, tensor.dtype, dtype);
    if (!cast) return std::nullopt;
    item = std::move(*cast);
  }
  tensor.dtype = dtype;
  return tensor;
}

void cast(Call& call) { convert(call, target(call)); }
std::optional<HostTensor> host_cast(Call& call) { return on_host(call, target(call)); }

/// Operand 1 says a type only, so operand 0 alone decides what is known.
void cast_like(Call& call) {
  const DType dtype = call.dtype(1);
  auto known = call.find_host(0) ? on_host(call, dtype) : std::nullopt;
  if (known) return call.result(std::move(*known));
  convert(call, dtype);
}

/// The same bits as another type.
void bit_cast(Call& call) {
  const DType dtype = target(call);
  if (size_of(dtype) != size_of(call.dtype(0)))
    call.refuse("it casts bits between elements of different sizes");
  call.result(call.emit("aten::view.dtype", {{"self", call.ref(0)}, {"dtype", number_of(dtype)}}));
}

}  // namespace

std::vector<Row> type_rows() {
  return {
      {"Cast", 6, cast, host_cast},
      {"CastLike", 15, cast_like},
      {"BitCast", 26, bit_cast},
  };
}

}  // namespace mase::onnx
