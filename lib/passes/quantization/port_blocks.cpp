// SPDX-License-Identifier: Apache-2.0
// The rules in the order of the header's table.
#include "passes/quantization/port_blocks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

using field_detail::is_none;

constexpr std::string_view skip_field = "skip_first_dim", rank_field = "max_rank";

bool is_convolution(ir::OpFamily family) {
  return family == ir::OpFamily::convolution || family == ir::OpFamily::transposed_convolution;
}

/// True for layers other than convolutions.
bool is_layer(ir::OpFamily family) {
  using enum ir::OpFamily;
  constexpr std::array layers{linear,           attention,       embedding,     batch_norm,
                              instance_norm,    group_norm,      layer_norm,    pooling,
                              adaptive_pooling, recurrent_layer, recurrent_cell};
  return std::ranges::find(layers, family) != layers.end();
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
  // Only where dimensions merge, so that formats of layers and functions are the same elsewhere.
  const auto merged = rank > 3 ? std::optional(3) : std::nullopt;
  const bool data = ir::general_port(port).starts_with("data_");
  const ir::OpFamily family = ir::family_of(op);
  if (is_convolution(family)) {
    if (rank >= 3 && port != "bias") return {true, merged};
    return {data, std::nullopt};
  }
  if (is_layer(family)) return {data, std::nullopt};
  return rank > 2 ? BlockLayout{true, merged} : BlockLayout{};
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
