// SPDX-License-Identifier: Apache-2.0
// `mase completion`: shell completion made from the declared subcommands and options.
#include <iostream>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
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

std::string cases(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : commands(app))
    text +=
        "    " + command->get_name() + ") words=\"" + join(option_names(*command), " ") + "\" ;;\n";
  return text;
}

std::string bash_text(const CLI::App& app) {
  return "_mase() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\"\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    words=\"" +
         join(command_names(app), " ") +
         " --help --version\"\n"
         "  else\n"
         "    case \"${COMP_WORDS[1]}\" in\n" +
         cases(app) +
         "    esac\n"
         "  fi\n"
         "  case \"$cur\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _mase mase\n";
}

std::string fish_text(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : commands(app)) {
    text += "complete -c mase -n __fish_use_subcommand -a " + command->get_name() + " -d " +
            quote(command->get_description()) + "\n";
    for (const std::string& name : option_names(*command))
      text += "complete -c mase -n '__fish_seen_subcommand_from " + command->get_name() + "' " +
              (name.starts_with("--") ? "-l " + name.substr(2) : "-s " + name.substr(1)) + "\n";
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
        std::cout << fish_text(app);
      else
        std::cout << (*shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "")
                  << bash_text(app);
      return 0;
    };
  });
}

}  // namespace mase::cli
