// SPDX-License-Identifier: Apache-2.0
// Module mase_embedding.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// A table, whose row of each number leaves beat by beat.
struct EmbeddingModule {
  static constexpr std::string_view module_name = "mase_embedding";
  int id_bits = 4;
  std::int64_t width = 8, rows = 10, beats = 2;
  std::string table_file = {};
  std::optional<std::int64_t> table_base = std::nullopt;

  static constexpr auto fields() {
    return std::tuple{
        Field{"IW", &EmbeddingModule::id_bits, "bits of a number"}.at_least(1),
        Field{"W", &EmbeddingModule::width, "bits of a beat"}.at_least(1),
        Field{"ROWS", &EmbeddingModule::rows, "rows of the table"}.at_least(1),
        Field{"BEATS", &EmbeddingModule::beats, "beats of a row"}.at_least(1),
        Field{"TABLE_FILE", &EmbeddingModule::table_file,
              "image of the table, a word for each beat"},
        Field{"TABLE_BASE", &EmbeddingModule::table_base, "where a host writes the table"}.at_least(
            0)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<EmbeddingModule>> measured();
  std::vector<HostImage> host_images() { return {{table_file, &table_base}}; }
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
