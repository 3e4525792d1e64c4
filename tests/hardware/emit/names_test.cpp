// SPDX-License-Identifier: Apache-2.0
// Identifiers of the emitted text for layers with every kind of name.
#include "hardware/emit/text/names.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "base/process.hpp"
#include "base/text.hpp"
#include "designs.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/names.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

/// A line of FIFOs of these names between streams of these names.
design::Design line_of(const std::vector<std::string>& names) {
  design::Design design;
  design.name = names.front();
  design.streams = {test::stream("x", 1, 8, true, 4)};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto from = static_cast<design::StreamId>(i);
    design.streams.push_back(test::stream(names[i], 1, 8, true, 4));
    const design::FifoModule fifo{.width = 8, .depth = 4};
    design.instances.push_back({names[i], "", fifo, {from}, {from + 1}});
  }
  design.inputs = {0};
  design.outputs = {static_cast<design::StreamId>(names.size())};
  return design;
}

/// One letter, what a FIFO, a skid and the bench declare, words of SystemVerilog, of C++ and of
/// Verilator, and what is no identifier.
std::vector<std::string> unusual_names() {
  return {"i",        "j",         "k",         "l",         "p",        "g",         "o",
          "K",        "P",         "L",         "W",         "DEPTH",    "count",     "ram",
          "mem",      "clk",       "rst",       "in",        "out",      "in_data",   "in_ready",
          "x",        "out_valid", "out_data",  "aclk",      "dut",      "bench_top", "core",
          "control",  "inner",     "mase_skid", "mase_fifo", "input",    "module",    "wire",
          "class",    "int",       "new",       "delete",    "operator", "private",   "template",
          "this",     "main",      "NULL",      "errno",     "EOF",      "std",       "a__DOT__b",
          "__PVT__x", "Vdut",      "vlSelf",    "VL_IN8",    "TOP",      "root",      "0",
          "",         "a b",       "a\"b",      "a$b",       "a\nb",     "a\\b",      "\xc3\xa9",
          "`define"};
}

}  // namespace

TEST_CASE("simulators and synthesis take layers of every name") {
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(line_of(unusual_names()), {}));
  run_checked({"make", "lint"}, {folder.path(), 300, {}}, "make lint");
  run_checked(
      {"yosys", "-q", "-p",
       "read_verilog -sv rtl/mase_skid.sv rtl/mase_fifo.sv rtl/i.sv; hierarchy -check -top i"},
      {folder.path(), 300, {}}, "reading by Yosys");
}

TEST_CASE("an instance does not bear a name that a module below declares, a stream may") {
  const Names names = names_of(line_of({"first", "count", "out_data", "count_1"}));
  CHECK(names.instances == std::vector<std::string>{"first", "count_1", "out_data_1", "count_1_1"});
  CHECK(names.streams == std::vector<std::string>{"x", "first", "count", "out_data", "count_1"});
}

TEST_CASE("names that differ in case, or far behind, differ in more") {
  const std::string tail(1000, 'x');
  const Names names = names_of(line_of({"Fc", "fc", "FC", tail + "1", tail + "2", tail + "1"}));
  std::set<std::string> different;
  for (const auto* list : {&names.streams, &names.instances}) {
    different.clear();
    for (const std::string& name : *list) {
      different.insert(lower_case(name));
      CHECK(name.size() <= design::longest_identifier + 2);  // "_1"
    }
    CHECK(different.size() == list->size());
  }
  CHECK(names.instances[1] == "fc_1");
  CHECK(names.instances[3].starts_with(std::string(80, 'x')));
  CHECK(names.instances ==
        names_of(line_of({"Fc", "fc", "FC", tail + "1", tail + "2", tail + "1"})).instances);
}

TEST_CASE("the top's file is none of another module, also where case does not count") {
  for (const char* name : {"mase_fifo", "Mase_FIFO", "bench_top", "axi_bench_top"}) {
    design::Design design = line_of({"first"});
    design.name = name;
    CHECK(names_of(design).top == name + std::string("_top"));
  }
}
