// SPDX-License-Identifier: Apache-2.0
// Values by type. Most tensors of one call have one shape and type, so that some calls pass the
// checks of shapes and come to what lies behind.
#include "torch/run/hostile_arguments.hpp"

#include <ATen/ATen.h>

#include <array>
#include <limits>
#include <sstream>

namespace mase::test {
namespace {

constexpr std::int64_t least_integer = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_integer = std::numeric_limits<std::int64_t>::max();
constexpr std::array hostile_integers{least_integer,
                                      most_integer,
                                      std::int64_t{1} << 62,
                                      -(std::int64_t{1} << 62),
                                      std::int64_t{1} << 40,
                                      std::int64_t{1} << 31,
                                      -(std::int64_t{1} << 31),
                                      std::int64_t{100000},
                                      std::int64_t{1000},
                                      std::int64_t{-5}};
constexpr std::array hostile_words{
    "",        "none",     "mean",    "sum",      "gelu",  "tanh",    "linear",   "constant",
    "reflect", "circular", "nearest", "bilinear", "valid", "same",    "trunc",    "floor",
    "ij",      "amax",     "max",     "fro",      "nuc",   "reduced", "replicate"};

class HostileMaker {
 public:
  explicit HostileMaker(Random& random) : random_(random), shape_(some_shape()) {}

  c10::IValue value(const c10::TypePtr& type) {
    switch (type->kind()) {
      case c10::TypeKind::OptionalType:
        return chance(0.4) ? c10::IValue() : value(type->containedType(0));
      case c10::TypeKind::TensorType:
        return tensor();
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        return integer();
      case c10::TypeKind::FloatType:
        return number();
      case c10::TypeKind::NumberType:
        return chance(0.5) ? c10::IValue(integer()) : c10::IValue(number());
      case c10::TypeKind::BoolType:
        return chance(0.5);
      case c10::TypeKind::StringType:
        return std::string(hostile_words[below(hostile_words.size())]);
      case c10::TypeKind::DeviceObjType:
        return chance(0.5) ? c10::Device("cpu") : c10::Device("meta");
      case c10::TypeKind::ListType:
        return list(type->containedType(0));
      case c10::TypeKind::VarType:
        return integer();
      default:
        return {};
    }
  }

 private:
  bool chance(double share) { return random_.uniform() < share; }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(random_.uniform() * static_cast<double>(count));
  }

  std::vector<std::int64_t> some_shape() {
    static const std::vector<std::vector<std::int64_t>> shapes{
        {1, 4},          {4}, {0},          {2, 3, 4}, {1, 2, 4, 4}, {}, {2, 4}, {4, 4}, {0, 4},
        {1, 1, 2, 4, 4}, {3}, {2, 2, 3, 3}, {5, 1},    {4, 2, 3}};
    return shapes[below(shapes.size())];
  }

  std::int64_t integer() {
    if (chance(0.25)) return hostile_integers[below(hostile_integers.size())];
    return static_cast<std::int64_t>(below(7)) - 1;
  }

  double number() {
    constexpr std::array values{0.0,
                                1.0,
                                -1.0,
                                0.5,
                                2.5,
                                1e30,
                                -1e-30,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
    return values[below(values.size())];
  }

  at::Tensor tensor() {
    const std::vector<std::int64_t> shape = chance(0.7) ? shape_ : some_shape();
    const at::Tensor ones = at::ones(shape);
    const at::Tensor odd = ones.cumsum(shape.empty() ? 0 : -1).sub(1.5);
    switch (below(12)) {
      case 0:
        return ones.mul(number());
      case 1:
        return at::full(shape, integer(), at::kLong);
      case 2:
        return odd.to(at::kLong);
      case 3:
        return at::full(shape, static_cast<std::int64_t>(below(5)) - 1, at::kInt);
      case 4:
        return ones.to(at::kBool);
      case 5:
        return odd.to(at::kByte);
      case 6:
        return odd.to(at::kDouble);
      case 7:
        return shape.size() < 2 ? odd : odd.transpose(0, -1);
      case 8:
        return odd.to(chance(0.5) ? at::kHalf : at::kBFloat16);
      default:
        return odd;
    }
  }

  template <class T>
  c10::IValue list_of(const c10::TypePtr& type, T (*get)(const c10::IValue&)) {
    c10::List<T> items;
    for (std::size_t i = 0, count = below(6); i < count; ++i) items.push_back(get(value(type)));
    return items;
  }

  c10::IValue list(const c10::TypePtr& type) {
    switch (type->kind()) {
      case c10::TypeKind::TensorType:
        return list_of<at::Tensor>(type, [](const c10::IValue& v) { return v.toTensor(); });
      case c10::TypeKind::FloatType:
        return list_of<double>(type, [](const c10::IValue& v) { return v.toDouble(); });
      case c10::TypeKind::BoolType:
        return list_of<bool>(type, [](const c10::IValue& v) { return v.toBool(); });
      case c10::TypeKind::StringType:
        return list_of<std::string>(type, [](const c10::IValue& v) { return v.toStringRef(); });
      case c10::TypeKind::OptionalType:
        return list_of<std::optional<at::Tensor>>(
            type, [](const c10::IValue& v) { return v.toOptional<at::Tensor>(); });
      default:
        return list_of<std::int64_t>(
            type, [](const c10::IValue& v) { return v.isInt() ? v.toInt() : std::int64_t{0}; });
    }
  }

  Random& random_;
  std::vector<std::int64_t> shape_;  ///< of most tensors
};

void write_value(const c10::IValue& value, std::ostream& out) {
  if (!value.isTensor()) {
    if (!value.isTensorList()) {
      out << value;
      return;
    }
    for (const at::Tensor& tensor : value.toTensorVector()) write_value(tensor, out << "; ");
    return;
  }
  const at::Tensor tensor = value.toTensor();
  out << tensor.dtype() << tensor.sizes();
  if (tensor.numel() > 0) out << " of " << tensor.flatten()[0].item().toDouble();
}

}  // namespace

std::vector<c10::IValue> hostile_arguments(const c10::FunctionSchema& schema, Random& random) {
  HostileMaker maker(random);
  std::vector<c10::IValue> arguments;
  for (const c10::Argument& argument : schema.arguments()) {
    const bool usual = argument.default_value() && random.uniform() < 0.3;
    arguments.push_back(usual ? *argument.default_value() : maker.value(argument.type()));
  }
  return arguments;
}

std::string text_of(const std::vector<c10::IValue>& arguments) {
  std::ostringstream out;
  for (const c10::IValue& argument : arguments) {
    if (&argument != arguments.data()) out << ", ";
    write_value(argument, out);
  }
  return out.str();
}

}  // namespace mase::test
