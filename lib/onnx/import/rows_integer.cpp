// SPDX-License-Identifier: Apache-2.0
// Rows of operators on integers: each becomes DequantizeLinear, the operator on floats, and
// QuantizeLinear; those whose results are exact sums of integers are computed in float64.
#include <algorithm>

#include "onnx/import/expansion.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"
#include "onnx/import/windows.hpp"

namespace mase::onnx {
namespace {

/// The values of an int32 bias, whose scale is that of the input times that of each channel.
Operand bias_of(Call& call, std::size_t i, std::size_t input_scale, std::size_t weight_scale) {
  const Array* codes = call.constant(i);
  if (!codes) call.refuse("its bias is computed by the model; it must be a constant");
  const float input = float_constant(call, input_scale, "input scale").span<float>()[0];
  Quantizer quantizer{float_constant(call, weight_scale, "weight scale"),
                      Array::from(std::vector<float>{0}, {})};
  for (float& one : quantizer.scale.mutable_span<float>()) one *= input;
  if (quantizer.scale.size() == 1) quantizer.scale = Array::from(quantizer.scale.span<float>(), {});
  constexpr int bias_bits = 32;
  set_range(quantizer, bias_bits, true, false);
  Constant constant = *call.operand(i).constant;
  constant.value = values_of(quantizer, *codes);
  constant.formats = formats_of(quantizer);
  constant.path.clear();
  return {.constant = std::move(constant)};
}

void qlinear_conv(Call& call) {
  enum { x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b };
  Expansion body(call);
  std::vector<std::string> inputs{body.values(x), body.values(w, 0)};
  if (call.has(b)) inputs.push_back(body.define(bias_of(call, b, x_scale, w_scale)));
  body.quantize(body.add("Conv", inputs, body.attributes()), y_scale);
  body.import();
}

void qlinear_matmul(Call& call) {
  enum { a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero };
  Expansion body(call);
  const std::string left = body.values(a, -2), right = body.values(b, -1);
  body.quantize(body.add("MatMul", {left, right}), y_scale);
  body.import();
}

/// Gemm of onnxruntime, whose result is float32 if it has no scale.
void qgemm(Call& call) {
  enum { a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero };
  Expansion body(call);
  const std::int64_t axis = call.integer("transB", 0) != 0 ? 0 : 1;
  std::vector<std::string> inputs{body.values(a), body.values(b, axis)};
  if (call.has(c)) inputs.push_back(body.define(bias_of(call, c, a_scale, b_scale)));
  const std::string result = body.add("Gemm", inputs, body.attributes());
  if (call.has(y_scale)) {
    body.quantize(result, y_scale);
    return body.import();
  }
  body.import();
  call.result(*call.importer().find(result));
}

/// An operator of `operands` tensors, each with its scale and zero point, in front of those of the
/// result: the operators of onnxruntime.
Row qlinear(std::string_view op, std::string_view on_floats, std::size_t operands) {
  return {op,
          1,
          [=](Call& call) {
            Expansion body(call);
            std::vector<std::string> inputs;
            for (std::size_t i = 0; i < operands; ++i) inputs.push_back(body.values(3 * i));
            if (call.integer("channels_last", 0) != 0) call.refuse("its channels are last");
            body.quantize(body.add(std::string(on_floats), inputs, body.attributes()),
                          3 * operands);
            body.import();
          },
          {},
          "com.microsoft"};
}

/// The condition stands in front of both operands.
void qlinear_where(Call& call) {
  enum { condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale };
  Expansion body(call);
  const std::string left = body.values(x), right = body.values(y);
  body.quantize(body.add("Where", {body.at(condition), left, right}), z_scale);
  body.import();
}

/// Operands follow the scale and the zero point of the result.
void qlinear_concat(Call& call) {
  Expansion body(call);
  std::vector<std::string> inputs;
  for (std::size_t i = 2; i < call.count(); i += 3) inputs.push_back(body.values(i));
  body.quantize(body.add("Concat", inputs, body.attributes()), 0);
  body.import();
}

/// A constant less its zero point, in float64. A zero point for each row or channel has `shape`, in
/// which -1 stands for their number.
Constant constant_in_float64(const Constant& codes, const Array* zero, Shape shape) {
  Quantizer quantizer{Array::from(std::vector<float>{1}, {}),
                      Array::from(std::vector<float>{0}, {})};
  if (zero) {
    const Array numbers = zero->aligned().to_float32();
    std::ranges::replace(shape, -1, numbers.size());
    quantizer.zero = Array::from(numbers.span<float>(), numbers.size() == 1 ? Shape{} : shape);
  }
  const Array values = values_of(quantizer, codes.value);
  Constant constant = codes;
  constant.value = Array(DType::float64, values.shape());
  std::ranges::copy(values.span<float>(), constant.value.mutable_span<double>().begin());
  constant.path.clear();
  return constant;
}

/// Operand i less its zero point, as above.
Operand in_float64(Call& call, std::size_t i, std::size_t zero_point, const Shape& shape) {
  const bool shifted = call.has(zero_point);
  const Array* zero = shifted ? call.constant(zero_point) : nullptr;
  if (call.constant(i) && (zero || !shifted))
    return {.constant = constant_in_float64(*call.operand(i).constant, zero, shape)};
  ir::NodeId node = converted(call, call.tensor(i), DType::float64);
  if (shifted) {
    ir::NodeId offset = converted(call, call.tensor(zero_point), DType::float64);
    if (call.rank(zero_point) == 1)
      offset = call.emit("aten::reshape", {{"self", ref(offset)}, {"shape", list_of(shape)}});
    node = combined(call, "aten::sub", node, ref(offset));
  }
  return {.node = node};
}

/// Exact sums of products: float64 holds integers up to 2^53.
void on_integers(Call& call, const std::string& op, const Shape& left, const Shape& right) {
  Expansion body(call);
  const std::string a = body.define(in_float64(call, 0, 2, left));
  const std::string b = body.define(in_float64(call, 1, 3, right));
  const std::string sums = body.add(op, {a, b}, body.attributes());
  body.import();
  call.result(converted(call, call.importer().find(sums)->node, DType::int32));
}

void conv_integer(Call& call) {
  Shape channels(2 + window_of(call, call.shape(1)).size(), 1);
  channels.front() = -1;
  on_integers(call, "Conv", {1}, channels);
}

void matmul_integer(Call& call) {
  on_integers(call, "MatMul", call.rank(0) < 2 ? Shape{1} : Shape{-1, 1}, {-1});
}

/// The range of x, with 0, becomes that of uint8.
void dynamic_quantize(Call& call) {
  const auto apply = [&](std::string_view op, ir::NodeId on) {
    return call.emit(op, {{"self", ref(on)}});
  };
  const auto join = [&](std::string_view op, ir::NodeId a, ir::NodeId b) {
    return call.emit(op, {{"self", ref(a)}, {"other", ref(b)}});
  };
  constexpr double most = 255;
  const ir::NodeId x = call.tensor(0);
  const ir::NodeId high =
      call.emit("aten::clamp", {{"self", ref(apply("aten::max", x))}, {"min", 0.0}});
  const ir::NodeId low =
      call.emit("aten::clamp", {{"self", ref(apply("aten::min", x))}, {"max", 0.0}});
  const ir::NodeId scale =
      divided(call, join("aten::sub.Tensor", high, low), Array::from(std::vector<float>{most}, {}));
  const ir::NodeId offset = apply("aten::neg", join("aten::div.Tensor", low, scale));
  const ir::NodeId zero = apply("aten::round", clamped(call, offset, 0, most));
  const ir::NodeId codes = clamped(
      call,
      join("aten::add.Tensor", apply("aten::round", join("aten::div.Tensor", x, scale)), zero), 0,
      most);
  call.result(converted(call, codes, DType::uint8), 0);
  call.result(scale, 1);
  call.result(converted(call, zero, DType::uint8), 2);
}

}  // namespace

std::vector<Row> integer_rows() {
  return {
      {"QLinearConv", 10, qlinear_conv},
      {"QLinearMatMul", 10, qlinear_matmul},
      {"ConvInteger", 10, conv_integer},
      {"MatMulInteger", 10, matmul_integer},
      {"DynamicQuantizeLinear", 11, dynamic_quantize},
      {"QGemm", 1, qgemm, {}, "com.microsoft"},
      {"QLinearConcat", 1, qlinear_concat, {}, "com.microsoft"},
      {"QLinearWhere", 1, qlinear_where, {}, "com.microsoft"},
      qlinear("QLinearSoftmax", "Softmax", 1),
      qlinear("QLinearAdd", "Add", 2),
      qlinear("QLinearMul", "Mul", 2),
      qlinear("QLinearSigmoid", "Sigmoid", 1),
      qlinear("QLinearLeakyRelu", "LeakyRelu", 1),
      qlinear("QLinearAveragePool", "AveragePool", 1),
      qlinear("QLinearGlobalAveragePool", "GlobalAveragePool", 1),
  };
}

}  // namespace mase::onnx
