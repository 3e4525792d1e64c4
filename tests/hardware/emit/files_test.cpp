// SPDX-License-Identifier: Apache-2.0
// The emitted folder: its files, names, determinism, lint, scripts, and packing of beats.
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "designs.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/beats.hpp"
#include "hardware/emit/text/names.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

/// x -> fork -> (left, right), with names that SystemVerilog reserves or that clash.
design::Design awkward() {
  design::Design design;
  design.name = "mase_skid";
  design.streams = {test::stream("input", 1, 8, true, 4), test::stream("clk", 1, 8, true, 4),
                    test::stream("0 way", 1, 8, true, 4)};
  const design::ForkModule fork{.width = 8, .outputs = 2};
  design.instances = {{"fork", "", fork, {0}, {1, 2}}};
  design.inputs = {0};
  design.outputs = {1, 2};
  return design;
}

void run_in(const std::string& folder, const std::vector<std::string>& command) {
  run_checked(command, {folder, 3600, {}}, join(command, " "));
}

}  // namespace

TEST_CASE("two emits give the same bytes, and everything that a folder needs") {
  const Files first = all_files(test::one_table(), {}), second = all_files(test::one_table(), {});
  CHECK(first == second);
  for (const char* name :
       {"rtl/one_table.sv", "rtl/one_table_axi.sv", "rtl/mase_lookup.sv", "rtl/mase_skid.sv",
        "rtl/table.mem", "sim/bench.cpp", "sim/bench.sv", "sim/bench_top.sv", "sim/streams.txt",
        "filelist.f", "Makefile", "component.xml", "design.json", "vivado/build.tcl",
        "vivado/one_table.xdc"})
    CHECK(first.contains(name));
  CHECK(first.at("rtl/table.mem").starts_with("1f\n1e\n1d\n"));
  const Tree design = parse_json(first.at("design.json"), "design.json");
  CHECK(design.at("memories").as_list().front().at("words").as_int() == 16);
  for (const auto& [name, hash] : design.at("files").as_dict())
    CHECK(hash.as_string() == sha256(first.at(name)));
  CHECK(design.at("files").size() == first.size() - 1);
}

TEST_CASE("the data sheet has every port of the top, and each stream, register and instance") {
  const Files files = all_files(test::two_lines(), {});
  const std::string& sheet = files.at("README.md");
  std::size_t ports = 0;
  for (const std::string& line : split(files.at("rtl/two_lines.sv"), '\n')) {
    if (!line.starts_with("    input ") && !line.starts_with("    output ")) continue;
    const std::string name = replace_all(line.substr(line.rfind(' ') + 1), ",", "");
    CHECK(sheet.find("| `" + name + "` |") != std::string::npos);
    ++ports;
  }
  CHECK(ports == 2 + 4 * 3);
  for (const char* row :
       {"| `a` | in |", "| `d` | out |", "| `s_axis_a` | in |", "| 0x14 | TRANSFER |",
        "| `second` |", "| resources predicted for 7-series |"})
    CHECK(sheet.find(row) != std::string::npos);
  CHECK(sheet.find("RELOAD") == std::string::npos);
}

TEST_CASE("options reach the scripts") {
  EmitOptions options;
  options.clock_mhz = 250;
  options.part = "xcku3p-ffva676-1-e";
  const Files files = top_files(test::one_skid(), options, {});
  CHECK(files.at("vivado/one_skid.xdc").find("-period 4.000") != std::string::npos);
  CHECK(files.at("vivado/build.tcl").find("set part xcku3p-ffva676-1-e\n") != std::string::npos);
}

