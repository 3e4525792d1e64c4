// SPDX-License-Identifier: Apache-2.0
// `mase completion`: shell completion made from the declared subcommands and options.
#include <vector>

#include "base/error.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "driver/settings.hpp"
#include "mase/cli.hpp"

namespace mase::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == hidden) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands(app)) names.push_back(command->get_name());
  return names;
}

/// Options and positionals that take a name of a list, by their own names.
constexpr std::pair<const char*, const char*> lists[] = {
    {"model", "models"},     {"first", "models"},     {"second", "models"},
    {"dataset", "datasets"}, {"sampler", "samplers"}, {"format", "formats"},
    {"dump-after", "passes"}};

std::vector<std::string> choices_of(const std::string& flag) {
  for (const FieldInfo& info : driver::describe_settings())
    for (const std::string& other : driver::setting_flags(info.name))
      if (other == flag) return info.choices;
  return {};
}

/// The values that an option or positional accepts; empty if they are not a fixed list.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string& name = option.get_single_name();
  const std::size_t open = type.find('{');  // of CLI::IsMember: "TEXT:{bash,zsh,fish}"
  if (open != std::string::npos)
    return split(type.substr(open + 1, type.rfind('}') - open - 1), ',');
  if (name == "what") return driver::list_names();
  for (const auto& [own, list] : lists)
    if (name == own) return driver::listed(list);
  return choices_of("--" + name);
}

/// "--model|-m" of an option that takes a value.
std::string flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flags.push_back("-" + name);
  return join(flags, "|");
}

/// A case of Bash for each option of a command: the values that may follow it.
std::string value_cases(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> values = values_of(*option);
    if (option->get_group() == hidden || flags_of(*option).empty() || values.empty()) continue;
    text += "        " + flags_of(*option) + ") values=\"" + join(values, " ") + "\" ;;\n";
  }
  return text;
}

std::vector<std::string> positional_values(const CLI::App& command) {
  std::vector<std::string> all;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional())
      for (const std::string& value : values_of(*option)) all.push_back(value);
  return all;
}

std::string cases(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : commands(app)) {
    const std::string values = value_cases(*command);
    text += "    " + command->get_name() + ")\n      options=\"" +
            join(option_names(*command), " ") + "\"\n      words=\"" +
            join(positional_values(*command), " ") + "\"\n";
    if (!values.empty()) text += "      case \"$prev\" in\n" + values + "      esac\n";
    text += "      ;;\n";
  }
  return text;
}

/// Bash splits `--model=x` into three words.
std::string bash_text(const CLI::App& app) {
  return "_mase() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local options=\"\" words=\"\" values=\"\"\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         join(command_names(app), " ") +
         " --help --version\" -- \"$cur\"))\n"
         "    return\n"
         "  fi\n"
         "  [ \"$prev\" = = ] && prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
         "  [ \"$cur\" = = ] && cur=\"\"\n"
         "  case \"${COMP_WORDS[1]}\" in\n" +
         cases(app) +
         "  esac\n"
         "  case \"$cur\" in\n"
         "    -*) words=\"$options\" ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"${values:-$words}\" -- \"$cur\"))\n"
         "  [ -n \"$values\" ] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
         "}\n"
         "complete -o filenames -o default -F _mase mase\n";
}

/// Fish's flags for the names of an option, and its values.
std::string fish_flags(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_lnames()) text += " -l " + name;
  for (const std::string& name : option.get_snames()) text += " -s " + name;
  const std::vector<std::string> values = values_of(option);
  return text + (values.empty() ? "" : " -x -a " + quote(join(values, " ")));
}

std::string fish_text(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : commands(app)) {
    const std::string begin =
        "complete -c mase -n '__fish_seen_subcommand_from " + command->get_name() + "'";
    text += "complete -c mase -n __fish_use_subcommand -a " + command->get_name() + " -d " +
            quote(command->get_description()) + "\n";
    for (const CLI::Option* option : command->get_options())
      if (option->get_group() != hidden && !flags_of(*option).empty())
        text += begin + fish_flags(*option) + "\n";
    const std::vector<std::string> words = positional_values(*command);
    if (!words.empty()) text += begin + " -a " + quote(join(words, " ")) + "\n";
  }
  return text;
}

}  // namespace

std::vector<const CLI::App*> commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void add_completion(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("completion", "print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example:\n  source <(mase completion bash)");
  command->callback([&app, shell, &action] {
    action = [&app, shell] {
      if (*shell == "fish")
        print(fish_text(app));
      else
        print((*shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") +
              bash_text(app));
      return 0;
    };
  });
}

}  // namespace mase::cli
