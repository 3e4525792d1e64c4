// SPDX-License-Identifier: Apache-2.0
// The command line: one function per subcommand that declares its options and how it is run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "base/tree.hpp"
#include "driver/commands.hpp"

namespace mase::cli {

/// Set by the subcommand that was parsed; returns the exit code.
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
void add_init(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_manual(CLI::App& app, Action& action);

/// Says what is wrong with a command line (exit code 2, the user's configuration), or prints what
/// --help and --version ask for (0); gives the exit code.
int usage_exit(const CLI::App& app, const CLI::ParseError& error);

/// The subcommands of a program, in the order of their declaration.
std::vector<const CLI::App*> commands(const CLI::App& app);

/// The group of options that are accepted but stand neither in help nor in completions.
inline constexpr const char* hidden = "";
/// Begins the names of groups that the short help leaves out.
inline constexpr const char* further = "Further: ";

/// Help of a command: all of it, or without the further groups.
std::shared_ptr<CLI::Formatter> help_formatter(bool all);

/// Values of settings given on the command line, by name.
using SettingTexts = std::map<std::string, std::string>;
/// Declares a flag for every field, whose text goes to `texts`; and reads the texts as a tree with
/// the fields' types, so that problems name the flag.
void add_fields(CLI::App& command, const std::vector<FieldInfo>& infos,
                const std::shared_ptr<SettingTexts>& texts, const std::string& group);
Tree fields_from(const std::vector<FieldInfo>& infos, const SettingTexts& texts);
/// Declares --config, --json, --quiet, MODEL, DATASET and a flag for every setting, hidden for
/// those that do not matter to the command.
void add_settings(CLI::App& command, driver::CommonRequest& request,
                  const std::shared_ptr<SettingTexts>& texts);
Tree settings_from(const SettingTexts& texts);
/// --allow-external.
void add_allow_external(CLI::App& command, driver::HardwareRequest& request);

/// Options of commands that run a model's code, with add_limits.
void add_model_input(CLI::App& command, driver::ModelInput& input);
/// --max-seconds, --max-memory and --allow-op, in force from where they are read.
void add_limits(CLI::App& command);
/// --allow-op alone, for commands that read checkpoints and run no model.
void add_allowed_operators(CLI::App& command);

}  // namespace mase::cli
