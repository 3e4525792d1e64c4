// SPDX-License-Identifier: Apache-2.0
// `mase data`.
#include "data/dataset.hpp"

#include "mase/cli.hpp"

namespace mase::cli {

void add_data(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("data", "show what is in a data set: shapes, ranges, classes, samples");
  auto request = std::make_shared<driver::DataRequest>();
  auto texts = std::make_shared<SettingTexts>();
  command->add_option("dataset", request->dataset, "data set (`mase list datasets`)")
      ->required()
      ->type_name("NAME");
  command
      ->add_option("--picture", request->picture,
                   "write eight samples of the images, one of every class first")
      ->type_name("FILE.png");
  command->add_flag("--overwrite", request->overwrite, "replace an existing picture");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  add_fields(*command, describe_fields<data::DataOptions>(), texts,
             "Data (also keys of the configuration file)");
  command->footer(
      "Examples:\n"
      "  mase data mnist --picture digits.png\n"
      "  mase data npy --data-dir rows --json\n"
      "  mase data images --data-dir photos --image-size 64 --picture photos.png");
  command->callback([request, texts, &action] {
    request->options = fields_from(describe_fields<data::DataOptions>(), *texts);
    action = [request] { return driver::data(*request); };
  });
}

}  // namespace mase::cli
