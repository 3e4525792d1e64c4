// SPDX-License-Identifier: Apache-2.0
// PartRunner: some nodes of a network run by themselves, with the beats that the others give them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hardware/design/timing/playback.hpp"

namespace mase::design {

/// Some nodes of a network as a design of their own. Its streams are numbered in the order in which
/// the nodes name them, so that parts that are the same have the same numbers.
struct NetworkPart {
  std::vector<std::size_t> nodes;
  Design design;                     ///< the streams of its instances, and nothing else
  std::vector<StreamId> streams;     ///< of the network, by those of the part
  std::size_t ports = 0;             ///< inputs that are inputs of the network: the first ones
  std::vector<std::size_t> watches;  ///< of the network
};

/// What a part did; times are those of its network.
struct PartRun {
  std::vector<Trace> outputs, ports;  ///< of the part
  std::vector<std::vector<Playback::Most>> most;
  std::int64_t settled = forever;  ///< nothing changes from here to the first input beat
};

/// Runs a part until it repeats.
class PartRunner {
 public:
  /// Inputs of the part that are not ports of the network follow the traces `inputs`. `part` and
  /// `inputs` must outlive the object.
  PartRunner(const NetworkPart& part, const std::vector<Trace>& inputs, Network network);

  enum class End {
    repeats,
    refuses,  ///< a beat of a trace was not taken at once
    wanders   ///< it has not come to repeat
  };
  End run();
  /// The input whose beat was not taken.
  StreamId refused() const { return *network_.refused(); }
  PartRun take() { return std::move(run_); }

 private:
  std::int64_t first_beat() const;
  void run_to(std::int64_t cycle);
  void run_frame();
  void step(std::int64_t until);
  void note(std::int64_t cycle);
  bool repeats();

  const NetworkPart& part_;
  const std::vector<Trace>& inputs_;
  Network network_;
  PartRun run_;
  std::int64_t quiet_ = 0, patience_ = 0;  ///< cycles without a beat
  Network::State state_;                   ///< one period ago
  std::vector<std::size_t> marks_;
  std::int64_t since_ = 0;
};

}  // namespace mase::design
