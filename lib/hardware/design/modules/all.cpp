// SPDX-License-Identifier: Apache-2.0
// One line for each module, by family, and for steps that become several.
#include "hardware/design/modules/all.hpp"

#include "hardware/design/building/step_convolution.hpp"
#include "hardware/design/modules/argmax.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/block_join.hpp"
#include "hardware/design/modules/block_shift.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/channel_shift.hpp"
#include "hardware/design/modules/concat.hpp"
#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/cumulative_sum.hpp"
#include "hardware/design/modules/depthwise.hpp"
#include "hardware/design/modules/divide.hpp"
#include "hardware/design/modules/embedding.hpp"
#include "hardware/design/modules/external.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/gather.hpp"
#include "hardware/design/modules/insert.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/link.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/matmul.hpp"
#include "hardware/design/modules/octave_pieces.hpp"
#include "hardware/design/modules/piecewise.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/quantize.hpp"
#include "hardware/design/modules/reduce.hpp"
#include "hardware/design/modules/repeat.hpp"
#include "hardware/design/modules/row_reduce.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/skid.hpp"
#include "hardware/design/modules/slice.hpp"
#include "hardware/design/modules/square_root.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/design/modules/stream_resize.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

template <class T>
Listed listed() {
  Listed entry;
  if constexpr (requires { T::row(); }) entry.row = T::row;
  if constexpr (requires { T::step(); }) entry.step = T::step;
  return entry;
}

}  // namespace

std::vector<Listed> all_modules() {
  // clang-format off
  return {
      listed<SkidModule>(),
      listed<FifoModule>(),
      listed<ForkModule>(),
      listed<ResizeModule>(),
      listed<RepeatModule>(),
      listed<EmbeddingModule>(),
      listed<ConcatModule>(),
      listed<InsertModule>(),
      listed<SliceModule>(),
      listed<GatherModule>(),
      listed<CastModule>(),
      listed<LookupModule>(),
      listed<PiecewiseModule>(),
      listed<OctavePiecesModule>(),
      listed<BinaryModule>(),
      listed<BlockShiftModule>(),
      listed<BlockJoinModule>(),
      listed<DivideModule>(),
      listed<SquareRootModule>(),
      listed<QuantizeModule>(),
      listed<ScaleShiftModule>(),
      listed<ChannelShiftModule>(),
      listed<ExternalModule>(),
      listed<LinearModule>(),
      {.step = convolution_step},
      {.step = depthwise_step},
      listed<MatmulModule>(),
      listed<ConstantLinearModule>(),
      listed<DepthwiseModule>(),
      listed<WindowModule>(),
      listed<WindowParallelModule>(),
      listed<PoolModule>(),
      listed<ReduceModule>(),
      listed<RowReduceModule>(),
      listed<ArgmaxModule>(),
      listed<CumulativeSumModule>(),
      listed<LinkOutputModule>(),
      listed<LinkModule>(),
      listed<LinkInputModule>(),
  };
  // clang-format on
}

}  // namespace mase::design
