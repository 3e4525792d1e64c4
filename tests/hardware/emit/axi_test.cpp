// SPDX-License-Identifier: Apache-2.0
// The AXI wrapper and the host's driver in simulation: the emitted bench runs one against the
// other.
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/beats.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

/// A design of skids, whose frames come out as they went in, written with vectors.
void write_design(const std::string& folder, const std::string& tdata) {
  const design::Design design = test::two_lines();
  EmitOptions options;
  options.tdata = tdata;
  write_files(folder, all_files(design, options));
  const Vectors vectors = test::same_vectors(design, 5, 3);
  Files files;
  const char* names[] = {"a", "c", "b", "d"};  // inputs, outputs
  for (std::size_t i = 0; i < 4; ++i)
    files[std::string("sim/vectors/") + names[i] + ".hex"] =
        hex_beats(design.stream(design.inputs[i % 2]), vectors.inputs[i % 2]);
  write_files(folder, files);
}

ProcessResult simulate_axi(const std::string& folder) {
  return run_process({"make", "sim-axi"}, {folder, 3600, {}});
}

void change(const std::string& path, const std::string& from, const std::string& to) {
  const std::string text = read_file(path);
  REQUIRE(text.find(from) != std::string::npos);
  write_file(path, replace_all(text, from, to));
}

}  // namespace

TEST_CASE("elements lie in TDATA as the option says") {
  const design::Stream stream = test::stream("x", 3, 13, true, 6);
  const auto layout = [&](const std::string& tdata) {
    EmitOptions options;
    options.tdata = tdata;
    const AxiLayout found = axi_layout(stream, options);
    return std::pair(found.lane_bits, found.bytes);
  };
  CHECK(layout("packed") == std::pair<std::int64_t, std::int64_t>(13, 5));
  CHECK(layout("bytes") == std::pair<std::int64_t, std::int64_t>(16, 6));
  CHECK(layout("power_of_two") == std::pair<std::int64_t, std::int64_t>(16, 8));
}

TEST_CASE("the driver passes frames through the AXI wrapper, and sees wrong transfers") {
  for (const char* tdata : {"packed", "power_of_two"}) {
    INFO(tdata);
    const test::TemporaryFolder parent;
    const std::string folder = parent.file(test::kUnusualName);
    write_design(folder, tdata);
    // Five frames one by one, five in one transfer, and one after each of four wrong transfers.
    const ProcessResult result = simulate_axi(folder);
    INFO(result.err);
    CHECK(result.status == 0);
    CHECK(result.out.find("axi: 14 frames, 14 as expected, 0 checks failed") != std::string::npos);
  }
}

TEST_CASE("the bench of the AXI wrapper can fail") {
  const test::TemporaryFolder folder;
  write_design(folder.path(), "bytes");
  const std::string input = folder.file("rtl/mase_axi_stream_input.sv");
  const std::string output = folder.file("rtl/mase_axi_stream_output.sv");
  const auto fails = [&](const std::string& path, const std::string& from, const std::string& to) {
    INFO(from);
    const std::string kept = read_file(path);
    change(path, from, to);
    const ProcessResult result = simulate_axi(folder.path());
    CHECK(result.status != 0);
    CHECK((result.out + result.err).find("\naxi: ") != std::string::npos);
    write_file(path, kept);
  };
  fails(input, "filling <= !last && (filling || s_axis_tlast)", "filling <= 1'b0");
  fails(input, "USED && !s_axis_tkeep[b]", "USED && s_axis_tkeep[b] && !s_axis_tkeep[b]");
  fails(output, "{(LANE - DW) {sign}}", "{(LANE - DW) {1'b0 & sign}}");
  fails(output, "last && number == frames", "last && frames != number + frames");
  fails(folder.file("rtl/mase_axi_control.sv"), "status & ~cleared", "status | 32'd0 & cleared");
}
