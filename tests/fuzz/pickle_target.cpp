// SPDX-License-Identifier: Apache-2.0
// Pickled tensors: of a state_dict, and of the module of a checkpoint.
#include "checkpoint/archive.hpp"
#include "fuzz/small_checkpoint.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void pickle(std::string_view bytes) {
  test_zip::Entries entries = small_archive(bytes);
  const std::string plain = stored("state_dict.pt", test_zip::zip_of(entries));
  accepts([&] { checkpoint::read_state_dict(checkpoint::open_tensors(plain).archive); });
  entries.emplace_back("m/code/m.py", "");
  const std::string module = stored("module.pt", test_zip::zip_of(entries));
  ir::Graph graph = small_graph();
  accepts([&] { checkpoint::load_tensors(checkpoint::open_model(module), graph); });
}

}  // namespace mase::fuzz
