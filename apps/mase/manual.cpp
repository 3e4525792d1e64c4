// SPDX-License-Identifier: Apache-2.0
// `mase manual`: the man page, or the page of docs/reference, made from the declared subcommands.
#include <algorithm>
#include <cctype>
#include <vector>

#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "driver/version.hpp"
#include "mase/cli.hpp"

namespace mase::cli {
namespace {

/// A piece of the manual; `text` explains an entry and is empty for headings.
struct Block {
  enum Kind { section, command, paragraph, entry, verbatim } kind;
  std::string head, text;
};
using Manual = std::vector<Block>;

/// Whether the option's group is one that many commands share; it is shown once, at the end.
bool is_shared(const CLI::Option& option) {
  return option.get_group().find("Settings (") != std::string::npos;
}

/// "-q, --quiet", "--config FILE", "--input FILE.npy ...", or "MODEL" for a positional.
std::string usage_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) return option.get_name(true);
  std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  type = type.substr(0, type.find(':'));
  const bool many = option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  return join(names, ", ") + (type.empty() ? "" : " " + type) + (many ? " ..." : "");
}

/// Appends the option unless it is there already: several commands have the same settings.
void add_entry(const CLI::Option& option, Manual& manual) {
  const std::string usage = usage_of(option);
  const auto same = [&](const Block& block) {
    return block.kind == Block::entry && block.head == usage;
  };
  if (std::none_of(manual.begin(), manual.end(), same))
    manual.push_back({Block::entry, usage, option.get_description()});
}

/// The visible options of a command, without the --help that every command has.
Manual entries_of(const CLI::App& command) {
  Manual entries;
  for (const CLI::Option* option : command.get_options())
    if (option->get_group() != hidden && !is_shared(*option) &&
        (option != command.get_help_ptr() || !command.get_parent()))
      add_entry(*option, entries);
  return entries;
}

/// The settings of all commands.
Manual settings_of(const CLI::App& app) {
  Manual entries;
  for (const CLI::App* command : commands(app))
    for (const CLI::Option* option : command->get_options())
      if (is_shared(*option)) add_entry(*option, entries);
  return entries;
}

void append(const Manual& more, Manual& manual) {
  manual.insert(manual.end(), more.begin(), more.end());
}

std::string sentence(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

/// "mase run [OPTIONS] model": required positionals bare, others in brackets.
std::string synopsis_of(const CLI::App& command) {
  std::string text = "mase " + command.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || option->get_group() == hidden) continue;
    const std::string name = option->get_name(true);
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

bool takes_settings(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (is_shared(*option)) return true;
  return false;
}

void add_command(const CLI::App& command, Manual& manual) {
  manual.push_back({Block::command, synopsis_of(command), ""});
  manual.push_back({Block::paragraph, "",
                    sentence(command.get_description() +
                             (takes_settings(command) ? "; also takes the settings below" : ""))});
  append(entries_of(command), manual);
  if (!command.get_footer().empty()) manual.push_back({Block::verbatim, "", command.get_footer()});
}

Manual manual_of(const CLI::App& app) {
  Manual manual{{Block::section, "Synopsis", ""},
                {Block::paragraph, "", "mase COMMAND [OPTIONS]"},
                {Block::section, "Options", ""}};
  append(entries_of(app), manual);
  manual.push_back({Block::section, "Commands", ""});
  for (const CLI::App* command : commands(app)) add_command(*command, manual);
  manual.push_back({Block::section, "Settings", ""});
  manual.push_back({Block::paragraph, "",
                    "The commands that say so take these settings as flags and as keys of their "
                    "configuration file; those that a command has no use for are ignored. A flag "
                    "overrides the file, and the file overrides the default in brackets."});
  append(settings_of(app), manual);
  manual.push_back({Block::section, "Exit status", ""});
  manual.push_back({Block::verbatim, "", app.get_footer()});
  return manual;
}

/// Escapes text for roff: backslashes, hyphens, and lines that look like a request.
std::string roff(const std::string& text) {
  std::string out = replace_all(replace_all(text, "\\", "\\e"), "-", "\\-");
  out = replace_all(out, "\n.", "\n\\&.");
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string roff_block(const Block& block) {
  switch (block.kind) {
    case Block::section:
      return ".SH " + capitals(block.head) + "\n";
    case Block::command:
      return ".SS " + roff(block.head) + "\n";
    case Block::entry:
      return ".TP\n.B " + roff(block.head) + "\n" + roff(block.text) + "\n";
    case Block::verbatim:
      return ".PP\n.nf\n" + roff(block.text) + "\n.fi\n";
    case Block::paragraph:
      break;
  }
  return ".PP\n" + roff(block.text) + "\n";
}

std::string roff_page(const CLI::App& app) {
  std::string text = ".TH MASE 1 \"\" \"mase " + driver::version() + "\" \"User Commands\"\n" +
                     ".SH NAME\nmase \\- " + roff(app.get_description().substr(6)) + "\n";
  for (const Block& block : manual_of(app)) text += roff_block(block);
  return text;
}

std::string markdown_block(const Block& block, bool follows_entry) {
  switch (block.kind) {
    case Block::section:
      return "\n## " + block.head + "\n";
    case Block::command:
      return "\n### `" + block.head + "`\n";
    case Block::entry:
      return std::string(follows_entry ? "" : "\n") + "- `" + block.head + "`: " + block.text +
             "\n";
    case Block::verbatim:
      return "\n```\n" + block.text + "\n```\n";
    case Block::paragraph:
      break;
  }
  return "\n" + block.text + "\n";
}

std::string markdown_page(const CLI::App& app) {
  std::string text = "# Commands\n\nThis page is what `mase manual --markdown` prints.\n";
  bool follows_entry = false;
  for (const Block& block : manual_of(app)) {
    text += markdown_block(block, follows_entry);
    follows_entry = block.kind == Block::entry;
  }
  return text;
}

}  // namespace

void add_manual(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("manual", "print the man page");
  auto markdown = std::make_shared<bool>(false);
  command->add_flag("--markdown", *markdown, "print docs/reference/commands.md instead");
  command->footer("Example:\n  mase manual | man -l -");
  command->callback([&app, markdown, &action] {
    action = [&app, markdown] {
      print(*markdown ? markdown_page(app) : roff_page(app));
      return 0;
    };
  });
}

}  // namespace mase::cli
