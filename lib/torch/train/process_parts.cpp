// SPDX-License-Identifier: Apache-2.0
// Gathers the numbers of all processes.
#include "torch/train/process_parts.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace mase::train {

libtorch::PartRows ProcessParts::rows() const {
  const Batches::Share& share = batches_.share();
  return share.rows > 0 ? libtorch::PartRows{share.first, share.rows, share.all}
                        : libtorch::PartRows{0, 1, share.all};
}

std::vector<double> ProcessParts::gather(std::span<const double> own) {
  const auto count = static_cast<std::int64_t>(own.size());
  const at::Tensor mine = at::empty({1, count}, at::kDouble);
  std::ranges::copy(own, mine.data_ptr<double>());
  const at::Tensor all = at::empty({batches_.shards().all, count}, at::kDouble);
  group_.gather(mine, batches_.shards(), all);
  const double* const first = all.data_ptr<double>();
  return {first, first + all.numel()};
}

}  // namespace mase::train
