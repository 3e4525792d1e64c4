// SPDX-License-Identifier: Apache-2.0
// Texts with a class each, from a table or from lines of JSON; their bytes are the tokens unless
// there is a tokenizer.
#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "data/assemble.hpp"
#include "data/class_texts.hpp"
#include "data/csv_table.hpp"
#include "data/sources.hpp"
#include "data/texts.hpp"

namespace mase::data {
namespace {

constexpr auto text_name = "text";

Texts texts_of_table(const std::string& path, const DataOptions& options) {
  const CsvTable table(path);
  if (!table.has_header())
    file_error(path + ": the first line must name the columns, such as text,label");
  if (!options.text_column && !table.find(text_name))
    file_error(path + ": there is no column 'text'; text_column (--text-column) names one of " +
               join(table.columns(), ", "));
  const std::size_t text = column_named(table, options.text_column.value_or(text_name), path);
  const auto pair = options.text_pair_column
                        ? std::optional(column_named(table, *options.text_pair_column, path))
                        : std::nullopt;
  const auto label = options.label_column.is_set()
                         ? std::optional(column_named(table, options.label_column.text(), path))
                         : named_class_column(table, path);
  Texts found;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    found.texts.emplace_back(table.cell(row, text));
    if (pair) found.pairs.emplace_back(table.cell(row, *pair));
    if (label) found.classes.emplace_back(table.cell(row, *label));
  }
  std::vector<std::string> places;
  for (std::size_t row = 0; row < table.rows(); ++row) places.push_back(table.place(row, text));
  found.place = [places = std::move(places)](std::size_t row) { return places[row]; };
  return found;
}

/// The text of a value of JSON: that of a string, or of a whole number or truth value.
std::string text_of(const Tree& object, const std::string& key, const std::string& where) {
  const Tree* value = object.find(key);
  if (!value)
    file_error(where + ": there is no key '" + key + "'; text_column (--text-column), " +
               "text_pair_column and label_column name the keys of texts and class");
  if (value->is_string()) return value->as_string();
  if (value->is_int()) return std::to_string(value->as_int());
  if (value->is_bool()) return value->as_bool() ? "true" : "false";
  file_error(where + ": '" + key + "' must be a string or a whole number");
}

/// The key of the class, of those that the first object has; nullopt if it has none.
std::optional<std::string> class_key(const Tree& first, const DataOptions& options) {
  if (options.label_column.is_set()) return options.label_column.text();
  for (const auto& [key, value] : first.as_dict())
    if (is_class_name(key)) return key;
  return std::nullopt;
}

Texts texts_of_lines(const std::string& path, const DataOptions& options) {
  const std::string bytes = read_file(path);
  Texts found;
  std::vector<std::string> places;
  std::optional<std::string> label;
  std::size_t number = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++number;
    if (trim(line).empty()) continue;
    places.push_back(path + ": line " + std::to_string(number));
    const Tree object = parse_json(line, places.back());
    if (!object.is_dict())
      file_error(places.back() + " is not an object, such as {\"text\": \"...\", \"label\": 1}");
    if (places.size() == 1) label = class_key(object, options);
    found.texts.push_back(text_of(object, options.text_column.value_or(text_name), places.back()));
    if (options.text_pair_column)
      found.pairs.push_back(text_of(object, *options.text_pair_column, places.back()));
    if (label) found.classes.push_back(text_of(object, *label, places.back()));
  }
  if (places.empty()) file_error(path + ": the file is empty");
  found.place = [places = std::move(places)](std::size_t row) { return places[row]; };
  return found;
}

/// Fills ids and mask, and says how many texts are longer than the tokens of a row.
std::vector<InputColumn> bytes_of_texts(const std::vector<std::string>& texts, std::int64_t tokens,
                                        const std::string& path) {
  const Shape shape{static_cast<std::int64_t>(texts.size()), tokens};
  Array ids(DType::int64, shape), mask(DType::int64, shape);
  std::int64_t* id = ids.mutable_span<std::int64_t>().data();
  std::int64_t* is_text = mask.mutable_span<std::int64_t>().data();
  std::size_t cut = 0;
  const auto width = static_cast<std::size_t>(tokens);
  for (const std::string& text : texts) {
    const std::size_t used = std::min(text.size(), width);
    std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(used), id,
                   [](char c) { return static_cast<unsigned char>(c); });
    std::fill_n(is_text, used, 1);
    id += width;
    is_text += width;
    cut += text.size() > width;
  }
  if (cut > 0)
    log::info(path + ": " + std::to_string(cut) + " of " + std::to_string(texts.size()) +
              " texts are longer than max_token_len = " + std::to_string(tokens) +
              " bytes, and are cut");
  InputColumn attention_mask{"attention_mask", mask};
  attention_mask.is_optional = true;
  return {{"x", ids}, attention_mask};
}

void require_texts(const Texts& rows) {
  for (const auto* texts : {&rows.texts, &rows.pairs})
    for (std::size_t row = 0; row < texts->size(); ++row)
      if ((*texts)[row].empty())
        file_error(rows.place(row) + ": the " + (texts == &rows.pairs ? "second " : "") +
                   "text is empty; leave the row out");
}

}  // namespace

Dataset load_labelled_texts(const std::string& path, const DataOptions& options) {
  if (options.text_pair_column && !options.tokenizer)
    config_error("text_pair_column needs a tokenizer (--tokenizer), which tells two texts apart");
  Texts rows =
      path.ends_with(".csv") ? texts_of_table(path, options) : texts_of_lines(path, options);
  rows.path = path;
  require_texts(rows);
  Dataset dataset;
  dataset.name = "text";
  dataset.inputs =
      options.tokenizer
          ? tokenized_columns(rows, options)
          : bytes_of_texts(rows.texts, options.max_token_len.value_or(default_tokens), path);
  if (rows.classes.empty())
    log::info(path + ": without a label, class or target, so this is for task none");
  else
    dataset.targets = {target_of_texts({rows.classes.begin(), rows.classes.end()}, rows.place)};
  split_randomly(dataset, options,
                 {"max_token_len", "text_column", "text_pair_column", "label_column", "tokenizer"});
  finish(dataset, path);
  return dataset;
}

}  // namespace mase::data
