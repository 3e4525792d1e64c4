// SPDX-License-Identifier: Apache-2.0
// Choice of identifiers: streams first, then instances, each in the order of the design.
#include "hardware/emit/text/names.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/names.hpp"
#include "hardware/emit/package/scripts.hpp"
#include "hardware/emit/place.hpp"
#include "hardware/emit/text/devices.hpp"
#include "hardware/emit/text/sv_bench.hpp"
#include "hardware/emit/text/templates.hpp"

namespace mase::emit {
namespace {

using design::Words;

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Where a comment or a text in quotes that begins at `at` ends; `at` where none does.
std::size_t end_of_aside(std::string_view text, std::size_t at) {
  constexpr std::pair<std::string_view, std::string_view> asides[] = {
      {"//", "\n"}, {"/*", "*/"}, {"\"", "\""}};
  for (const auto& [begin, end] : asides) {
    if (!text.substr(at).starts_with(begin)) continue;
    const std::size_t found = text.find(end, at + begin.size());
    return found == std::string_view::npos ? text.size() : found + end.size();
  }
  return at;
}

/// The words of SystemVerilog: keywords and what modules declare.
void add_words(std::string_view text, Words& words) {
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = end_of_aside(text, at); behind > at) {
      at = behind;
      continue;
    }
    const auto end = static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_word_char) -
        text.begin());
    if (end > at) words.emplace(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

/// The words of every module that comes with the program.
const std::map<std::string, Words>& template_words() {
  static const std::map<std::string, Words> all = [] {
    std::map<std::string, Words> words;
    for (const design::ModuleRow& row : design::module_table()) {
      add_words(template_text(row.folder + "/" + row.name + ".sv"), words[row.name]);
      for (const std::string& family : row.families)
        add_words(template_text(family + "/" + row.name + ".sv"), words[row.name]);
    }
    return words;
  }();
  return all;
}

/// The words of the user's own modules.
Words own_words(const design::Design& design) {
  Words words;
  for (const design::Instance& instance : design.instances)
    for (const auto& [file, text] : instance.module->row().files) {
      words.insert(std::filesystem::path(file).stem().string());
      add_words(text, words);
    }
  return words;
}

/// The top shares the space of module names with the templates, the bench and modules of the
/// user's, whose files are named as they like; files may be kept where case does not count.
std::string top_name(const design::Design& design, const Words& own) {
  Words modules = {"bench_top", "axi_bench_top", boundary_name};
  modules.insert(std::begin(sv_bench_modules), std::end(sv_bench_modules));
  for (const std::string& word : own) modules.insert(lower_case(word));
  for (const design::ModuleRow& row : design::module_table()) {
    modules.insert(row.name);
    modules.insert(row.uses.begin(), row.uses.end());
  }
  std::string name = design::legal_identifier(design.name);
  std::vector<std::string> endings = {"", "_axi"};
  for (const int device : design.devices()) endings.push_back("_" + device_word(device));
  const auto taken = [&](const std::string& ending) {
    return modules.contains(lower_case(name) + ending);
  };
  while (std::ranges::any_of(endings, taken)) name += "_top";
  return name;
}

}  // namespace

// What a module below the top declares (a port, a parameter, the variable of a loop) may not bear
// the name of an instance of the top: it would hide it, which simulators warn of.
Names names_of(const design::Design& design) {
  Names names;
  Words words = own_words(design);
  names.top = top_name(design, words);
  for (const std::string& module : modules_used(design))
    if (const auto found = template_words().find(module); found != template_words().end())
      words.insert(found->second.begin(), found->second.end());
  design::Names scope(std::move(words));
  for (const design::Stream& stream : design.streams)
    names.streams.push_back(scope.stream(stream.name));
  for (const design::Instance& instance : design.instances)
    names.instances.push_back(scope.instance(instance.name));
  return names;
}

}  // namespace mase::emit
