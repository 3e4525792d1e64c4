// SPDX-License-Identifier: Apache-2.0
// `mase export`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_export(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("export", "write the weights of a model and their codes as .npy files");
  auto request = std::make_shared<driver::ExportRequest>();
  command->add_option("model", request->model, "model file or name")
      ->required()
      ->type_name("MODEL");
  command->add_option("folder", request->folder, "output folder; tensors.json lists its files")
      ->required()
      ->type_name("FOLDER");
  add_model_input(*command, request->input);
  command->add_flag("--overwrite", request->overwrite, "write into a folder that is not empty");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Example:\n"
      "  mase export graph_module.pt weights");
  command->callback(
      [request, &action] { action = [request] { return driver::export_tensors(*request); }; });
}

}  // namespace mase::cli
