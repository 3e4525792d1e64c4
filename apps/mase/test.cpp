// SPDX-License-Identifier: Apache-2.0
// `mase test`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_test(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "test", "measure the accuracy and loss of a model, or its distance from float");
  auto request = std::make_shared<driver::TestRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_allow_external(*command, *request);
  command->add_option("--split", request->split, "part: train, validation or test [test]")
      ->type_name("PART");
  command
      ->add_option("--level", request->levels,
                   "float ignores the formats, quantized applies them, integer computes in exact "
                   "integers, rtl runs the emitted hardware [quantized]; a list such as "
                   "float,quantized,integer,rtl gives one table")
      ->delimiter(',')
      ->type_name("LEVEL,...");
  command
      ->add_option("--hardware", request->hardware,
                   "folder of emitted hardware for level rtl [PROJECT/hardware]")
      ->type_name("FOLDER");
  command->add_option("--rows", request->rows, "use only the first N rows of the part")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_processes(*command, request->nproc, request->timeout,
                "processes of this machine that share the rows; the figures are those of one");
  command->add_flag("--macro", request->macro, "also print the macro accuracy");
  command->add_option("--min-accuracy", request->min_accuracy, "exit with 1 below this accuracy")
      ->type_name("PERCENT");
  command
      ->add_option("--min-sqnr", request->min_sqnr,
                   "exit with 1 if an output has a lower SQNR against float (task none)")
      ->type_name("DB");
  command
      ->add_option(
          "--require", request->require,
          "exit with 1 unless this figure, or metric of your own, keeps the bound at every level")
      ->type_name("'FIGURE >= X'")
      ->allow_extra_args(false);
  add_limits(*command);
  command->footer(
      "Examples:\n"
      "  mase test mase_output/jsc/software/training_ckpts/best.pt jsc --split test\n"
      "  mase test graph_module.pt mnist --level float --min-accuracy 98.8\n"
      "  mase test graph_module.pt mnist --level float,quantized,integer --rows 1000\n"
      "  mase test graph_module.pt npy --data-dir rows --task none --min-sqnr 30\n"
      "  mase test graph_module.pt --level float,integer --require 'mae <= 0.1'\n"
      "  mase test graph_module.pt jsc --level rtl --hardware mase_output/jsc/hardware");
  command->callback([request, texts, &action] {
    request->settings = settings_from(*texts);
    action = [request] { return driver::test(*request); };
  });
}

}  // namespace mase::cli
