// SPDX-License-Identifier: Apache-2.0
// `mase test`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_test(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("test", "accuracy and loss of a model on a data set");
  auto request = std::make_shared<driver::TestRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_allow_external(*command, *request);
  command->add_option("--split", request->split, "train, validation or test [test]")
      ->type_name("PART");
  command
      ->add_option("--level", request->levels,
                   "float ignores the formats, quantized uses them, integer computes in exact "
                   "integers, rtl runs the emitted hardware [quantized]; several in one table: "
                   "float,quantized,integer,rtl")
      ->delimiter(',')
      ->type_name("LEVEL,...");
  command
      ->add_option("--hardware", request->hardware,
                   "emitted folder for level rtl [PROJECT/hardware]")
      ->type_name("FOLDER");
  command->add_option("--rows", request->rows, "first rows of the part only")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->add_flag("--macro", request->macro, "print the macro accuracy too");
  command
      ->add_option("--min-accuracy", request->min_accuracy, "exit with 1 below this many percent")
      ->type_name("PERCENT");
  add_limits(*command);
  command->footer(
      "Examples:\n"
      "  mase test mase_output/jsc/software/training_ckpts/best.pt jsc --split test\n"
      "  mase test graph_module.pt mnist --level float --min-accuracy 98.8\n"
      "  mase test graph_module.pt mnist --level float,quantized,integer --rows 1000\n"
      "  mase test graph_module.pt jsc --level rtl --hardware mase_output/jsc/hardware");
  command->callback([request, texts, &action] {
    request->settings = settings_from(*texts);
    action = [request] { return driver::test(*request); };
  });
}

}  // namespace mase::cli
