// SPDX-License-Identifier: Apache-2.0
// The place of this process among those that do the work of one command together.
#pragma once

#include <optional>
#include <string>

namespace mase::backend {

/// The processes of a command, and where they meet. By default there is only this one.
struct Ranks {
  int rank = 0, size = 1;
  std::string host;             ///< where rank 0 or the launcher listens
  int port = 0;                 ///< the port there
  bool served = false;          ///< the launcher listens, and rank 0 connects like the others
  std::string attempt;          ///< tells the tries of a launcher that starts again apart
  std::optional<int> listener;  ///< a socket that listens there already, for rank 0
  std::optional<int> memory;    ///< an empty file in memory that all processes have
  double timeout = 600;         ///< seconds to wait for another process
  /// What to do when another process is lost.
  std::string after_loss = "--resume goes on from the last checkpoint";

  bool several() const { return size > 1; }
};

}  // namespace mase::backend
