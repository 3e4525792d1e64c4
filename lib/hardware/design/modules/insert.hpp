// SPDX-License-Identifier: Apache-2.0
// Module mase_insert.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// Constants around the rows of a stream.
struct InsertModule {
  static constexpr std::string_view module_name = "mase_insert";
  std::int64_t width = 8, before = 1, beats = 4, after = 1, depth = 2;
  std::string image_file = {};
  std::optional<std::int64_t> image_base = std::nullopt;

  static constexpr auto fields() {
    return std::tuple{
        Field{"W", &InsertModule::width, "bits of a beat"}.at_least(1),
        Field{"BEFORE", &InsertModule::before, "beats of constants before a row"}.at_least(0),
        Field{"BEATS", &InsertModule::beats, "beats of a row"}.at_least(1),
        Field{"AFTER", &InsertModule::after, "beats of constants after a row"}.at_least(0),
        Field{"DEPTH", &InsertModule::depth, "beats of constants that differ"}.at_least(1),
        Field{"IMAGE_FILE", &InsertModule::image_file,
              "image of the constants, a word for each beat"},
        Field{"IMAGE_BASE", &InsertModule::image_base, "where a host writes the constants"}
            .at_least(0)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<InsertModule>> measured();
  std::vector<HostImage> host_images() { return {{image_file, &image_base}}; }
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
