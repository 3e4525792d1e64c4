// SPDX-License-Identifier: Apache-2.0
// `mase help`, and the error message for a command line that cannot be parsed: it names the word
// and a similar one that is known.
#include <algorithm>
#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "mase/cli.hpp"

namespace mase::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands(app)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (option->get_group() != hidden)
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The message for a word that is not among the known ones; `what` is "option" or "command".
std::string unknown(const std::string& what, const std::string& word,
                    const std::vector<std::string>& known) {
  return "there is no " + what + " '" + word + "'" + did_you_mean(word, known);
}

/// The subcommand that was entered, or the program itself.
const CLI::App& parsed_command(const CLI::App& app) {
  const auto entered = app.get_subcommands();
  return entered.empty() ? app : *entered.front();
}

/// The message of CLI11, unless a word is left over: then the first such word is named.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = parsed_command(app);
  const std::vector<std::string> rest = app.remaining(true);
  // CLI11 reports a missing subcommand before it reports a word in its place.
  if (rest.empty()) return error.what();
  const std::string word = split(rest.front(), '=').front();
  if (word.starts_with("-")) return unknown("option", word, option_names(command));
  if (&command == &app) return unknown("command", word, command_names(app));
  return "'" + word + "' is one word too many";
}

class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(bool all) : all_(all) {}

  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    return make_description(command) + make_usage(command, std::move(name)) +
           make_positionals(command) + options_of(command) + make_subcommands(command, mode) +
           "\n" + make_footer(command);
  }

 private:
  std::string options_of(const CLI::App* command) const {
    std::string text;
    std::size_t left_out = 0;
    for (const std::string& group : command->get_groups()) {
      const auto options = command->get_options([&](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      });
      if (group == hidden || options.empty()) continue;
      if (all_ || !group.starts_with(further))
        text += make_group(group, false, options);
      else
        left_out += options.size();
    }
    if (left_out == 0) return text;
    return text + "\n" + std::to_string(left_out) + " more options: mase help " +
           command->get_name() + " --all\n";
  }

  bool all_;
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter(bool all) {
  return std::make_shared<HelpFormatter>(all);
}

int usage_exit(const CLI::App& app, const CLI::ParseError& error) {
  // CLI11 reports --help and --version as errors, too.
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    const int code = app.exit(error, text, text);
    print(text.str());
    return code;
  }
  const CLI::App& command = parsed_command(app);
  const std::string name = &command == &app ? "mase" : "mase " + command.get_name();
  std::cerr << name << ": error: " << complaint(app, error) << "\nSee: " << name << " --help\n";
  return static_cast<int>(Fault::config);
}

void add_help(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("help", "show the help of a command");
  auto name = std::make_shared<std::string>();
  command->add_option("command", *name, "a command listed by `mase --help`")->type_name("COMMAND");
  auto all = std::make_shared<bool>(false);
  command->add_flag("--all", *all, "show every option, including rarely needed ones");
  command->callback([&app, &action, name, all] {
    action = [&app, name, all] {
      const std::vector<std::string> known = command_names(app);
      if (!name->empty() && std::ranges::find(known, *name) == known.end())
        config_error(unknown("command", *name, known));
      if (!name->empty()) app.get_subcommand(*name)->formatter(help_formatter(*all));
      // app.help() would print the help of `help`, the subcommand that was entered.
      print(name->empty()
                ? app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)
                : app.get_subcommand(*name)->help(app.get_name()));
      return 0;
    };
  });
}

}  // namespace mase::cli
