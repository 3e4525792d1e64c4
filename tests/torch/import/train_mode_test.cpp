// SPDX-License-Identifier: Apache-2.0
// Import of what was saved in train mode: told, and put into eval mode by remove_dropout.
#include "torch/catch.hpp"

#include "ir/train_mode.hpp"
#include "passes/transform/remove_dropout.hpp"
#include "test_paths.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"

using namespace mase;
using namespace mase::test;

namespace {

ir::Graph import_train_mode() {
  const std::string folder = std::string(MASE_TEST_FOLDER) + "/fixtures/programs/";
  backend::ImportOptions options;
  options.inputs = {read_npy(folder + "example.npy")};
  return libtorch::import_torchscript(folder + "TrainMode.pt", options);
}

}  // namespace

TEST_CASE("what draws numbers or uses a batch's statistics for good is told") {
  const auto warnings = ir::train_mode_warnings(import_train_mode());
  REQUIRE(warnings.size() == 2);
  for (const char* said : {"'dropout'", "'scaled_dot_product_attention'", "'drop'", "'rrelu'",
                           "model.eval()", "remove_dropout"})
    CHECK_THAT(warnings[0], Catch::Contains(said));
  CHECK_THAT(warnings[1], Catch::Contains("by 'instance_norm';"));
}

TEST_CASE("without what draws, a trace of train mode computes what PyTorch does in eval mode") {
  const std::string folder = std::string(MASE_TEST_FOLDER) + "/fixtures/programs/";
  constexpr double other_processor = 1e-6;  // whose matrix products add in another order
  ir::Graph graph = import_train_mode();
  passes::PassContext context;
  passes::RemoveDropout::run(graph, {}, context);
  CHECK_FALSE(ir::draws_always(graph));
  const ir::Results stored{{"", read_npy(folder + "TrainMode.npy")}};
  const auto results = evaluator_of(graph)->run({read_npy(folder + "example.npy")});
  CHECK(largest_difference(results, stored) < other_processor);
}
