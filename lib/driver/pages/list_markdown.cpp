// SPDX-License-Identifier: Apache-2.0
// A page has a table of all entries, and a section for each entry with options of its own.
#include "driver/pages/list_markdown.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.hpp"
#include "driver/pages/list_text.hpp"
#include "report/table.hpp"

namespace mase::driver {
namespace {

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string options_text(const Tree& fields, const std::string& what = "option") {
  std::vector<std::vector<std::string>> rows;
  for (const Tree& field : fields.as_list())
    rows.push_back({code(field.at("name").as_string()), field.at("type").as_string(),
                    code(field.at("default").as_string()), bounds_of(field),
                    field.at("doc").as_string()});
  return report::markdown({what, "type", "default", "allowed", "meaning"}, rows);
}

bool is_field(const Tree& entry) { return entry.find("default") != nullptr; }

/// A table with one row per entry: everything but its options, with the sentence last.
std::string overview_text(const Tree& entries) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : entries.as_list().front().as_dict())
    if (!is_nested(key) && key != "doc") keys.push_back(key);
  std::vector<std::string> header = keys;
  header.emplace_back("meaning");
  std::vector<std::vector<std::string>> rows;
  for (const Tree& entry : entries.as_list()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& key : keys) {
      const std::string cell = text_of(entry.at(key));
      row.push_back(key == "name" ? code(cell) : cell);
    }
    row.push_back(entry.at("doc").as_string());
  }
  return report::markdown(header, rows);
}

/// Null when there are none.
const Tree* fields_of(const Tree& entry, const char* key) {
  const Tree* fields = entry.find(key);
  return fields && fields->size() > 0 ? fields : nullptr;
}

bool has_section(const Tree& entry) {
  return fields_of(entry, "options") || entry.find("description") || entry.find("config_keys");
}

/// The keys of quantize's tables combine every port with every field, so a rule describes them.
constexpr const char* quantize_rule =
    "A table `[passes.quantize.SELECTOR.config]` sets the formats of the nodes that an op, a name "
    "or a pattern selects. Its keys are `name` (a [format](formats.md) or \"NA\"), `bypass`, and "
    "`PORT_FIELD` "
    "for every port of the [op](ops.md) and every field of the format: `data_in_width`, "
    "`weight_frac_width`, `bias_rounding`. The key `PORT` takes a whole format, `weight = "
    "\"mxint(width=4)\"`, so that the ports of a node can have different formats. A `name` beside "
    "such keys alone is for the other ports, but `data_out`; without it, these stay in float. "
    "Beside keys `PORT_FIELD` it is for the ports that these name. An input of the "
    "model, "
    "by its name or as `placeholder`, has the port `data_out`. A field that can be calibrated "
    "from data may be `\"auto\"`.\n";

std::string config_keys_text(const Tree& entry) {
  const Tree* keys = entry.find("config_keys");
  if (!keys) return "";
  const Tree* statistics = keys->find("statistics");
  if (!statistics) return std::string("\n") + quantize_rule;
  std::string text;
  for (const auto& [name, fields] : statistics->as_dict())
    text += "\n`weight_statistics." + name + "`, `activation_statistics." + name + "`:\n\n" +
            options_text(fields);
  return text;
}

/// `a`, `b` → `out`, and nothing for a part.
std::string streams_text(const Tree& module) {
  const auto names = [&](const char* key) {
    std::vector<std::string> codes;
    for (const Tree& name : module.at(key).as_list()) codes.push_back(code(name.as_string()));
    return join(codes, ", ");
  };
  const std::string inputs = names("inputs");
  return inputs.empty() ? "" : "\n" + inputs + " → " + names("outputs") + "\n";
}

/// What a hardware module has beside its sentence.
std::string module_text(const Tree& module) {
  std::string text = streams_text(module);
  text += "\n```text\n" + module.at("description").as_string() + "```\n";
  if (const Tree* parameters = fields_of(module, "parameters"))
    text += "\n" + options_text(*parameters, "parameter");
  return text;
}

std::string section_text(const Tree& entry) {
  std::string text =
      "\n## " + entry.at("name").as_string() + "\n\n" + entry.at("doc").as_string() + "\n";
  if (const Tree* options = fields_of(entry, "options")) text += "\n" + options_text(*options);
  if (entry.find("description")) text += module_text(entry);
  return text + config_keys_text(entry);
}

std::string title_of(std::string what) {
  what[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(what[0])));
  return what;
}

}  // namespace

std::string markdown_page(const std::string& what, const std::string& intro, const Tree& entries) {
  std::string text = "# " + title_of(what) + "\n\n" + intro + "\n\nThis page is what `mase list " +
                     what + " --markdown` prints.\n\n";
  if (is_field(entries.as_list().front())) return text + options_text(entries);
  text += overview_text(entries);
  for (const Tree& entry : entries.as_list())
    if (has_section(entry)) text += section_text(entry);
  return text;
}

}  // namespace mase::driver
