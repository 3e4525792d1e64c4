// SPDX-License-Identifier: Apache-2.0
// `mase quantize`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_quantize(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("quantize", "apply a number format to an array");
  auto request = std::make_shared<driver::QuantizeRequest>();
  command->add_option("input", request->input, "array of numbers, read as float32")
      ->required()
      ->type_name("IN.npy");
  command->add_option("output", request->output, "the quantized values")
      ->required()
      ->type_name("OUT.npy");
  command->add_option("--format", request->format, "number format, NAME or 'NAME(...)' [integer]")
      ->type_name("FORMAT");
  command->add_option("--set", request->set, "set a field of the format")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--profile", request->profile, "short for --set profile=PROFILE")
      ->type_name("PROFILE");
  command
      ->add_option("--codes", request->codes,
                   "also write the integer codes; shared codes and scales go to files beside them")
      ->type_name("CODES.npy");
  command->add_flag("--overwrite", request->overwrite, "may replace a file that the command reads");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Examples:\n"
      "  mase quantize x.npy q.npy --format integer --set width=8 --set frac_width=4 "
      "--codes c.npy\n"
      "  mase quantize x.npy q.npy --format 'minifloat_ieee(8, 4, 7)'\n"
      "Fields of a format: mase list formats integer");
  command->callback(
      [request, &action] { action = [request] { return driver::quantize(*request); }; });
}

}  // namespace mase::cli
