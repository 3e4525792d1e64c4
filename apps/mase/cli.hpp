// SPDX-License-Identifier: Apache-2.0
// The command line. One function per subcommand declares its options and what runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "base/tree.hpp"
#include "driver/commands/commands.hpp"

namespace mase::cli {

/// The action of the subcommand that was parsed; it returns the exit code.
using Action = std::function<int()>;

void add_transform(CLI::App& app, Action& action);
void add_train(CLI::App& app, Action& action);
void add_search(CLI::App& app, Action& action);
void add_study(CLI::App& app, Action& action);
void add_test(CLI::App& app, Action& action);
void add_emit(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_quantize(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_init(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_tokenize(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_manual(CLI::App& app, Action& action);

/// Prints what is wrong with a command line and returns 2 (a fault of the configuration), or prints
/// the text for --help or --version and returns 0.
int usage_exit(const CLI::App& app, const CLI::ParseError& error);

/// The subcommands of the program, in the order of their declaration.
std::vector<const CLI::App*> commands(const CLI::App& app);

/// The group of options that are accepted but appear neither in help nor in completions.
inline constexpr const char* hidden = "";
/// The prefix of the names of groups that the short help leaves out.
inline constexpr const char* further = "Further: ";

/// Formats the help of a command, with or without the further groups.
std::shared_ptr<CLI::Formatter> help_formatter(bool all);

/// The texts of settings given on the command line, by name.
using SettingTexts = std::map<std::string, std::string>;
/// add_fields declares a flag for every field, whose text goes to `texts`. fields_from reads the
/// texts as a tree with the fields' types, so that error messages name the flag.
void add_fields(CLI::App& command, const std::vector<FieldInfo>& infos,
                const std::shared_ptr<SettingTexts>& texts, const std::string& group);
Tree fields_from(const std::vector<FieldInfo>& infos, const SettingTexts& texts);
/// Declares --config, --json, --quiet, MODEL, DATASET and a flag for every setting. Settings that
/// have no effect on the command are hidden.
void add_settings(CLI::App& command, driver::CommonRequest& request,
                  const std::shared_ptr<SettingTexts>& texts);
Tree settings_from(const SettingTexts& texts);
/// Declares --allow-external.
void add_allow_external(CLI::App& command, driver::HardwareRequest& request);

/// Declares the options of commands that run a model's code, and calls add_limits.
void add_model_input(CLI::App& command, driver::ModelInput& input);
/// The options of ONNX files about number formats; `option` names the choice.
void add_onnx_formats(CLI::App& command, const std::string& option,
                      driver::OnnxFileRequest& request);
/// Declares --max-seconds, --max-memory and --allow-op, which take effect as soon as they are read.
void add_limits(CLI::App& command);
/// Declares --nproc, with this help, and --timeout.
void add_processes(CLI::App& command, int& nproc, double& timeout, const std::string& help);
/// Declares only --allow-op, for commands that read checkpoints and run no model.
void add_allowed_operators(CLI::App& command);

}  // namespace mase::cli
