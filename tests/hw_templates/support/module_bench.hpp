// SPDX-License-Identifier: Apache-2.0
// Bench for one hardware module: many instances with different parameters side by side in one
// design, each with its own streams, run through the emitted RTL under every stall profile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "hardware/design/modules/module.hpp"

namespace mase::rtl_test {

/// Codes of all frames at one port, in stream order.
struct Port {
  std::int64_t lanes = 1;
  integer::FixedType type;
  integer::Codes codes;
};

/// One instance: what goes in and what has to come out.
struct Case {
  design::Module module;
  std::vector<Port> inputs, outputs;     ///< in the order of the module's ports
  std::vector<design::Memory> memories;  ///< file names are unique over all cases
};

inline Case case_of(design::Module module, std::vector<Port> inputs, std::vector<Port> outputs,
                    std::vector<design::Memory> memories = {}) {
  return {std::move(module), std::move(inputs), std::move(outputs), std::move(memories)};
}

/// Emits the cases as one design, builds it once and runs `frames` frames (codes of every port hold
/// as many) without stalls, at 40/40 %, 90 % output and 90 % input stalls. Checks in every run:
/// each beat, the stream rules, and that ready and valid of every instance equal its handshake
/// model's in every cycle; without stalls also the latency and the interval that design::predict
/// says. At most 64 input and 64 output streams.
void check_cases(const std::vector<Case>& cases, std::int64_t frames);

/// Random codes of a type, the least and the greatest code among them one time in eight each.
integer::Codes random_codes(Random& random, const integer::FixedType& type, std::int64_t count);

/// A port with random codes in `beats` beats, those of all frames together.
Port random_port(Random& random, std::int64_t lanes, const integer::FixedType& type,
                 std::int64_t beats);

/// A module's parameter of one bit.
inline std::int64_t flag(bool value) { return value ? 1 : 0; }

/// A number in [low, high].
std::int64_t between(Random& random, std::int64_t low, std::int64_t high);

/// The requantisation parameters with a random clamp range inside `to`.
integer::Requantise random_requantise(Random& random, const integer::FixedType& to, int shift,
                                      std::int64_t divisor = 1);

}  // namespace mase::rtl_test
