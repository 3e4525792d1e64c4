// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that qonnx and FINN write when they lower a network: layers of tensors
// whose channels are last, columns of windows, and pools and products of integers.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "onnx/import/expansion.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::string_view layers_domain = "qonnx.custom_op.channels_last";

/// The dimensions of a tensor of which the channels go to dimension 1, or from there to the end.
Integers channels_first(std::int64_t rank) {
  Integers dims{0, rank - 1};
  for (std::int64_t d = 1; d < rank - 1; ++d) dims.push_back(d);
  return dims;
}
Integers channels_last(std::int64_t rank) {
  Integers dims{0};
  for (std::int64_t d = 2; d < rank; ++d) dims.push_back(d);
  dims.push_back(1);
  return dims;
}

/// A constant with its channels last, of which the first dimension stays first: its formats do,
/// too.
Constant with_channels_first(const Constant& constant) {
  const Array from = constant.value.aligned().to_float32();
  const Shape& shape = from.shape();
  const std::int64_t outer = shape.front(), channels = shape.back();
  const std::int64_t places = numel(shape) / std::max<std::int64_t>(1, outer * channels);
  Shape to{outer, channels};
  to.insert(to.end(), shape.begin() + 1, shape.end() - 1);
  Array values(DType::float32, to);
  std::size_t next = 0;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < places; ++p)
        values.mutable_span<float>()[next++] =
            from.span<float>()[static_cast<std::size_t>((o * places + p) * channels + c)];
  Constant result = constant;
  result.value = std::move(values);
  result.path.clear();
  return result;
}

/// An operand that has its channels last, as ONNX has it.
std::string first(Call& call, Expansion& body, std::size_t i, std::int64_t rank) {
  if (call.constant(i))
    return body.define({.constant = with_channels_first(*call.operand(i).constant)});
  return body.add("Transpose", {body.at(i)}, {{"perm", channels_first(rank), {}}});
}

/// The operator of ONNX itself, on transposed tensors: `transposed` of its operands have their
/// channels last, as its result has.
Row with_channels_last(std::string_view op, std::size_t transposed, std::string_view domain,
                       std::string_view name) {
  return {name,
          0,
          [=](Call& call) {
            const std::int64_t rank = call.rank(0);
            if (rank < 3) call.wrong("its operand has no channels behind its places");
            Expansion body(call);
            std::vector<std::string> inputs;
            for (std::size_t i = 0; i < call.count(); ++i)
              inputs.push_back(i < transposed ? first(call, body, i, rank) : body.at(i));
            const std::string result = body.add(std::string(op), inputs, body.attributes());
            body.finish("Transpose", {result}, {{"perm", channels_last(rank), {}}});
            body.import();
          },
          {},
          domain};
}

Integers of_two(Call& call, std::string_view name, std::int64_t otherwise) {
  const Integers numbers = call.integers(name).value_or(Integers{otherwise, otherwise});
  if (numbers.size() != 2) call.wrong("its " + std::string(name) + " must be two numbers");
  return numbers;
}

/// The windows of an image [N, H, W, C], each as a row of its places with all their channels.
void im2col(Call& call) {
  if (call.rank(0) != 4) call.wrong("its operand must be a batch of images with channels last");
  const Integers kernel = of_two(call, "kernel_size", 1), stride = of_two(call, "stride", 1);
  const Integers dilation = of_two(call, "dilations", 1);
  const Integers pads = call.integers("pad_amount").value_or(Integers{0, 0, 0, 0});
  if (pads.size() != 4) call.wrong("its pad_amount must be four numbers");
  ir::NodeId x = call.tensor(0);
  if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; }))
    x = call.emit("aten::pad", {{"self", ref(x)},
                                {"pad", list_of({0, 0, pads[1], pads[3], pads[0], pads[2]})},
                                {"mode", "constant"},
                                {"value", static_cast<double>(call.integer("pad_value", 0))}});
  const std::int64_t height = fixed_size(call, x, 1), width = fixed_size(call, x, 2),
                     channels = fixed_size(call, x, 3);
  const auto count = [&](std::size_t d, std::int64_t size) {
    const std::int64_t spare = size - dilation[d] * (kernel[d] - 1) - 1;
    if (kernel[d] < 1 || stride[d] < 1 || dilation[d] < 1 || spare < 0)
      call.wrong("its window does not fit its operand");
    return spare / stride[d] + 1;
  };
  const std::int64_t rows = count(0, height), columns = count(1, width);
  Integers places;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t i = 0; i < kernel[0]; ++i)
        for (std::int64_t j = 0; j < kernel[1]; ++j)
          for (std::int64_t c = 0; c < channels; ++c)
            places.push_back(((row * stride[0] + i * dilation[0]) * width + column * stride[1] +
                              j * dilation[1]) *
                                 channels +
                             c);
  const ir::Value batch = call.size(x, 0);
  const std::int64_t elements = std::ssize(places);
  const ir::NodeId index = constant_node(call, Array::from(places, {elements}));
  const ir::NodeId flat = reshaped(call, x, {batch, height * width * channels});
  const ir::NodeId chosen =
      call.emit("aten::index_select", {{"self", ref(flat)}, {"dim", 1}, {"index", ref(index)}});
  call.result(reshaped(call, chosen, {batch, rows, columns, kernel[0] * kernel[1] * channels}));
}

