// SPDX-License-Identifier: Apache-2.0
// Checks the shapes and types of recurrent operators' arguments.
#include "torch/run/recurrent_checks.hpp"

#include <algorithm>

#include "base/array.hpp"
#include "base/error.hpp"
#include "torch/run/recurrent.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

using Arguments = std::vector<c10::IValue>;
using Sizes = std::vector<std::int64_t>;

constexpr std::string_view pad_packed = "aten::_pad_packed_sequence";

std::string tensor_text(const at::Tensor& tensor) {
  return std::string(dtype_name(dtype_of(tensor.scalar_type(), "an argument"))) +
         shape_text(tensor.sizes().vec());
}

std::string features_demand(const at::Tensor& data, const at::Tensor& weight) {
  if (weight.dim() != 2) return "takes a matrix as its weight, given " + tensor_text(weight);
  if (data.scalar_type() != weight.scalar_type())
    return "takes data of the same type as its weights, given " + tensor_text(data) + " and " +
           tensor_text(weight);
  if (data.dim() > 0 && data.size(-1) == weight.size(1)) return "";
  return "takes " + std::to_string(weight.size(1)) + " features in the last dimension, given " +
         tensor_text(data);
}

/// The arguments of a layer over sequences. For packed sequences, the sizes follow the data.
class LayerArguments {
 public:
  LayerArguments(const RecurrentOp& op, bool packed, const Arguments& arguments)
      : op_(op), packed_(packed), arguments_(arguments) {}

  std::string demand() {
    if (!has_types()) return "";  // ATen reports this itself
    if (std::string unmet = data_demand(); !unmet.empty()) return unmet;
    if (std::string unmet = count_demand(); !unmet.empty()) return unmet;
    if (std::string unmet = features_demand(data_, params_[0]); !unmet.empty()) return unmet;
    if (std::string unmet = params_demand(); !unmet.empty()) return unmet;
    return state_demand();
  }

 private:
  const c10::IValue& after_data(std::size_t place) const {
    return arguments_[place + (packed_ ? 1 : 0)];
  }

  bool has_types() {
    if (arguments_.size() != 9 || !arguments_[0].isTensor()) return false;
    if (packed_ && !arguments_[1].isTensor()) return false;
    const c10::IValue& hx = after_data(1);
    if (!(op_.has_memory() ? hx.isTensorList() : hx.isTensor())) return false;
    if (!after_data(2).isTensorList() || !after_data(3).isBool() || !after_data(4).isInt() ||
        !after_data(7).isBool())
      return false;
    data_ = arguments_[0].toTensor();
    state_ = op_.has_memory() ? hx.toTensorVector() : std::vector{hx.toTensor()};
    params_ = after_data(2).toTensorVector();
    levels_ = after_data(4).toInt();
    directions_ = after_data(7).toBool() ? 2 : 1;
    group_ = after_data(3).toBool() ? 4 : 2;
    return true;
  }

  std::string data_demand() const {
    if (packed_ && data_.dim() != 2) return "takes [rows, features], given " + tensor_text(data_);
    if (packed_ && !arguments_[1].toTensor().is_contiguous())
      return "takes batch_sizes that lie side by side in memory";
    if (packed_) return batch_sizes_demand(data_, arguments_[1].toTensor());
    return data_.dim() == 3 ? "" : "takes [steps, rows, features], given " + tensor_text(data_);
  }

  /// Demands two matrices, the biases and an LSTM's projection for every level and direction.
  std::string count_demand() {
    const auto count = static_cast<std::int64_t>(params_.size());
    const bool known = levels_ > 0 && levels_ <= count;
    const std::int64_t places = known ? levels_ * directions_ : 1;
    projects_ = op_.has_memory() && count == places * (group_ + 1);
    if (projects_) ++group_;
    if (known && count == places * group_) return "";
    return "takes " + std::to_string(group_) + " tensors for each of " + std::to_string(levels_) +
           (directions_ == 2 ? " levels of two directions" : " levels") + ", given " +
           std::to_string(count);
  }

