// SPDX-License-Identifier: Apache-2.0
// The name of the device that LibTorch computes on, as a setting.
#pragma once

#include <string>

#include "base/field.hpp"

namespace mase::backend {

/// "cpu", "auto" (the first accelerator, else the CPU), or LibTorch's name of a device: "cuda",
/// "cuda:1", "xpu", "mps". Which devices there are, only LibTorch knows.
struct DeviceName {
  std::string name = "cpu";

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const { return name; }
  static std::string field_type() { return "string"; }
};

/// The name, if it is written as one. Error(Fault::config) otherwise.
std::string parse_device(const std::string& text);

}  // namespace mase::backend
