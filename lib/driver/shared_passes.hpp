// SPDX-License-Identifier: Apache-2.0
// Sharing the work of passes among processes, so that the result is that of one process.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/ranks.hpp"
#include "base/companions.hpp"
#include "driver/session.hpp"
#include "passes/runner.hpp"

namespace mase::driver {

/// Processes that run the same passes. It remembers whether there was any work to share.
class PassCompanions final : public Companions {
 public:
  explicit PassCompanions(std::unique_ptr<Companions> all) : all_(std::move(all)) {}

  int rank() const override { return all_->rank(); }
  int size() const override { return all_->size(); }
  std::vector<std::string> gather(const std::string& bytes) override {
    has_shared_ = true;
    return all_->gather(bytes);
  }
  void give_to_first(const std::string& bytes) override { all_->give_to_first(bytes); }
  std::string take_from(int rank) override { return all_->take_from(rank); }
  bool has_shared() const { return has_shared_; }

 private:
  std::unique_ptr<Companions> all_;
  bool has_shared_ = false;
};

/// Removes the calls after the last one whose pass shares its work, which rank 0 does alone.
/// Error(Fault::config) if no pass of the file `config_path` does.
void keep_shared_calls(std::vector<passes::PassCall>& calls, const std::string& config_path);

/// Meets the processes that run these passes on this model. Refuses those that differ.
std::shared_ptr<PassCompanions> meet_for_passes(const Session& session, const LoadedModel& model,
                                                const std::vector<passes::PassCall>& calls,
                                                const backend::Ranks& ranks);

}  // namespace mase::driver
