// SPDX-License-Identifier: Apache-2.0
// `mase init`.
#include "driver/settings.hpp"
#include "mase/cli.hpp"

namespace mase::cli {

void add_init(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("init", "write a commented configuration for a model");
  auto request = std::make_shared<driver::InitRequest>();
  const auto texts = std::make_shared<SettingTexts>();
  command
      ->add_option("--config", request->config_path,
                   "configuration whose settings the new one keeps")
      ->type_name("FILE");
  add_fields(*command, driver::describe_init_settings(), texts, "Model and data");
  add_model_input(*command, request->input);
  command->add_option("--width", request->width, "bit width of data, weights and biases [8]")
      ->type_name("BITS")
      ->check(CLI::Range(1, 32));
  command->add_flag("--search", request->search,
                    "also write a search over formats for `mase search`");
  command->add_option("-o,--output", request->output, "output file [stdout]")->type_name("FILE");
  command->add_flag("--overwrite", request->overwrite, "replace an existing output file");
  command->footer(
      "Examples:\n"
      "  mase init lenet mnist -o lenet.toml && mase transform --config lenet.toml\n"
      "  mase init model.pt --input-shape 1,3,32,32 --width 6\n"
      "  mase init jsc-tiny jsc --search -o search.toml && mase search --config search.toml");
  command->callback([request, texts, &action] {
    request->settings = fields_from(driver::describe_init_settings(), *texts);
    action = [request] { return driver::init(*request); };
  });
}

}  // namespace mase::cli
