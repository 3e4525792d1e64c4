// SPDX-License-Identifier: Apache-2.0
// `mase simulate`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_simulate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("simulate", "run emitted hardware in Verilator and compare every beat");
  auto request = std::make_shared<driver::SimulateRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_allow_external(*command, *request);
  add_allowed_operators(*command);
  command->add_option("--hardware", request->hardware, "emitted hardware [PROJECT/hardware]")
      ->type_name("FOLDER");
  command->add_option("--split", request->split, "part: train, validation or test [test]")
      ->type_name("PART");
  command->add_option("--input", request->inputs, "frames from .npy files, one file per input")
      ->type_name("FILE");
  command
      ->add_option("--text", request->texts, "frames from sentences, with the setting --tokenizer")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->group(std::string(further) + "Options");
  command->add_option("--random", request->random, "use N random frames, edge cases first")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_option("--rows", request->rows, "use at most N frames")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--stall", request->stall,
                   "probability per cycle that each side pauses [spells of every kind]")
      ->type_name("P")
      ->check(CLI::Range(0.0, 0.99));
  command->add_flag("--waves", request->trace, "write FST waveforms");
  command->add_flag("--coverage", request->coverage, "measure line and toggle coverage (slow)");
  command
      ->add_option("--optimise", request->optimise,
                   "optimisation level of the C++ compiler for the simulator: 0 builds fastest, "
                   "2 runs fastest [2]")
      ->type_name("LEVEL")
      ->check(CLI::Range(0, 3))
      ->group(std::string(further) + "Options");
  command
      ->add_option("--inject-fault", request->fault,
                   "flip one weight bit, so that the run must fail: MEMORY:WORD:BIT (omitted parts "
                   "are drawn at random); all: one bit of every memory in turn")
      ->type_name("FAULT")
      ->expected(0, 1)
      ->default_str("");
  command
      ->add_option("--mutate", request->mutate,
                   "flip N bits of the memories, one after another, and print the share caught")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--mutate-rtl", request->mutate_rtl,
                   "change N operators or constants of the SystemVerilog, one after another")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--reload", request->reload,
                    "load this checkpoint's weights over AXI4-Lite into another's hardware");
  command->footer(
      "Examples:\n"
      "  mase simulate graph_module.pt jsc --project-dir mase_output --project jsc\n"
      "  mase simulate graph_module.pt mnist --rows 1000 --stall 0.4 --seed 7\n"
      "  mase simulate graph_module.pt --mutate 100\n"
      "Exit code 1: a mismatch, a protocol violation, a deadlock, or an unexpected cycle count\n"
      "(--inject-fault all: a fault that is not caught; --mutate: less than 99 % of the observable "
      "faults are caught).");
  command->callback([request, texts, &action] {
    request->settings = settings_from(*texts);
    action = [request] { return driver::simulate(*request); };
  });
}

}  // namespace mase::cli
