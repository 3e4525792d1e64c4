// SPDX-License-Identifier: Apache-2.0
// The pass table lists every pass explicitly, one per line.
#include "driver/all_passes.hpp"

#include "hardware/design/add_hardware_metadata.hpp"
#include "hardware/emit/passes.hpp"
#include "passes/analysis/autoshard.hpp"
#include "passes/analysis/average_bits.hpp"
#include "passes/analysis/bitops.hpp"
#include "passes/analysis/count_dropout.hpp"
#include "passes/analysis/count_operations.hpp"
#include "passes/analysis/flops.hpp"
#include "passes/analysis/metadata.hpp"
#include "passes/analysis/profile_statistics.hpp"
#include "passes/analysis/report_graph.hpp"
#include "passes/analysis/summarize_quantization.hpp"
#include "passes/interface/checkpoint_io.hpp"
#include "passes/transform/calibrate.hpp"
#include "passes/transform/expand_attention.hpp"
#include "passes/transform/expand_einsum.hpp"
#include "passes/transform/extract.hpp"
#include "passes/transform/fold_constants.hpp"
#include "passes/transform/fuse_batch_norm.hpp"
#include "passes/transform/gptq.hpp"
#include "passes/transform/quantize.hpp"
#include "passes/transform/remove_dropout.hpp"
#include "passes/transform/scale_channels.hpp"

namespace mase::driver {

const passes::PassTable& all_passes() {
  using namespace passes;  // NOLINT(google-build-using-namespace): the table consists only of
                           // names from it
  static const PassTable table{
      describe<InitMetadata>(),
      describe<AddCommonMetadata>(),
      describe<AddSoftwareMetadata>(),
      describe<ProfileStatistics>(),
      describe<design::AddHardwareMetadata>(),
      describe<ReportGraph>(),
      describe<ReportNodeType>(),
      describe<ReportNodeShape>(),
      describe<ReportNodeMetaParam>(),
      describe<CountDropout>(),
      describe<RemoveDropout>(),
      describe<Extract>(),
      describe<ExpandAttention>(),
      describe<ExpandEinsum>(),
      describe<FoldConstants>(),
      describe<FuseBatchNorm>(),
      describe<ScaleChannels>(),
      describe<Quantize>(),
      describe<Calibrate>(),
      describe<Gptq>(),
      describe<SummarizeQuantization>(),
      describe<AverageBits>(),
      describe<CountOperations>(),
      describe<Flops>(),
      describe<Bitops>(),
      describe<Autoshard>(),
      describe<SaveGraph>(),
      describe<LoadGraph>(),
      describe<SaveNodeMetaParam>(),
      describe<emit::EmitVerilogTop>(),
      describe<emit::EmitInternalRtl>(),
      describe<emit::EmitBram>(),
      describe<emit::EmitVerilogTb>(),
  };
  return table;
}

}  // namespace mase::driver
