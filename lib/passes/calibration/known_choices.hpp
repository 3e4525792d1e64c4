// SPDX-License-Identifier: Apache-2.0
// What calibration has chosen before for ports of the same float model on the same data: the trials
// of a search ask for the same few formats again and again.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/tree.hpp"
#include "formats/format.hpp"
#include "ir/graph.hpp"

namespace mase::passes {

/// The choice for one port, and how its values fit.
struct PortChoice {
  formats::Format format;
  Tree value = {};
  std::int64_t values = 0, saturated = 0;
  double share() const { return values > 0 ? double(saturated) / double(values) : 0.0; }
};

/// Whether two graphs compute the same without their formats. Tensors are the same where they share
/// memory, as those of copies do.
bool same_float_model(const ir::Graph& a, const ir::Graph& b);

/// Choices on one set of data, which whoever makes it sees to. They are kept for the first float
/// model that is asked about, and never found for another one. Several threads may use it.
class KnownChoices {
 public:
  /// `question`: the port, the format that it had, and the options.
  std::optional<PortChoice> find(const ir::Graph& graph, const std::string& question);
  void add(const ir::Graph& graph, const std::string& question, const PortChoice& choice);

 private:
  std::mutex mutex_;
  std::optional<ir::Graph> model_;  ///< keeps the memory of its tensors, so none other gets it
  std::map<std::string, PortChoice> choices_;
};

}  // namespace mase::passes
