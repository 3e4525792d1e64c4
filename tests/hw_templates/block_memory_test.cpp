// SPDX-License-Identifier: Apache-2.0
// Which words stand in block memory is decided twice: by the expressions of the modules, which
// Yosys elaborates here, and by the rules that their costs follow.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/embedding.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/gather.hpp"
#include "hardware/design/modules/insert.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/matmul.hpp"
#include "hardware/design/modules/piecewise.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"
#include "hardware/emit/text/verilog.hpp"
#include "support/temporary_folder.hpp"
#include "test_paths.hpp"

namespace mase::rtl_test {
namespace {

using Instances = std::vector<design::Instance>;

constexpr const char* image_name = "image.mem";

/// The instances that have block memory, by their place on the list.
std::set<std::size_t> elaborated_in_block(const Instances& instances) {
  emit::verilog::Module top{.comment = "", .name = "top", .ports = {}, .items = {}};
  for (const design::Instance& instance : instances) {
    emit::verilog::Instance item{
        instance.module.name(), "i" + std::to_string(top.items.size()), {}, {{"clk", ""}}};
    for (const auto& [name, value] : instance.module->parameters())
      item.parameters.emplace_back(name, emit::verilog::literal(value));
    top.items.emplace_back(item);
  }
  const test::TemporaryFolder folder;
  write_file(folder.file("top.sv"), emit::verilog::print(top));
  write_file(folder.file(image_name), "0\n");
  std::string script = "read_verilog -sv -defer top.sv";
  for (const design::ModuleRow& row : design::module_table())
    script += " " MASE_SOURCE_FOLDER "/hw_templates/" + row.folder + "/" + row.name + ".sv";
  script +=
      "; hierarchy -check -top top; flatten;"
      " tee -q -o blocks.txt select -list a:ram_style=block a:rom_style=block";
  run_checked({"yosys", "-q", "-p", script}, {folder.path(), 600, {}}, "elaboration by Yosys");
  std::set<std::size_t> found;
  for (const std::string& line : split(read_file(folder.file("blocks.txt")), '\n'))
    if (line.starts_with("top/i")) found.insert(std::stoul(line.substr(5)));
  return found;
}

/// What the costs say equals what the modules do, and is yes for some and no for others.
void check_blocks(const Instances& instances) {
  const std::set<std::size_t> in_block = elaborated_in_block(instances);
  CHECK_FALSE(in_block.empty());
  CHECK(in_block.size() < instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const design::Cost cost = instances[i].module->cost({});
    INFO(instances[i].name);
    CHECK((cost.bram > 0) == in_block.contains(i));
  }
}

/// A module for words of each width that is about as wide as the rule asks for, at each depth.
template <class Make>
void check_rule(const design::BlockRule& rule, const std::vector<std::int64_t>& depths, Make make) {
  Instances instances;
  for (const std::int64_t depth : depths)
    for (std::int64_t width = rule.least_bits / depth - 1; width < rule.least_bits / depth + 3;
         ++width)
      if (width > 0) {
        const std::string name = std::to_string(width) + " bits, " + std::to_string(depth);
        instances.push_back({name, "", make(width, depth), {}, {}});
      }
  check_blocks(instances);
}

}  // namespace

TEST_CASE("queues stand in block memory from where their cost says") {
  check_rule(design::queue_in_block, {63, 64, 65, 66, 128, 1024},
             [](std::int64_t width, std::int64_t depth) {
               return design::FifoModule{.width = width, .depth = depth};
             });
}

TEST_CASE("tables stand in block memory from where their cost says") {
  check_rule(design::lookup_in_block, {64, 256, 1024}, [](std::int64_t width, std::int64_t depth) {
    return design::LookupModule{.in_bits = design::log2_ceiling(depth),
                                .out_bits = static_cast<int>(width),
                                .file = image_name};
  });
  check_rule(design::lookup_in_block, {256, 512}, [](std::int64_t width, std::int64_t depth) {
    design::PiecewiseModule module{};
    module.in_bits = design::log2_ceiling(depth) + module.low_bits;
    module.base_bits = static_cast<int>(width) - module.slope_bits;
    module.file = image_name;
    return module;
  });
}

TEST_CASE("rows and constants stand in block memory from where their cost says") {
  check_rule(design::lookup_in_block, {128, 130, 1000}, [](std::int64_t width, std::int64_t depth) {
    return design::EmbeddingModule{
        .width = width, .rows = depth / 2, .beats = 2, .table_file = image_name};
  });
  check_rule(design::lookup_in_block, {1, 2, 100}, [](std::int64_t width, std::int64_t depth) {
    return design::InsertModule{.width = width, .depth = depth, .image_file = image_name};
  });
}

TEST_CASE("frames and places of a gather stand in block memory from where its cost says") {
  check_rule(design::window_in_block, {62, 64, 66, 128, 1024},
             [](std::int64_t width, std::int64_t depth) {
               return design::GatherModule{
                   .in = depth / 2, .bits = static_cast<int>(width), .file = image_name};
             });
  check_rule(design::lookup_in_block, {1024, 1366, 2048},
             [](std::int64_t width, std::int64_t depth) {
               return design::GatherModule{
                   .in = std::int64_t{1} << width, .out = depth, .bits = 1, .file = image_name};
             });
}

TEST_CASE("weights, biases and rows stand in block memory from where their cost says") {
  const auto linear = [](std::int64_t columns, std::int64_t passes, int in, int weight, int bias) {
    design::LinearModule module{};
    module.columns = columns;
    module.passes = passes;
    module.simd = module.pe = 1;
    module.in_bits = in;
    module.weight_bits = weight;
    module.has_bias = bias > 0;
    module.bias_bits = std::max(1, bias);
    module.weight_file = module.bias_file = image_name;
    return module;
  };
  check_rule(design::weights_in_block, {6, 7, 8, 9, 64},
             [&](std::int64_t width, std::int64_t depth) {
               return linear(depth, 1, 1, static_cast<int>(width), 0);
             });
  check_rule(design::weights_in_block, {6, 7, 8, 9, 64},
             [&](std::int64_t width, std::int64_t depth) {
               return linear(1, depth, 1, 1, static_cast<int>(width));
             });
  check_rule(design::replay_in_block, {63, 64, 65, 66, 128},
             [&](std::int64_t width, std::int64_t depth) {
               return linear(depth, 2, static_cast<int>(width), 1, 0);
             });
}

TEST_CASE("matrices of a stream stand in block memory from where their cost says") {
  check_rule(design::window_in_block, {62, 64, 66, 128},
             [](std::int64_t width, std::int64_t depth) {
               design::MatmulModule module{};
               module.columns = depth / 2;
               module.passes = module.simd = module.pe = 1;
               module.weight_bits = static_cast<int>(width);
               return module;
             });
}

TEST_CASE("windows stand in block memory from where their cost says") {
  // A row of windows at once: the line before it, or what lies between two taps.
  check_rule(design::window_in_block, {63, 64, 65, 66, 128},
             [](std::int64_t width, std::int64_t depth) {
               design::WindowParallelModule module{};
               module.width = depth;
               module.out_x = depth - 1;
               module.bits = static_cast<int>(width);
               module.pad = {0, module.bits, false};
               return module;
             });
  check_rule(design::window_in_block, {63, 64, 65, 66, 128},
             [](std::int64_t width, std::int64_t depth) {
               design::WindowParallelModule module{};
               module.kernel_y = 1;
               module.out_y = module.height;
               module.dilation_x = depth + 1;
               module.width = depth + 4;
               module.out_x = 3;
               module.bits = static_cast<int>(width);
               module.pad = {0, module.bits, false};
               return module;
             });
  // A ring: the rows of a window and one more, rounded to a power of two where that is near.
  Instances rings;
  for (const std::int64_t pixels : {20, 21, 22, 32, 43, 44})
    for (const int bits : {15, 16, 17, 30, 31, 32, 33, 34}) {
      design::WindowModule module{};
      module.width = pixels;
      module.out_x = pixels - 1;
      module.bits = bits;
      module.pad = {0, bits, false};
      const std::string name = std::to_string(bits) + " bits, rows of " + std::to_string(pixels);
      rings.push_back({name, "", module, {}, {}});
    }
  check_blocks(rings);
}

}  // namespace mase::rtl_test
