// SPDX-License-Identifier: Apache-2.0
// `mase emit`, alias `emit-verilog`.
#include <algorithm>
#include <iterator>

#include "hardware/design/add_hardware_metadata.hpp"
#include "hardware/emit/passes.hpp"
#include "mase/cli.hpp"

namespace mase::cli {
namespace {

using MetadataOptions = design::AddHardwareMetadata::Options;

/// What is wanted of the folds, and of the devices.
std::vector<FieldInfo> targets() {
  std::vector<FieldInfo> infos = describe_fields<MetadataOptions>();
  std::erase_if(infos, [](const FieldInfo& info) { return !info.target; });
  std::ranges::move(describe_fields<design::DeviceOptions>(), std::back_inserter(infos));
  return infos;
}

void add_reload_options(CLI::App& command, driver::EmitRequest& request,
                        const std::shared_ptr<SettingTexts>& metadata) {
  command.add_flag_callback(
      "--reloadable", [metadata] { (*metadata)["reloadable"] = "true"; },
      "let a host replace the weights over AXI4-Lite");
  command
      .add_option("--reload-image", request.reload_image,
                  "write only the model's weights, for existing reloadable hardware")
      ->type_name("FILE");
}

}  // namespace

void add_emit(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("emit", "write a checkpoint as SystemVerilog with a C++ test bench");
  command->alias("emit-verilog");
  auto request = std::make_shared<driver::EmitRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_allow_external(*command, *request);
  add_allowed_operators(*command);
  auto metadata = std::make_shared<SettingTexts>(), output = std::make_shared<SettingTexts>();
  add_fields(*command, targets(), metadata, "Options");
  add_fields(*command, describe_fields<emit::EmitPassOptions>(), output,
             "Output (also keys of the passes that emit)");
  command
      ->add_option("--synth", request->synthesis,
                   "count resources with Yosys for xc7, ice40 or ecp5 [xc7]")
      ->type_name("FAMILY")
      ->expected(0, 1)
      ->default_str("xc7");
  command->add_flag("--per-instance", request->per_instance,
                    "with --synth: also count every instance by itself");
  command
      ->add_option("--place", request->placement,
                   "place and route with nextpnr for ecp5 or ice40, and print the clock reached "
                   "[ecp5]")
      ->type_name("FAMILY")
      ->expected(0, 1)
      ->default_str("ecp5");
  command
      ->add_option("--vivado", request->vivado,
                   "implement with Vivado: core, or axi for the core in its wrapper [core]")
      ->type_name("TOP")
      ->expected(0, 1)
      ->default_str("core");
  add_reload_options(*command, *request, metadata);
  command->footer(
      "Examples:\n"
      "  mase emit mase_output/jsc --ii 64");
  command->callback([request, texts, metadata, output, &action] {
    request->settings = settings_from(*texts);
    request->target = fields_from(describe_fields<MetadataOptions>(), *metadata);
    request->output = fields_from(describe_fields<emit::EmitPassOptions>(), *output);
    action = [request] { return driver::emit(*request); };
  });
}

}  // namespace mase::cli
