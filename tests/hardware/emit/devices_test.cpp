// SPDX-License-Identifier: Apache-2.0
// Designs on several devices: the same codes as on one, in the cycles that are predicted, and every
// device by itself.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/random.hpp"
#include "designs.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/programs.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/integer/interpreter.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

/// A residual block between two layers, whose short branch passes every cut in between.
std::shared_ptr<const integer::Program> residual() {
  test::ProgramMaker maker;
  const auto x = maker.input("x", {8});
  const auto first = maker.linear("first", x, 8, 6);
  const auto up = maker.linear("up", first, 6, 12);
  const auto down = maker.linear("down", up, 12, 6);
  const auto sum = maker.add("sum", down, first);
  maker.output(maker.linear("last", sum, 6, 4));
  return maker.share();
}

Vectors frames_of(const integer::Program& program, std::int64_t frames) {
  Random random(11);
  Vectors vectors;
  vectors.frames = frames;
  vectors.inputs.resize(1);
  for (std::int64_t i = 0; i < frames * program.value(program.inputs[0]).elements(); ++i)
    vectors.inputs[0].push_back(static_cast<std::int64_t>(random.below(256)) - 128);
  vectors.outputs = integer::Interpreter(program).run(vectors.inputs, frames);
  return vectors;
}

/// What Verilator and Yosys say of a device alone, with the files that its list names.
void check_alone(const std::string& folder, const std::string& device) {
  const std::string list = "filelist_" + device + ".f", top = "top_" + device;
  INFO(device);
  const ProcessResult lint = run_process(
      {"verilator", "--lint-only", "-Wall", "-f", list, "--top-module", top}, {folder, 600, {}});
  INFO(lint.err);
  CHECK(lint.status == 0);
  std::string sources = read_file(folder + "/" + list);
  std::ranges::replace(sources, '\n', ' ');
  const ProcessResult yosys =
      run_process({"yosys", "-q", "-p",
                   "read_verilog -sv -defer " + sources + "; hierarchy -check -top " + top +
                       "; proc; check -assert"},
                  {folder, 600, {}});
  INFO(yosys.out << yosys.err);
  CHECK(yosys.status == 0);
}

}  // namespace

TEST_CASE("a residual block on several devices gives the codes of one in the predicted cycles") {
  const auto program = residual();
  const Vectors vectors = frames_of(*program, 40);
  const design::Folding folding{{"first", {2, 3}}, {"up", {3, 2}}, {"sum", {2, 2}}};
  const std::vector<std::map<std::string, int>> cuts = {
      {},
      {{"down", 1}, {"sum", 1}, {"last", 1}},
      {{"first", 4}, {"up", 4}, {"down", 7}, {"sum", 9}, {"last", 9}},
      {{"up", 1}}};  // there and back
  const std::vector<std::size_t> links = {0, 2, 3, 2};
  const std::vector<design::LinkSettings> settings = {{7}, {7}, {7, 8, 3}, {40, 16, 2}};
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const design::Design design = design::build(program, folding, {cuts[c], settings[c]});
    const test::TemporaryFolder folder;
    write_files(folder.path(), all_files(design, {}));
    INFO("cut " << c);
    CHECK(std::ranges::count(design.instances, design::between_devices,
                             &design::Instance::device) == static_cast<std::ptrdiff_t>(links[c]));
    for (const auto& [in, out] : test::kStallProfiles) {
      SimulateOptions options;
      options.optimise = 0;
      options.stall_in = in;
      options.stall_out = out;
      const Simulation simulation = simulate(folder.path(), design, vectors, options);
      INFO("stalls " << in << ", " << out);
      CHECK(simulation.passed());
      if (in > 0 || out > 0) continue;
      CHECK(simulation.latency_first == design.timing.first);
      CHECK(simulation.latency_last == design.timing.last);
      CHECK(simulation.interval == design.timing.interval);
    }
    CHECK(run_process({"make", "lint"}, {folder.path(), 600, {}}).status == 0);
    if (design.devices().size() > 1)
      for (const int device : design.devices())
        check_alone(folder.path(), "device" + std::to_string(device));
  }
}
