// SPDX-License-Identifier: Apache-2.0
// The whole way from a design made by hand to a simulation of its emitted folder.
#include <catch2/catch.hpp>
#include <filesystem>
#include <numeric>

#include "base/file.hpp"
#include "designs.hpp"
#include "hardware/design/build.hpp"
#include "hardware/emit/build.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "support/message_of.hpp"
#include "support/own_cache.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

SimulateOptions quick() {
  SimulateOptions options;
  options.optimise = 0;
  return options;
}

Vectors table_vectors(const design::Design& design) {
  Vectors vectors = test::same_vectors(design, 30, 2);
  for (std::int64_t& code : vectors.outputs[0]) code = 31 - code;
  return vectors;
}

}  // namespace

TEST_CASE("skids and fifos side by side pass every beat under all stall profiles") {
  const design::Design design = test::two_lines();
  const test::OwnCache cache(test::kUnusualName);
  const test::TemporaryFolder parent;
  const std::string folder = parent.file(test::kUnusualName);
  write_files(folder, all_files(design, {}));
  const Vectors vectors = test::same_vectors(design, 40, 1);
  bool first = true;
  for (const auto& [in, out] : test::kStallProfiles) {
    SimulateOptions options = quick();
    options.stall_in = in;
    options.stall_out = out;
    options.seed = 7;
    options.keep_outputs = true;
    const Simulation simulation = simulate(folder, design, vectors, options);
    INFO("stalls " << in << ", " << out);
    CHECK(simulation.passed());
    CHECK(simulation.frames == 40);
    CHECK(simulation.beats == 40 * (3 + 2));
    CHECK(simulation.outputs == vectors.outputs);
    const Simulation::Histogram& times = simulation.latencies;
    CHECK(std::accumulate(times.frames.begin(), times.frames.end(), std::int64_t{0}) == 40);
    const auto bins = static_cast<std::int64_t>(times.frames.size());
    CHECK(bins <= 16);
    CHECK(double(times.least) <= simulation.latency_mean);
    CHECK((simulation.latency_worst - times.least) / times.width == bins - 1);
    CHECK(times.frames.back() > 0);
    // A queue that is emptied as fast as it is filled holds a beat; one that waits long is full.
    REQUIRE(simulation.fifos.size() == design::fifo_depths(design).size());
    for (const Simulation::FifoPeak& fifo : simulation.fifos) {
      CHECK(fifo.depth == design::fifo_depths(design).at(fifo.name));
      CHECK(fifo.peak >= 1);
      CHECK(fifo.peak <= (in == 0 && out == 0 ? 1 : fifo.depth));
      if (out >= 0.9) CHECK(fifo.peak == fifo.depth);
    }
    CHECK(simulation.built == first);
    first = false;
  }
  Vectors unknown = vectors;
  unknown.outputs.clear();
  SimulateOptions options = quick();
  options.keep_outputs = true;
  CHECK(simulate(folder, design, unknown, options).outputs == vectors.outputs);
}

TEST_CASE("handshakes come back cycle by cycle") {
  const design::Design design = test::one_skid();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  SimulateOptions options = quick();
  options.keep_handshakes = true;
  const Simulation simulation =
      simulate(folder.path(), design, test::same_vectors(design, 2, 1), options);
  REQUIRE(simulation.handshakes.size() > 10);
  for (std::size_t cycle = 0; cycle < 10; ++cycle) {
    const HandshakeSignals& now = simulation.handshakes[cycle];
    CHECK(now.in_valid == (cycle < 8 ? 1 : 0));
    CHECK(now.in_ready == 1);
    CHECK(now.out_valid == (cycle >= 1 && cycle <= 8 ? 1 : 0));
  }
}

