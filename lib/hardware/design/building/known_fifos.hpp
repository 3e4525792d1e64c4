// SPDX-License-Identifier: Apache-2.0
// FIFO depths and timing of designs that were built before in this process. They follow from
// handshakes alone, and most trials of a search change none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hardware/design/design.hpp"
#include "hardware/design/timing/handshake.hpp"

namespace mase::design {

/// All that the FIFOs and the timing of a design without sizes depend on: how its instances are
/// joined, how many beats a frame has, and their handshake models, which are compared as a whole.
class Handshakes {
 public:
  /// `interval`: of the design when no stream has to wait for another one.
  Handshakes(const Design& design, std::int64_t interval);
  bool operator==(const Handshakes& other) const;
  std::size_t size() const { return models_.size(); }

 private:
  std::vector<std::int64_t> numbers_;
  std::vector<std::unique_ptr<Handshake>> models_;
};

/// What became of the FIFOs, in their order, and how the design is timed with them.
struct SizedFifos {
  std::vector<std::optional<std::int64_t>> depths;  ///< nullopt: it was taken out
  Timing timing;
};

/// Sizes the FIFOs of a design by `size`, which also sets its timing, or as it did before where it
/// met the same handshakes. Several threads may call it.
void size_as_known(Design& design, std::int64_t interval,
                   const std::function<void(Design& design)>& size);

}  // namespace mase::design
