// SPDX-License-Identifier: Apache-2.0
// `mase diff`.
#include "driver/settings.hpp"
#include "mase/cli.hpp"

namespace mase::cli {

void add_diff(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("diff", "compare two models node by node");
  auto request = std::make_shared<driver::DiffRequest>();
  const auto texts = std::make_shared<SettingTexts>();
  command->add_option("first", request->first, "model file or name")
      ->required()
      ->type_name("MODEL");
  command->add_option("second", request->second, "model file or name")
      ->required()
      ->type_name("MODEL");
  add_fields(*command, driver::describe_data_settings(), texts,
             "Data, to compare figures on its test rows");
  add_model_input(*command, request->input);
  command->add_flag("--all", request->all, "print every difference, not only the first 40");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Examples:\n"
      "  mase diff best.pt graph_module.pt\n"
      "  mase diff best.pt graph_module.pt --dataset jsc\n"
      "  mase diff best.pt graph_module.pt --dataset npy --data-dir rows\n"
      "Exit code: 0 if nothing differs, 1 otherwise");
  command->callback([request, texts, &action] {
    request->data = fields_from(driver::describe_data_settings(), *texts);
    action = [request] { return driver::diff(*request); };
  });
}

}  // namespace mase::cli
