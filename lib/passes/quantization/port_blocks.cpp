// The rules of the table in the header, in its order.
#include "passes/quantization/port_blocks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mase::passes {
namespace {

using field_detail::is_none;

constexpr std::string_view skip_field = "skip_first_dim", rank_field = "max_rank";

bool is_layer(std::string_view op) {
  if (op.find("norm") != op.npos || op.find("pool") != op.npos) return true;
  constexpr std::array<std::string_view, 4> others{"linear", "embedding", "grouped_query_attention",
                                                   "multi_head_attention"};
  return std::find(others.begin(), others.end(), op) != others.end();
}

bool has_field(const formats::FormatRow& row, std::string_view name) {
  return std::any_of(row.fields.begin(), row.fields.end(),
                     [&](const FieldInfo& field) { return field.name == name; });
}

bool left_open(const Tree& given, std::string_view field) {
  const Tree* value = given.find(field);
  return !value || is_none(*value);
}

}  // namespace

BlockLayout block_layout(std::string_view op, std::string_view port, std::size_t rank) {
  if (rank <= 1) return {};
  const bool data = port.starts_with("data_");
  if (op.starts_with("conv")) {
    if (rank >= 3 && port != "bias") return {true, rank > 3 ? std::optional(3) : std::nullopt};
    return {data, std::nullopt};
  }
  if (is_layer(op)) return {data, std::nullopt};
  return rank > 2 ? BlockLayout{true, 3} : BlockLayout{};
}

bool is_open_layout(const Tree& given, const std::string& field) {
  return (field == skip_field || field == rank_field) && left_open(given, field);
}

formats::Format with_block_layout(const formats::Format& format, const Tree& given,
                                  const std::string& op, const std::string& port,
                                  std::size_t rank) {
  const formats::FormatRow& row = *formats::find_format(format.name());
  const BlockLayout layout = block_layout(op, port, rank);
  Tree fields = format.fields();
  bool changed = false;
  const auto set = [&](std::string_view field, Tree value) {
    if (!has_field(row, field) || !is_open_layout(given, std::string(field))) return;
    fields[field] = std::move(value);
    changed = true;
  };
  set(skip_field, layout.skip_first_dim);
  set(rank_field, layout.max_rank ? Tree(*layout.max_rank) : Tree("NA"));
  if (!changed) return format;
  Diagnostics diagnostics;
  const auto made = row.make(fields, diagnostics);
  MASE_CHECK(made, "a block format refused the layout of its port: " + diagnostics.text());
  return *made;
}

}  // namespace mase::passes
