// SPDX-License-Identifier: Apache-2.0
// `mase train`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "train a model on a data set");
  auto request = std::make_shared<driver::TrainRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_model_input(*command, request->input);
  CLI::Option* resume =
      command->add_flag("--resume", request->resume, "resume from the project's last checkpoint");
  command->add_flag("--overwrite", request->overwrite, "replace the project's previous training")
      ->excludes(resume);
  add_processes(*command, request->nproc, request->timeout,
                "processes to train together on this machine, batch_size rows each");
  command->footer(
      "Examples:\n"
      "  mase train jsc-mlp jsc --max-epochs 60 --learning-rate 5e-3 --project jsc --nproc 2\n"
      "  mase train jsc-mlp jsc --max-epochs 60 --learning-rate 5e-3 --project jsc --resume");
  command->callback([request, texts, &action] {
    request->settings = settings_from(*texts);
    action = [request] { return driver::train(*request); };
  });
}

}  // namespace mase::cli