/// Sums of windows without their low bits: as many stay as the greatest sum has beyond `obits`.
void quant_avg_pool(Call& call) {
  const bool last = call.text("data_layout", "NCHW") == "NHWC";
  const std::int64_t kernel = call.integer("kernel", 1), stride = call.integer("stride", 1);
  const std::int64_t in = call.integer("ibits", 1), out = call.integer("obits", 1);
  constexpr std::int64_t most_bits = 32;
  if (kernel < 1 || kernel > 4096 || in < 1 || in > most_bits || out < 1 || out > most_bits)
    call.wrong("its kernel or its bits are out of range");
  ir::NodeId x = call.tensor(0);
  if (last) x = permuted(call, x, channels_first(4));
  ir::NodeId sum = call.emit("aten::avg_pool2d", {{"self", ref(x)},
                                                  {"kernel_size", list_of({kernel, kernel})},
                                                  {"stride", list_of({stride, stride})},
                                                  {"divisor_override", std::int64_t{1}}});
  const double most = (std::exp2(in) - 1) * static_cast<double>(kernel * kernel);
  const auto shift = static_cast<int>(std::max<std::int64_t>(0, std::ilogb(most) + 1 - out));
  if (shift > 0) {
    sum = divided(call, sum, Array::from(std::vector<float>{std::ldexp(1.0F, shift)}, {}));
    sum = rounded(call, sum, "FLOOR");
  }
  if (last) sum = permuted(call, sum, channels_last(4));
  const bool is_signed = call.integer("signed", 0) != 0;
  const double end = std::exp2(is_signed ? out - 1 : out);
  const auto format = integer_format(is_signed ? -end : 0, end - 1, 0);
  call.result(format ? rounded_to(call, sum, *format) : sum);
}

/// How many of the bits of rows and columns agree: (a b + K) / 2 of signs, K to a row.
void xnor_popcount(Call& call) {
  const auto number = [](double value) {
    return Array::from(std::vector<float>{static_cast<float>(value)}, {});
  };
  const std::int64_t count = call.shape(0).back();
  Expansion body(call);
  std::vector<std::string> signs;
  for (std::size_t i = 0; i < 2; ++i) {
    const Array* bits = call.constant(i);
    if (!bits) {
      const ir::NodeId doubled = multiplied(call, call.tensor(i), number(2));
      signs.push_back(body.define({.node = subtracted(call, doubled, number(1))}));
      continue;
    }
    Constant constant = *call.operand(i).constant;
    constant.value = bits->aligned().to_float32();
    for (float& one : constant.value.mutable_span<float>()) one = 2 * one - 1;
    constant.path.clear();
    constant.formats = {*integer_format(-1, 1, 0)};
    signs.push_back(body.define({.constant = std::move(constant)}));
  }
  const std::string product = body.add("MatMul", signs);
  body.import();
  const ir::NodeId sum =
      added(call, call.importer().find(product)->node, number(static_cast<double>(count)));
  call.result(multiplied(call, sum, number(0.5)));
}

}  // namespace

std::vector<Row> finn_rows() {
  std::vector<Row> rows{
      with_channels_last("Conv", 2, layers_domain, "Conv"),
      with_channels_last("MaxPool", 1, layers_domain, "MaxPool"),
      with_channels_last("BatchNormalization", 1, layers_domain, "BatchNormalization"),
  };
  for (const std::string_view domain : qonnx_domains)
    for (const Row& row :
         std::initializer_list<Row>{with_channels_last("MaxPool", 1, domain, "MaxPoolNHWC"),
                                    {"Im2Col", 0, im2col, {}, domain},
                                    {"QuantAvgPool2d", 0, quant_avg_pool, {}, domain},
                                    {"XnorPopcountMatMul", 0, xnor_popcount, {}, domain}})
      rows.push_back(row);
  return rows;
}

}  // namespace mase::onnx
