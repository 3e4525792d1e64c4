// SPDX-License-Identifier: Apache-2.0
// Compares hashes, and the settings one by one.
#include "torch/train/agreement.hpp"

#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "ir/text.hpp"
#include "torch/train/state.hpp"

namespace mase::train {
namespace {

[[noreturn]] void refuse_rank(std::size_t rank, const std::string& what) {
  config_error("rank " + std::to_string(rank) + " has " + what +
               "; start all processes with the same arguments and files");
}

void compare_hashes(ProcessGroup& group, const std::string& key, const std::string& hash,
                    const std::string& what) {
  const std::vector<std::string> all = group.exchange(key, hash);
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all.front()) refuse_rank(rank, "another " + what + " than rank 0");
}

void compare_settings(ProcessGroup& group, const backend::TrainOptions& options) {
  const std::vector<std::string> all =
      group.exchange("settings", to_json(write_fields(options), -1));
  const Tree first = parse_json(all.front(), "settings of rank 0");
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const Tree other = parse_json(all[rank], "settings of a rank");
    std::vector<std::string> differing;
    for (const auto& [name, value] : first.as_dict())
      if (const Tree* theirs = other.find(name); !theirs || *theirs != value)
        differing.push_back(name + " = " + (theirs ? to_json(*theirs, -1) : "nothing") +
                            ", and rank 0 " + to_json(value, -1));
    if (!differing.empty()) refuse_rank(rank, join(differing, "; "));
  }
}

}  // namespace

void check_agreement(ProcessGroup& group, const ir::Graph& graph, const std::string& data,
                     const std::string& resume, const backend::TrainOptions& options) {
  compare_settings(group, options);
  compare_hashes(group, "data", data, options.teacher ? "data set or teacher" : "data set");
  compare_hashes(group, "graph", sha256(ir::print(graph)), "model");
  compare_hashes(group, "weights", weights_hash(graph), "weights of the model");
  compare_hashes(group, "resume", resume, "checkpoint to resume from");
}

}  // namespace mase::train
