// SPDX-License-Identifier: Apache-2.0
// What a checkpoint says of itself, mase/info.json, beside a graph and tensors that are sound.
#include "checkpoint/archive.hpp"
#include "fuzz/small_checkpoint.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void contents(std::string_view bytes) {
  test_zip::Entries entries = small_archive("\x80\x02}.");
  entries.emplace_back("m/code/m.py", "");
  entries.emplace_back("m/extra/mase/info.json", std::string(bytes));
  entries.emplace_back("m/extra/mase/graph.txt", ir::print(small_graph()));
  const std::string path = stored("checkpoint.pt", test_zip::zip_of(entries));
  accepts([&] { checkpoint::read_contents(path); });
  accepts([&] { checkpoint::check_codes(path, small_graph()); });
}

}  // namespace mase::fuzz
