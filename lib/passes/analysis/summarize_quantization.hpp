// SPDX-License-Identifier: Apache-2.0
// Reports what a quantization changed per node and per layer type, and how much signal it kept.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Shows a table of original and quantized type per node, a histogram per original type and, when
/// the model can run on the probe, SQNR per quantized layer in dB, 10 log10(sum x^2 / sum (q(x) -
/// x)^2), for the weight, the input on its port, and the output against the original graph. Beside
/// it are the share of weight, bias and input values that saturate, and bits per element, including
/// shared exponents and scales. A note names ports of 4 bits or more below 10 dB, except biases
/// whose error is lost in the sum. Info: "histogram", and "bits", "sqnr_db" and "saturation", each
/// as {node: {port: number}}.
struct SummarizeQuantization {
  static constexpr PassDoc doc{"summarize_quantization", PassKind::analysis,
                               "Tables of what was quantized, with SQNR per layer."};
  struct Options {
    std::string save_dir = "quantize";
    bool sqnr = true;
    static constexpr auto fields() {
      return std::tuple{Field{"save_dir", &Options::save_dir,
                              "folder for the CSV files, inside the output folder"},
                        Field{"sqnr", &Options::sqnr, "measure SQNR on the example inputs"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
