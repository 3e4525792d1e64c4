// SPDX-License-Identifier: Apache-2.0
// `mase run`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_run(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "run a model on .npy files or on sentences");
  auto request = std::make_shared<driver::RunRequest>();
  command->add_option("model", request->model, "model file or name")
      ->required()
      ->type_name("MODEL");
  add_model_input(*command, request->input);
  command
      ->add_option("--output", request->output,
                   "result; several go to NAME_0.npy, NAME_1.npy, those of a dict to NAME_KEY.npy; "
                   "for --text and a folder with classes: print these")
      ->type_name("FILE.npy");
  command->add_flag("--overwrite", request->overwrite, "may replace a file that the command reads");
  command->add_option("--level", request->level, "float, quantized or integer [quantized]")
      ->type_name("LEVEL");
  command->add_option("--threads", request->threads, "threads for the tensor library [1]")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--device", request->device,
                   "where the tensor library computes: cpu, auto, cuda, cuda:1, ... [cpu]")
      ->type_name("NAME");
  command
      ->add_option(
          "--nproc", request->nproc,
          "processes of this machine that run the layouts of autoshard, with --level float")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Examples:\n"
      "  mase run model.pt --input x.npy --output y.npy\n"
      "  mase run bert.pt --input ids.npy --input mask.npy --output logits.npy\n"
      "  mase run bert --text \"The plot is not good.\" --text \"A lovely film.\"");
  command->callback([request, &action] { action = [request] { return driver::run(*request); }; });
}

}  // namespace mase::cli
