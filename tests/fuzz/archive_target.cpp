// SPDX-License-Identifier: Apache-2.0
// Model files: zip archives and what is in them.
#include "checkpoint/archive.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void archive(std::string_view bytes) {
  const std::string path = stored("model.pt", bytes);
  accepts([&] { checkpoint::check_archive(path); });
  accepts([&] {
    if (checkpoint::check_tensor_archive(path) == checkpoint::ArchiveKind::state_dict)
      checkpoint::read_state_dict(path);
  });
  accepts([&] { checkpoint::read_contents(path); });
}

}  // namespace mase::fuzz
