// SPDX-License-Identifier: Apache-2.0
// The processes that share the work of one command, as code sees them that does not know how they
// are connected.
#pragma once

#include <string>
#include <vector>

namespace mase {

/// This process and those that do the same command with it. All of them call the same functions in
/// the same order. Error(Fault::file) where another one has ended or does not answer in time;
/// Error(Fault::interrupted) if this one was interrupted, too.
class Companions {
 public:
  virtual ~Companions() = default;
  virtual int rank() const = 0;  ///< the number of this process, from 0
  virtual int size() const = 0;  ///< the number of processes
  /// What all processes give, in the order of ranks, in each of them.
  virtual std::vector<std::string> gather(const std::string& bytes) = 0;
  /// Gives bytes to rank 0, which takes them from this rank in the order in which it gives them.
  virtual void give_to_first(const std::string& bytes) = 0;
  virtual std::string take_from(int rank) = 0;  ///< on rank 0
};

}  // namespace mase
