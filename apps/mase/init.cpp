// SPDX-License-Identifier: Apache-2.0
// `mase init`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_init(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("init", "write a commented configuration for a model");
  auto request = std::make_shared<driver::InitRequest>();
  command->add_option("model", request->model, "model file or name")
      ->required()
      ->type_name("MODEL");
  command->add_option("dataset", request->dataset, "data set for calibration and input shapes")
      ->type_name("NAME");
  add_model_input(*command, request->input);
  command->add_option("--width", request->width, "bit width of data, weights and biases [8]")
      ->type_name("BITS")
      ->check(CLI::Range(1, 32));
  command->add_option("--data-dir", request->data_dir, "folder with the data set's files")
      ->type_name("DIR");
  command->add_flag("--search", request->search, "write a search over formats for `mase search`");
  command->add_option("-o,--output", request->output, "output file [stdout]")->type_name("FILE");
  command->add_flag("--overwrite", request->overwrite, "replace an existing output file");
  command->footer(
      "Examples:\n"
      "  mase init lenet mnist -o lenet.toml && mase transform --config lenet.toml\n"
      "  mase init model.pt --input-shape 1,3,32,32 --width 6\n"
      "  mase init jsc-tiny jsc --search -o search.toml && mase search --config search.toml");
  command->callback([request, &action] { action = [request] { return driver::init(*request); }; });
}

}  // namespace mase::cli
