// SPDX-License-Identifier: Apache-2.0
// Sums, gathers and compares over a ProcessGroup.
#include "torch/train/processes.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/agreement.hpp"

namespace mase::train {
namespace {

at::Tensor tensor_of(const std::string& text) {
  at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::ranges::copy(text, static_cast<char*>(bytes.data_ptr()));
  return bytes;
}

}  // namespace

void Processes::meet(const ir::Graph& graph, const std::string& data, const std::string& resume,
                     const backend::TrainOptions& options) {
  if (!ranks_.several()) return;
  group_ = std::make_unique<ProcessGroup>(ranks_);
  check_agreement(*group_, graph, data, resume, options);
}

bool Processes::are_asked_to_stop() const { return group_ ? stop_together_ : stop_asked(); }

void Processes::add_shard(Parameters& parameters, double loss) {
  loss_ = loss;
  if (are_alone()) return;
  parameters.companions().narrow(0, 0, 2).copy_(
      libtorch::tensor_of({static_cast<float>(loss), stop_asked() ? 1.0f : 0.0f}));
  const at::Tensor& now = parameters.gradients_and_companions();
  const std::int64_t kept = group_ ? shards_.own() : 1, place = added_++;
  if (shards_.own() == 1) return;
  if (!gradients_.defined())
    gradients_ =
        at::empty({kept, now.numel()}, group_ ? at::TensorOptions(at::kFloat) : now.options());
  if (group_ || place == 0)
    gradients_.select(0, group_ ? place : 0).copy_(now);
  else
    gradients_.select(0, 0).add_(now);
}

double Processes::sum_shards(Parameters& parameters) {
  if (are_alone()) return loss_;
  added_ = 0;
  const at::Tensor& all = parameters.gradients_and_companions();
  if (group_) {
    const at::Tensor sums = all.cpu();  // the same tensor unless it is elsewhere
    group_->sum(shards_.own() == 1 ? sums.unsqueeze(0) : gradients_, shards_, sums);
    all.copy_(sums);
  } else if (shards_.own() > 1) {
    all.copy_(gradients_.select(0, 0));
  }
  const std::vector<float> companions =
      libtorch::floats_of(parameters.companions().narrow(0, 0, 2));
  stop_together_ = stop_together_ || companions[1] > 0;
  return shards_.all == 1 ? loss_ : static_cast<double>(companions[0]);
}

std::vector<double> Processes::gather(std::span<const double> own) {
  if (!group_) return {own.begin(), own.end()};
  const std::int64_t count = static_cast<std::int64_t>(own.size()) / shards_.own();
  const at::Tensor mine = at::empty({shards_.own(), count}, at::kDouble);
  std::ranges::copy(own, mine.data_ptr<double>());
  const at::Tensor all = at::empty({shards_.all, count}, at::kDouble);
  group_->gather(mine, shards_, all);
  const double* const first = all.data_ptr<double>();
  return {first, first + all.numel()};
}

void Processes::take_statistics_of_first(std::map<std::string, at::Tensor>& tensors,
                                         Parameters& parameters, std::int64_t step) {
  if (!group_) return;
  for (auto& [path, tensor] : tensors) {
    if (parameters.find(path)) continue;
    const at::Tensor values = tensor.detach().cpu().contiguous();
    group_->broadcast(values);
    if (values.data_ptr() != tensor.data_ptr()) tensor.detach().copy_(values);
  }
  const at::Tensor values = parameters.values().cpu();
  const std::string own = sha256(
      {static_cast<const char*>(values.data_ptr()), static_cast<std::size_t>(values.nbytes())});
  at::Tensor first = tensor_of(own);
  group_->broadcast(first);
  if (!first.equal(tensor_of(own)))
    throw Error(Fault::internal, "rank " + std::to_string(ranks_.rank) +
                                     " has other weights than rank 0 after step " +
                                     std::to_string(step) +
                                     "; use the same build on machines of the same kind");
}

at::Tensor Processes::rows_of_all(const at::Tensor& own, std::int64_t rows) {
  if (!group_) return own;
  const auto rows_of = [&](std::int64_t rank) {
    return shards_.begin(shards_.first_of(ranks_, rank + 1), rows) -
           shards_.begin(shards_.first_of(ranks_, rank), rows);
  };
  std::vector<std::int64_t> shape = own.sizes().vec();
  shape.front() = 0;
  for (int rank = 0; rank < group_->size(); ++rank)
    shape.front() = std::max(shape.front(), rows_of(rank));
  const at::Tensor sent = at::zeros(shape, own.options().requires_grad(false));
  sent.narrow(0, 0, own.size(0)).copy_(own.detach());
  std::vector<at::Tensor> parts = group_->gather(sent);
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i] = parts[i].narrow(0, 0, rows_of(static_cast<std::int64_t>(i)));
  return parts.empty() ? own : at::cat(parts);
}

void Processes::take_figures_of_first(data::Figures& figures) {
  if (!group_) return;
  at::Tensor values = at::empty({static_cast<std::int64_t>(figures.all.size()) + 2}, at::kDouble);
  double* next = values.data_ptr<double>();
  *next++ = static_cast<double>(figures.rows);
  *next++ = figures.loss;
  for (const data::Figure& figure : figures.all) *next++ = figure.value;
  group_->broadcast(values);
  next = values.data_ptr<double>();
  figures.rows = static_cast<std::int64_t>(*next++);
  figures.loss = *next++;
  for (data::Figure& figure : figures.all) figure.value = *next++;
}

void Processes::wait_for_all() {
  if (group_) group_->wait_for_all();
}

}  // namespace mase::train
