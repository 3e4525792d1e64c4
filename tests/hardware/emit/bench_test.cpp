// SPDX-License-Identifier: Apache-2.0
// The bench must catch what a broken module does: each module of broken/ takes the place of the
// skid in a design of one skid.
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "support/temporary_folder.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

constexpr std::int64_t kFrames = 20;  // of 4 beats

SimulateOptions bench_options(double in = 0, double out = 0) {
  SimulateOptions options;
  options.stall_in = in;
  options.stall_out = out;
  options.seed = 3;
  options.watchdog = 500;
  options.optimise = 0;
  return options;
}

/// An emitted design whose skid is `module`.
class Bench {
 public:
  explicit Bench(const std::string& module) {
    write_files(folder_.path(), all_files(design_, {}));
    write_file(
        folder_.file("rtl/mase_skid.sv"),
        read_file(std::string(MASE_TEST_FOLDER) + "/hardware/emit/broken/" + module + ".sv"));
  }
  Simulation run(const SimulateOptions& options) const { return run(options, vectors_); }
  Simulation run(const SimulateOptions& options, const Vectors& vectors) const {
    return simulate(folder_.path(), design_, vectors, options);
  }
  const Vectors& vectors() const { return vectors_; }

 private:
  test::TemporaryFolder folder_;
  design::Design design_ = test::one_skid();
  Vectors vectors_ = test::same_vectors(design_, kFrames, 5);
};

std::string first_message(const Simulation& simulation) {
  return simulation.first_mismatches.empty() ? "" : simulation.first_mismatches.front();
}

}  // namespace

TEST_CASE("a sound module passes, and every kind of vectors fault is found and placed") {
  const Bench bench("sound");
  const Simulation good = bench.run(bench_options());
  CHECK(good.passed());
  // One entry: a beat goes in every second cycle, comes out in the next one.
  CHECK(good.latency_first == 1);
  CHECK(good.latency_last == 7);
  CHECK(good.interval == 8);
  CHECK(bench.run(bench_options(0.5, 0.5)).passed());

  Vectors wrong = bench.vectors();
  std::int64_t& code = wrong.outputs[0][4 * 7 + 2];
  const std::string got = std::to_string(code);
  code ^= 1;
  const Simulation found = bench.run(bench_options(), wrong);
  CHECK_FALSE(found.passed());
  CHECK(found.mismatches == 1);
  CHECK(first_message(found) ==
        "frame 7, stream y, beat 2, element 0: expected " + std::to_string(code) + ", got " + got);
}

TEST_CASE("a dropped beat is found") {
  const Bench bench("drops");
  const Simulation simulation = bench.run(bench_options());
  CHECK(simulation.mismatches > 0);
  CHECK(simulation.deadlock);
  CHECK(first_message(simulation).starts_with("frame 1, stream y, beat 3"));
}

TEST_CASE("a doubled beat is found, also as the very last one") {
  const Bench bench("duplicates");
  CHECK(bench.run(bench_options()).mismatches > 0);
  Vectors eight = bench.vectors();
  eight.frames = 2;
  for (auto* side : {&eight.inputs, &eight.outputs}) (*side)[0].resize(8);
  const Simulation last = bench.run(bench_options(), eight);
  CHECK(last.mismatches == 1);
  CHECK(first_message(last) == "stream y: a beat after the last expected one");
}

TEST_CASE("a valid that waits for ready is a deadlock") {
  const Simulation simulation = Bench("waits_for_ready").run(bench_options());
  CHECK(simulation.deadlock);
  CHECK_FALSE(simulation.passed());
  CHECK(first_message(simulation).find("ready waits for valid") != std::string::npos);
}

TEST_CASE("a combinational path between the handshakes is found, with correct data too") {
  const Simulation simulation = Bench("combinational").run(bench_options());
  CHECK(simulation.mismatches == 0);
  CHECK(simulation.combinational_paths > 0);
  CHECK_FALSE(simulation.passed());
}

TEST_CASE("a stalled output that is withdrawn or changed is found") {
  for (const char* module : {"withdraws", "changes_data"}) {
    INFO(module);
    const Bench bench(module);
    const Simulation simulation = bench.run(bench_options(0, 0.9));
    CHECK(simulation.protocol_faults > 0);
    CHECK_FALSE(simulation.passed());
  }
}

TEST_CASE("spells of stalls find what no single probability does") {
  const Bench bench("impatient");
  for (const double stall : {0.0, 0.25, 0.5})
    CHECK(bench.run(bench_options(stall, stall)).passed());
  SimulateOptions spells = bench_options();
  spells.spell = 64;
  for (const std::uint64_t seed : {1, 2, 3}) {
    spells.seed = seed;
    CHECK_FALSE(bench.run(spells).passed());
    CHECK(Bench("sound").run(spells).passed());
  }
}

TEST_CASE("a design that stops is a deadlock in spells of stalls too") {
  SimulateOptions spells = bench_options();
  spells.spell = 64;
  CHECK(Bench("stops").run(spells).deadlock);
}

TEST_CASE("a design that stops is a deadlock") {
  const Simulation simulation = Bench("stops").run(bench_options());
  CHECK(simulation.deadlock);
  CHECK(simulation.frames == 4);
  CHECK(first_message(simulation).find("x after 16 of 80 beats") != std::string::npos);
}

TEST_CASE("a design that gives beats for ever and takes none is a deadlock") {
  const Simulation simulation = Bench("floods").run(bench_options());
  CHECK(simulation.deadlock);
  CHECK(simulation.cycles < 2000);
}

TEST_CASE("a beat before any input is found") {
  CHECK(Bench("speaks_first").run(bench_options()).protocol_faults > 0);
}

TEST_CASE("signed arithmetic of models is that of Verilator") {
  const test::TemporaryFolder folder;
  const std::string root(
      trim(run_checked({"verilator", "--getenv", "VERILATOR_ROOT"}, {"", 3600, {}}, "asking").out));
  const std::string check = std::string(MASE_TEST_FOLDER) + "/hardware/emit/verilated/signs.cpp";
  for (const auto& [name, text] : all_files(test::one_skid(), {}))
    if (name == "sim/signs.hpp") write_file(folder.file("signs.hpp"), text);
  run_checked({"g++", "-std=c++20", "-O1", "-isystem", root + "/include", "-isystem",
               root + "/include/vltstd", "-I" + folder.path(), check, "-o", folder.file("check")},
              {"", 3600, {}}, "compiling");
  const ProcessResult result = run_process({folder.file("check")}, {"", 3600, {}});
  CHECK(result.out.empty());
  CHECK(result.status == 0);
}