TEST_CASE("names that SystemVerilog reserves or that clash are changed, all others kept") {
  const Names names = names_of(awkward());
  CHECK(names.top == "mase_skid_top");
  CHECK(names.streams == std::vector<std::string>{"input_", "clk", "_0_way"});
  CHECK(names.instances == std::vector<std::string>{"fork_"});
  const Names kept = names_of(test::two_lines());
  CHECK(kept.top == "two_lines");
  CHECK(kept.streams == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(kept.instances == std::vector<std::string>{"first", "second"});
}

TEST_CASE("emitted folders are clean in Verilator's lint and read by Yosys, without mase") {
  for (const design::Design& design : {awkward(), test::two_lines(), test::one_table()}) {
    INFO(design.name);
    const test::TemporaryFolder folder;
    write_files(folder.path(), all_files(design, {}));
    run_in(folder.path(), {"make", "lint"});
    const std::string top = names_of(design).top;
    run_in(folder.path() + "/sim", {"verilator", "--lint-only", "-Wall", "-y", "../rtl",
                                    "--top-module", "bench_top", "bench_top.sv"});
    const std::string sources = replace_all(read_file(folder.file("filelist_axi.f")), "\n", " ");
    run_in(folder.path(), {"yosys", "-q", "-p",
                           "read_verilog -sv -defer " + sources + "; hierarchy -check -top " + top +
                               "_axi; proc; check -assert"});
  }
}

TEST_CASE(
    "Icarus reads emitted folders and runs the bench in SystemVerilog, which finds a wrong beat") {
  for (const design::Design& design : {awkward(), test::two_lines(), test::one_table()}) {
    INFO(design.name);
    const test::TemporaryFolder folder;
    write_files(folder.path(), all_files(design, {}));
    run_in(folder.path(), {"make", "sim/obj_icarus/bench.vvp"});
    const std::string sources = replace_all(read_file(folder.file("filelist_axi.f")), "\n", " ");
    run_in(folder.path(),
           {"sh", "-c", "iverilog -g2012 -t null -s " + names_of(design).top + "_axi " + sources});
  }
  const test::TemporaryFolder folder;
  const design::Design table = test::one_table();  // of 31 - x
  Files files = all_files(table, {});
  files["sim/vectors/x.hex"] = hex_beats(table.stream(0), {0, 1, 2, 3, 15, 14, 13, 12});
  std::string& expected = files["sim/vectors/y.hex"];
  expected = hex_beats(table.stream(1), {31, 30, 29, 28, 16, 17, 18, 19});
  write_files(folder.path(), files);
  for (const char* plusargs : {"PLUSARGS=", "PLUSARGS=+stall=60 +seed=3", "PLUSARGS=+frames=1"})
    run_in(folder.path(), {"make", "sim-icarus", plusargs});
  expected.front() = expected.front() == '0' ? '1' : '0';
  write_files(folder.path(), files);
  CHECK_THROWS_AS(run_in(folder.path(), {"make", "sim-icarus"}), mase::Error);
}

TEST_CASE("nothing is written when one file cannot be") {
  const test::TemporaryFolder folder;
  write_file(folder.file("hardware/rtl"), "a file where a folder is needed");
  CHECK(test::message_of(mase::Fault::file, [&] {
          write_files(folder.file("hardware"), {{"a.txt", "a"}, {"rtl/b.sv", "b"}});
        }).find("rtl") != std::string::npos);
  CHECK_FALSE(file_exists(folder.file("hardware/a.txt")));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("hardware")), {}) == 1);
}

TEST_CASE("beats pack lanes from the low bits on, in words of 32 bits") {
  // Lanes -1, 2, 3 of 20 bits: 60 bits, 0x00003 00002 fffff.
  const design::Stream stream = test::stream("x", 3, 20, true, 3);
  const integer::Codes codes = {-1, 2, 3};
  const std::string bytes = pack_beats(stream, codes);
  CHECK(bytes == std::string("\xff\xff\x2f\x00\x00\x03\x00\x00", 8));
  CHECK(unpack_beats(stream, bytes) == codes);
  CHECK(hex_beats(stream, codes) == "0000300002fffff\n");
}

TEST_CASE("beats of every width come back") {
  for (const int width : {1, 7, 31, 32, 33, 62})
    for (const std::int64_t lanes : {1, 3, 5}) {
      const design::Stream stream = test::stream("x", lanes, width, width % 2 == 0, 2 * lanes);
      const integer::Codes codes = [&] {
        integer::Codes out;
        for (std::int64_t i = 0; i < 2 * lanes; ++i)
          out.push_back(static_cast<std::int64_t>(i % 2 ? stream.type.high() : stream.type.low()));
        return out;
      }();
      INFO("width " << width << ", lanes " << lanes);
      CHECK(unpack_beats(stream, pack_beats(stream, codes)) == codes);
    }
}
