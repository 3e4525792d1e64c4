// SPDX-License-Identifier: Apache-2.0
// The AXI4-Stream wrapper in simulation: the bench drives it through axi_loop.sv, which stands
// where a design expects its FIFO.
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "support/temporary_folder.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

/// A design of one FIFO around the wrapper of one_skid, with a TLAST every `period` beats.
Simulation run_wrapper(std::int64_t period, double stall) {
  design::Design design = test::one_skid();
  const test::TemporaryFolder folder;
  const Files inner = all_files(design, {});
  write_files(folder.path(), inner);
  design.name = "outer";
  design.instances.front().module = "mase_fifo";
  design.instances.front().parameters.set("DEPTH", period);
  write_files(folder.path(), all_files(design, {}));
  write_file(folder.file("rtl/mase_fifo.sv"),
             read_file(std::string(MASE_TEST_FOLDER) + "/hardware/emit/axi_loop.sv"));
  write_file(folder.file("filelist.f"),
             inner.at("filelist_axi.f") + "rtl/mase_fifo.sv\nrtl/outer.sv\n");
  SimulateOptions options;
  options.stall_in = options.stall_out = stall;
  options.optimise = 0;
  return simulate(folder.path(), design, test::same_vectors(design, 20, 4), options);
}

}  // namespace

TEST_CASE("the AXI4-Stream wrapper passes every beat and ends frames with TLAST") {
  CHECK(run_wrapper(4, 0).passed());
  CHECK(run_wrapper(4, 0.5).passed());
}

TEST_CASE("a TLAST in the wrong place is reported by the wrapper") {
  const Simulation simulation = run_wrapper(3, 0);
  // The third beat carries it; from the next cycle on the error stands.
  CHECK(simulation.mismatches > 70);
  CHECK_FALSE(simulation.deadlock);
}
