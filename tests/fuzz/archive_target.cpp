// SPDX-License-Identifier: Apache-2.0
// Model files: zip archives and what is in them.
#include "checkpoint/archive.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void archive(std::string_view bytes) {
  const std::string path = stored("model.pt", bytes);
  accepts([&] { checkpoint::open_model(path); });
  accepts([&] {
    const auto [archive, kind] = checkpoint::open_tensors(path);
    if (kind == checkpoint::ArchiveKind::state_dict) checkpoint::read_state_dict(archive);
  });
  accepts([&] { checkpoint::read_contents(path); });
}

}  // namespace mase::fuzz