TEST_CASE("a flipped bit of a memory image makes the run fail and the emitted image stays") {
  const design::Design design = test::one_table();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  const Vectors vectors = table_vectors(design);
  CHECK(simulate(folder.path(), design, vectors, quick()).passed());
  SimulateOptions broken = quick();
  broken.fault = emit::Fault{"table.mem", 5, 4};
  const Simulation simulation = simulate(folder.path(), design, vectors, broken);
  CHECK_FALSE(simulation.passed());
  CHECK(simulation.mismatches > 0);
  // Word 5 is 26; without its bit 4 it is 10.
  CHECK(simulation.first_mismatches.front().find("expected 26, got 10") != std::string::npos);
  CHECK(simulate(folder.path(), design, vectors, quick()).passed());
  broken.fault = emit::Fault{"table.mem", 16, 0};
  CHECK(test::message_of(mase::Fault::config, [&] {
          simulate(folder.path(), design, vectors, broken);
        }) == "memory table.mem has 16 words of 5 bits; there is no bit 0 of word 16");
  broken.fault = emit::Fault{"tabel.mem", 0, 0};
  CHECK(test::message_of(mase::Fault::config, [&] {
          simulate(folder.path(), design, vectors, broken);
        }) == "no memory 'tabel.mem' to break; the design has: table.mem");
}

TEST_CASE("waves and coverage come from builds of their own") {
  const design::Design design = test::one_skid();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  SimulateOptions options = quick();
  options.trace = options.coverage = true;
  options.stall_out = 0.5;
  const Simulation simulation =
      simulate(folder.path(), design, test::same_vectors(design, 20, 1), options);
  CHECK(simulation.passed());
  CHECK(std::filesystem::file_size(simulation.trace_file) > 100);
  const Tree& toggle = simulation.coverage.at("modules").at("mase_skid").at("toggle");
  CHECK(toggle.at("points").as_int() >= 3 * 8);
  CHECK(toggle.at("hit").as_int() > toggle.at("points").as_int() / 2);
  CHECK(simulation.coverage.at("line").at("hit").as_int() > 0);
}

TEST_CASE("a source that Verilator refuses gives its own message and leaves no build") {
  const design::Design design = test::one_skid();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  write_file(folder.file("rtl/mase_skid.sv"), "module mase_skid (input logic clk;\nendmodule\n");
  const test::OwnCache cache;
  const std::string message = test::message_of(mase::Fault::file, [&] {
    simulate(folder.path(), design, test::same_vectors(design, 1, 1), quick());
  });
  CHECK(message.starts_with("building the bench with Verilator failed"));
  CHECK(message.find("mase_skid.sv:1") != std::string::npos);
  CHECK(std::filesystem::is_empty(cache.builds()));
}

TEST_CASE("a bench that lies in the folder is not run, whoever built it") {
  const design::Design design = test::one_skid();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  BuildOptions options;
  options.optimise = quick().optimise;
  const std::filesystem::path kept = build_bench(folder.path(), options).kept.folder;
  // Where builds lay in the folder once, and under the name that the entry has in the cache.
  const std::string name = kept.filename().string(), hash = name.substr(name.find('-') + 1);
  for (const std::string& place :
       std::vector<std::string>{"sim/obj", "sim/" + name, "sim/obj_" + hash}) {
    write_file(folder.file(place + "/bench"), "#!/bin/sh\ntouch " + folder.file("ran") + "\n");
    std::filesystem::permissions(folder.file(place + "/bench"), std::filesystem::perms::all);
  }
  const Simulation found =
      simulate(folder.path(), design, test::same_vectors(design, 1, 1), quick());
  CHECK_FALSE(found.built);
  CHECK(found.passed());
  CHECK_FALSE(file_exists(folder.file("ran")));
}

TEST_CASE("stall probabilities and missing images are refused") {
  const design::Design design = test::one_table();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  SimulateOptions options = quick();
  options.stall_in = 1;
  CHECK(test::message_of(mase::Fault::config, [&] {
          simulate(folder.path(), design, table_vectors(design), options);
        }) == "a stall probability is from 0 to below 1, not 1.0");
  std::filesystem::remove(folder.file("rtl/table.mem"));
  CHECK(test::message_of(mase::Fault::file, [&] {
          simulate(folder.path(), design, table_vectors(design), quick());
        }).find("there is no memory image") == 0);
}
