// SPDX-License-Identifier: Apache-2.0
// `mase show`.
#include "driver/settings.hpp"
#include "mase/cli.hpp"

namespace mase::cli {

void add_show(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("show", "show the graph of a model");
  auto request = std::make_shared<driver::ShowRequest>();
  const auto texts = std::make_shared<SettingTexts>();
  command->add_option("model", request->model, "model file or name")
      ->required()
      ->type_name("MODEL");
  add_fields(*command, driver::describe_data_settings(), texts, "Data, for the example input");
  add_model_input(*command, request->input);
  command
      ->add_option("--format", request->format,
                   "text, table, json, dot, svg, png or pdf; program: the integer steps of a "
                   "quantized checkpoint with the bounds of their accumulators [extension of "
                   "--output, or text]")
      ->check(CLI::IsMember({"text", "table", "json", "dot", "svg", "png", "pdf", "program"}));
  command->add_option("-o,--output", request->output, "output file [stdout]")->type_name("FILE");
  command->add_flag("--overwrite", request->overwrite, "may replace a file that the command reads");
  command->footer(
      "Examples:\n"
      "  mase show jsc-tiny\n"
      "  mase show model.pt --input-shape 1,3,32,32 -o model.svg\n"
      "  mase show graph_module.pt --format program");
  command->callback([request, texts, &action] {
    request->data = fields_from(driver::describe_data_settings(), *texts);
    action = [request] { return driver::show(*request); };
  });
}

}  // namespace mase::cli