  std::string params_demand() {
    const std::int64_t gates = params_[0].size(0);
    features_ = gates / op_.gates();
    given_ = projects_ ? params_[static_cast<std::size_t>(group_) - 1].sizes()[0] : features_;
    for (std::size_t i = 0; i < params_.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i) / group_;
      const auto which = static_cast<std::int64_t>(i) % group_;
      const std::int64_t read = place < directions_ ? data_.size(-1) : given_ * directions_;
      const Sizes wanted = projects_ && which == group_ - 1 ? Sizes{given_, features_}
                           : which == 0                     ? Sizes{gates, read}
                           : which == 1                     ? Sizes{gates, given_}
                                                            : Sizes{gates};
      if (std::string unmet = fit("its tensor " + std::to_string(i), params_[i], wanted);
          !unmet.empty())
        return unmet;
    }
    return "";
  }

  std::string state_demand() const {
    const bool rows_first = !packed_ && arguments_[8].isBool() && arguments_[8].toBool();
    const std::int64_t rows =
        packed_ ? arguments_[1].toTensor()[0].item<std::int64_t>() : data_.size(rows_first ? 0 : 1);
    if (state_.size() != (op_.has_memory() ? 2U : 1U)) return "";  // ATen reports this itself
    for (std::size_t i = 0; i < state_.size(); ++i)
      if (std::string unmet = fit(i == 0 ? "the state" : "the memory", state_[i],
                                  {levels_ * directions_, rows, i == 0 ? given_ : features_});
          !unmet.empty())
        return unmet;
    return "";
  }

  std::string fit(const std::string& name, const at::Tensor& tensor, const Sizes& wanted) const {
    if (tensor.sizes() == wanted && tensor.scalar_type() == data_.scalar_type()) return "";
    return "takes " + name + " as " +
           std::string(dtype_name(dtype_of(data_.scalar_type(), "the data"))) + shape_text(wanted) +
           ", given " + tensor_text(tensor);
  }

  const RecurrentOp& op_;
  bool packed_;
  const Arguments& arguments_;
  at::Tensor data_;
  std::vector<at::Tensor> state_, params_;
  std::int64_t levels_ = 0, directions_ = 1;
  std::int64_t group_ = 2;  ///< number of tensors of a level and direction
  bool projects_ = false;
  std::int64_t features_ = 0;  ///< features of the memory
  std::int64_t given_ = 0;     ///< features of the state; fewer with a projection
};

}  // namespace

bool is_over_sequences(std::string_view op) {
  return op == pad_packed || find_recurrent_of_aten(op) != nullptr;
}

std::string sequence_demand(std::string_view op, const Arguments& arguments) {
  const auto are_tensors = [&](std::initializer_list<std::size_t> places) {
    return std::ranges::all_of(
        places, [&](std::size_t i) { return i < arguments.size() && arguments[i].isTensor(); });
  };
  if (op == pad_packed)
    return are_tensors({0, 1})
               ? batch_sizes_demand(arguments[0].toTensor(), arguments[1].toTensor())
               : "";
  const RecurrentOp* recurrent = find_recurrent_of_aten(op);
  if (!recurrent) return "";
  if (!recurrent->cell)
    return LayerArguments(*recurrent, op == recurrent->aten_packed, arguments).demand();
  return are_tensors({0, 2}) ? features_demand(arguments[0].toTensor(), arguments[2].toTensor())
                             : "";
}

std::string batch_sizes_demand(const at::Tensor& data, const at::Tensor& batch_sizes) {
  if (batch_sizes.scalar_type() != at::kLong || batch_sizes.dim() != 1 || batch_sizes.numel() == 0)
    return "takes batch_sizes as int64[steps] with at least one step, given " +
           tensor_text(batch_sizes);
  const std::int64_t all = data.dim() > 0 ? data.size(0) : 0;
  std::int64_t last = all, sum = 0;
  const at::Tensor rows = batch_sizes.contiguous();
  for (std::int64_t i = 0; i < rows.numel(); ++i) {
    const std::int64_t now = rows.const_data_ptr<std::int64_t>()[i];
    if (now < 1 || now > last)
      return "takes batch_sizes from 1 to that of the step before, given " + std::to_string(now) +
             " for step " + std::to_string(i) + " after " + std::to_string(last) +
             (i == 0 ? " rows in all" : "");
    last = now;
    sum += now;
    if (sum > all) break;
  }
  if (sum == all) return "";
  return "takes batch_sizes that add up to the " + std::to_string(all) +
         " rows of its data, given " + std::to_string(sum) + (sum > all ? " or more" : "");
}

}  // namespace mase::libtorch
