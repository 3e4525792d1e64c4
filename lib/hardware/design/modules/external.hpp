// SPDX-License-Identifier: Apache-2.0
// Modules of the user's, as [custom_ops.NAME.hardware] states them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hardware/design/module.hpp"
#include "hardware/design/module_table.hpp"
#include "ir/custom_op.hpp"

namespace mase::design {

struct StepRow;

/// Its parameters are those that the user names.
class ExternalModule final : public ModuleBase {
 public:
  ExternalModule(const ir::CustomHardware& hardware, std::int64_t lanes,
                 ModuleParameters parameters);

  std::unique_ptr<ModuleBase> copy() const override;
  const ModuleRow& row() const override { return row_; }
  ModuleParameters parameters() const override { return parameters_; }
  std::unique_ptr<Handshake> handshake(Stages kept) const override;
  Cost cost(const Design& design) const override;
  Paths paths(const Technology&) const override { return {}; }
  bool is_external() const override { return true; }
  static StepRow step();

 private:
  ModuleRow row_;
  std::int64_t latency_, interval_;
  Cost cost_;  ///< of all lanes
  ModuleParameters parameters_;
};

}  // namespace mase::design
