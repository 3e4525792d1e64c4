// SPDX-License-Identifier: Apache-2.0
// Gives the ports of selected nodes their number formats.
#pragma once

#include "passes/calibration/options.hpp"
#include "passes/pass.hpp"

namespace mase::passes {

/// Puts a format on every port that the configuration names. Nothing else in the graph changes:
/// weights, biases and buffers stay in float and are quantized when the graph runs.
///
/// Options: `by` = type | name | regex_name, then one table per op (custom ops too), node or
/// pattern (full match), and an optional `default`. Each has a table `config` with `name` (a
/// format, or "NA" to leave the node alone), `bypass`, fields of the format for every port
/// (`profile = "reference"`), and joined keys PORT_FIELD
/// (`data_in_width`, `weight_frac_width`), or a whole format for a port (`weight = "mxfp4"`). A
/// port is quantized when at least one such key names it, or when `name` stands beside whole
/// formats of other ports alone, for every port but data_out. An input, of type "placeholder", has
/// the port data_out, and `default` does not apply to it. With by = "regex_name" the first pattern
/// in file order wins. A note reports a setting that could not be applied (a detail when only
/// `default` asked for it), and the share of parameters and MACs that is left in float. A tensor
/// that cannot have its port's format is an error.
///
/// A format's free field may be "auto" (`frac_width = "auto"`, `data_in_frac_width = "auto"`). Such
/// ports are calibrated when all formats are in place (calibrate_ports), and the resolved
/// configuration keeps the word. So may exponent_min and exponent_max of block formats
/// (bound_exponents). In profile exact, a binary point that is not given is calibrated
/// too, on a port of data only when there is data; a note says when there is none. When `config`
/// does not say how blocks lie on a port, the port decides it (with_block_layout).
struct Quantize {
  static constexpr PassDoc doc{"quantize", PassKind::transform,
                               "Quantize the ports of nodes chosen by type, name or pattern.",
                               std::numeric_limits<double>::infinity()};
  static constexpr bool shares_work = true;
  struct Options : CalibrationOptions {
    std::string by = "type";
    bool report = true;
    static constexpr auto fields() {
      return std::tuple_cat(
          std::tuple{
              Field{"by", &Options::by, "whether tables are named after ops, nodes or patterns"}
                  .one_of("type", "name", "regex_name"),
              Field{"report", &Options::report, "summarize the quantization afterwards"}},
          calibration_fields("calibration"));
    }
  };
  /// Checks the options; tables may be named after the user's custom ops, `own`.
  static void check(const Tree& options, Diagnostics& diagnostics, const ir::CustomOps& own);
  static Tree resolve(const Tree& options);
  static Result run(ir::Graph& graph, const Tree& options, PassContext& context);
};

}  // namespace mase::passes
