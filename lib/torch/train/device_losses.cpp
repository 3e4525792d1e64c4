// SPDX-License-Identifier: Apache-2.0
// A row for each loss, with the operators that PyTorch's functions of the same names run.
#include "torch/train/device_losses.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/ones.h>

#include <algorithm>

#include "base/error.hpp"

namespace mase::train {
namespace {

using data::LossOptions;

/// The weights, and 1 for outputs beyond the classes.
at::Tensor padded_weights(const at::Tensor& weights, std::int64_t width) {
  if (!weights.defined() || weights.numel() >= width) return weights;
  const at::Tensor padded = at::ones({width}, weights.options());
  padded.narrow(0, 0, weights.numel()).copy_(weights);
  return padded;
}

/// The mean over what counts. A batch in which nothing counts has the loss 0, where PyTorch's mean
/// is NaN.
at::Tensor cross_entropy_there(const at::Tensor& outputs, const DeviceWanted& wanted,
                               const LossOptions& options) {
  const at::Tensor rows = outputs.reshape({-1, outputs.size(-1)});
  const at::Tensor labels = wanted.values.reshape({-1});
  const at::Tensor weights = padded_weights(wanted.class_weights, rows.size(1));
  const at::Tensor sum = at::cross_entropy_loss(rows, labels, weights, at::Reduction::Sum,
                                                data::ignored_label, options.label_smoothing);
  at::Tensor counts = labels.ne(data::ignored_label).to(at::kFloat);
  if (weights.defined()) counts.mul_(weights.index_select(0, labels.clamp_min(0)));
  const at::Tensor total = counts.sum();
  return sum.div(total.add(total.eq(0)));
}

at::Tensor binary_cross_entropy_there(const at::Tensor& outputs, const DeviceWanted& wanted,
                                      const LossOptions&) {
  return at::binary_cross_entropy_with_logits(outputs, wanted.values);
}

at::Tensor mse_there(const at::Tensor& outputs, const DeviceWanted& wanted, const LossOptions&) {
  return at::mse_loss(outputs, wanted.values);
}

at::Tensor l1_there(const at::Tensor& outputs, const DeviceWanted& wanted, const LossOptions&) {
  return at::l1_loss(outputs, wanted.values);
}

at::Tensor huber_there(const at::Tensor& outputs, const DeviceWanted& wanted,
                       const LossOptions& options) {
  return at::huber_loss(outputs, wanted.values, at::Reduction::Mean, options.delta);
}

at::Tensor kl_there(const at::Tensor& outputs, const DeviceWanted& wanted,
                    const LossOptions& options) {
  const double t = options.temperature;
  const at::Tensor student = outputs.div(t).log_softmax(-1), teacher = wanted.values.div(t);
  const auto rows = static_cast<double>(outputs.numel() / outputs.size(-1));
  return at::kl_div(student, teacher.log_softmax(-1), at::Reduction::Sum, true).mul(t * t / rows);
}

struct DeviceLossRow {
  const char* name;
  at::Tensor (*compute)(const at::Tensor& outputs, const DeviceWanted& wanted,
                        const LossOptions& options);
};

constexpr DeviceLossRow device_loss_table[] = {
    {"cross_entropy", cross_entropy_there},
    {"binary_cross_entropy", binary_cross_entropy_there},
    {"mse", mse_there},
    {"l1", l1_there},
    {"huber", huber_there},
    {"kl", kl_there},
};

}  // namespace

at::Tensor loss_by_operators(const std::string& loss, const at::Tensor& outputs,
                             const DeviceWanted& wanted, const LossOptions& options) {
  const auto row = std::ranges::find(device_loss_table, loss, &DeviceLossRow::name);
  MASE_CHECK(row != std::end(device_loss_table), "the loss " + loss + " has no operators");
  return row->compute(outputs, wanted, options);
}

}  // namespace mase::train
