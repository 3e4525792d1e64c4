// SPDX-License-Identifier: Apache-2.0
// Converts between Arrays and tensors, and between IValues and graph values.
#include "torch/run/tensors.hpp"

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>

#include <array>

#include "base/error.hpp"

namespace mase::libtorch {
namespace {

struct TypePair {
  DType dtype;
  at::ScalarType scalar;
};
constexpr std::array type_pairs{
    TypePair{DType::float32, at::kFloat}, TypePair{DType::float64, at::kDouble},
    TypePair{DType::float16, at::kHalf},  TypePair{DType::bfloat16, at::kBFloat16},
    TypePair{DType::int64, at::kLong},    TypePair{DType::int32, at::kInt},
    TypePair{DType::int16, at::kShort},   TypePair{DType::int8, at::kChar},
    TypePair{DType::uint8, at::kByte},    TypePair{DType::boolean, at::kBool},
};

ir::ValueInfo host_info(ir::ValueInfo::Kind kind) {
  ir::ValueInfo info;
  info.kind = kind;
  return info;
}

template <class Items>
ir::ValueInfo container_info(ir::ValueInfo::Kind kind, const Items& items,
                             const std::string& what) {
  ir::ValueInfo info = host_info(kind);
  for (const auto& item : items) info.elements.push_back(info_of(item, what));
  return info;
}

ir::ValueInfo dict_info(const c10::IValue& value, const std::string& what) {
  ir::ValueInfo info = host_info(ir::ValueInfo::Kind::dict);
  for (const auto& entry : value.toGenericDict()) {
    info.keys.push_back(entry.key().isString() ? entry.key().toStringRef() : "?");
    info.elements.push_back(info_of(entry.value(), what));
  }
  return info;
}

template <class Items>
ir::Value::List values_of(const Items& items) {
  ir::Value::List out;
  for (const auto& item : items) out.push_back(to_value(item));
  return out;
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  for (const TypePair& pair : type_pairs) {
    if (pair.dtype == dtype) return pair.scalar;
  }
  unsupported_error("LibTorch tensors of type " + std::string(dtype_name(dtype)) +
                    " are not supported; convert the array to int32 first");
}

DType dtype_of(at::ScalarType type, const std::string& what) {
  for (const TypePair& pair : type_pairs) {
    if (pair.scalar == type) return pair.dtype;
  }
  unsupported_error(what + " has the type " + std::string(c10::toString(type)) +
                    ", which is not supported; supported are real numbers, integers and bool");
}

at::Tensor view_of(const Array& array) {
  auto bytes = array.share();
  void* data = const_cast<std::byte*>(array.bytes());
  return at::from_blob(
      data, array.shape(), [bytes](void*) {}, scalar_type(array.dtype()));
}

at::Tensor copy_of(const Array& array) { return view_of(array).clone(); }

Array to_array(const at::Tensor& tensor, const std::string& what) {
  if (tensor.layout() != at::kStrided) unsupported_error(what + " is not a dense tensor");
  const at::Tensor dense = tensor.detach().to(at::kCPU).contiguous();
  const auto sizes = dense.sizes();
  Array array(dtype_of(dense.scalar_type(), what), Shape(sizes.begin(), sizes.end()));
  if (array.byte_size() > 0) {
    std::memcpy(array.mutable_bytes(), dense.data_ptr(), array.byte_size());
  }
  return array;
}

at::Tensor tensor_of(const std::vector<float>& values) {
  const at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kFloat);
  std::ranges::copy(values, tensor.data_ptr<float>());
  return tensor;
}

std::vector<float> floats_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().cpu().contiguous();
  return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
}

bool same_values(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         (at::equal(a, b) || (a.is_floating_point() && at::allclose(a, b, 0, 0, true)));
}

ir::ValueInfo info_of(const c10::IValue& value, const std::string& what) {
  using Kind = ir::ValueInfo::Kind;
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) return host_info(Kind::none);  // a result that was not requested
    const auto sizes = tensor.sizes();
    return ir::ValueInfo::tensor(dtype_of(tensor.scalar_type(), what),
                                 Shape(sizes.begin(), sizes.end()));
  }
  if (value.isInt()) return host_info(Kind::integer);
  if (value.isDouble()) return host_info(Kind::number);
  if (value.isBool()) return host_info(Kind::boolean);
  if (value.isString()) return host_info(Kind::string);
  if (value.isNone()) return host_info(Kind::none);
  if (value.isTuple()) return container_info(Kind::tuple, value.toTupleRef().elements(), what);
  if (value.isList()) return container_info(Kind::list, value.toListRef(), what);
  if (value.isGenericDict()) return dict_info(value, what);
  return {};
}

ir::Value to_value(const c10::IValue& value) {
  if (value.isNone()) return {};
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return value.toDevice().str();
  if (value.isTuple()) return ir::Value::tuple(values_of(value.toTupleRef().elements()));
  if (value.isList()) return ir::Value::list(values_of(value.toListRef()));
  if (value.isGenericDict()) {
    ir::Value::Dict entries;
    for (const auto& entry : value.toGenericDict()) {
      if (!entry.key().isString()) unsupported_error("dicts need text keys");
      entries.emplace_back(entry.key().toStringRef(), to_value(entry.value()));
    }
    return ir::Value::dict(std::move(entries));
  }
  if (value.isTensor()) {
    unsupported_error(
        "a list of constant tensors, as recurrent layers keep their weights, is not supported");
  }
  unsupported_error("a constant of type " + value.tagKind() + " is not supported");
}

}  // namespace mase::libtorch
