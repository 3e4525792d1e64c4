// SPDX-License-Identifier: Apache-2.0
// Reloadable designs: their images, the memories that take them, and whole networks whose weights
// the host's driver replaces in simulation.
#include <catch2/catch.hpp>
#include <map>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "designs.hpp"
#include "hardware/design/folding/choose_folding.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/package/scripts.hpp"
#include "hardware/emit/reload_image.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/simulate_reload.hpp"
#include "hardware/emit/synthesise.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/names.hpp"
#include "hardware/emit/vectors.hpp"
#include "ir/text.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;
using design::Design;

namespace {

/// Two linear layers with a relu and a factor by channel between them.
constexpr const char* mlp = R"(graph "mlp" {
  module first : torch.nn.modules.linear.Linear = aten::linear() [weight=@first.weight, bias=@first.bias]
  module last : torch.nn.modules.linear.Linear = aten::linear() [weight=@last.weight, bias=@last.bias]
  tensor first.weight : float32[7, 5] parameter grad
  tensor first.bias : float32[7] parameter grad
  tensor factor : float32[7] parameter grad
  tensor last.weight : float32[3, 7] parameter grad
  tensor last.bias : float32[3] parameter grad
  %x : float32[2, 5] = placeholder x
  %first : float32[2, 7] = call_module first aten::linear(input=%x) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 4)}
  %relu : float32[2, 7] = call_function torch.relu aten::relu(self=%first)
  %factor : float32[7] = get_attr factor {data_out=integer(5, 3)}
  %mul : float32[2, 7] = call_function torch.mul aten::mul.Tensor(self=%relu, other=%factor) {data_in=integer(8, 4)}
  %last : float32[2, 3] = call_module last aten::linear(input=%mul) {bias=integer(8, 6), data_in=integer(7, 3), weight=integer(6, 4)}
  %output : float32[2, 3] = output output(value=%last)
}
)";

/// A convolution, a depthwise one and a linear layer.
constexpr const char* cnn = R"(graph "cnn" {
  module conv : torch.nn.modules.conv.Conv2d = aten::conv2d(padding=[1, 1]) [weight=@conv.weight, bias=@conv.bias]
  module depth : torch.nn.modules.conv.Conv2d = aten::conv2d(groups=8) [weight=@depth.weight, bias=@depth.bias]
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor conv.weight : float32[8, 4, 3, 3] parameter grad
  tensor conv.bias : float32[8] parameter grad
  tensor depth.weight : float32[8, 1, 3, 3] parameter grad
  tensor depth.bias : float32[8] parameter grad
  tensor fc.weight : float32[5, 128] parameter grad
  %x : float32[2, 4, 6, 6] = placeholder x
  %conv : float32[2, 8, 6, 6] = call_module conv aten::conv2d(input=%x) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 4)}
  %relu : float32[2, 8, 6, 6] = call_function torch.relu aten::relu(self=%conv)
  %depth : float32[2, 8, 4, 4] = call_module depth aten::conv2d(input=%relu) {bias=integer(8, 5), data_in=integer(8, 3), weight=integer(6, 4)}
  %flatten : float32[2, 128] = call_function torch.flatten aten::flatten.using_ints(self=%depth, start_dim=1)
  %fc : float32[2, 5] = call_module fc aten::linear(input=%flatten) {data_in=integer(8, 3), weight=integer(6, 4)}
  %output : float32[2, 5] = output output(value=%fc)
}
)";

/// Two heads of attention.
constexpr const char* attention = R"(graph "attention" {
  module q : torch.nn.modules.linear.Linear = aten::linear() [weight=@q.weight, bias=@q.bias]
  module k : torch.nn.modules.linear.Linear = aten::linear() [weight=@k.weight, bias=@k.bias]
  module v : torch.nn.modules.linear.Linear = aten::linear() [weight=@v.weight, bias=@v.bias]
  module o : torch.nn.modules.linear.Linear = aten::linear() [weight=@o.weight, bias=@o.bias]
  tensor q.weight : float32[8, 8] parameter grad
  tensor q.bias : float32[8] parameter grad
  tensor k.weight : float32[8, 8] parameter grad
  tensor k.bias : float32[8] parameter grad
  tensor v.weight : float32[8, 8] parameter grad
  tensor v.bias : float32[8] parameter grad
  tensor o.weight : float32[8, 8] parameter grad
  tensor o.bias : float32[8] parameter grad
  %x : float32[2, 5, 8] = placeholder x
  %q : float32[2, 5, 8] = call_module q aten::linear(input=%x) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 4)}
  %q_split : float32[2, 5, 2, 4] = call_method view aten::view(self=%q, size=[2, 5, 2, 4])
  %q_heads : float32[2, 2, 5, 4] = call_method transpose aten::transpose.int(self=%q_split, dim0=1, dim1=2)
  %k : float32[2, 5, 8] = call_module k aten::linear(input=%x) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 4)}
  %k_split : float32[2, 5, 2, 4] = call_method view aten::view(self=%k, size=[2, 5, 2, 4])
  %k_heads : float32[2, 2, 5, 4] = call_method transpose aten::transpose.int(self=%k_split, dim0=1, dim1=2)
  %v : float32[2, 5, 8] = call_module v aten::linear(input=%x) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 4)}
  %v_split : float32[2, 5, 2, 4] = call_method view aten::view(self=%v, size=[2, 5, 2, 4])
  %v_heads : float32[2, 2, 5, 4] = call_method transpose aten::transpose.int(self=%v_split, dim0=1, dim1=2)
  %keys : float32[2, 2, 4, 5] = call_method transpose aten::transpose.int(self=%k_heads, dim0=2, dim1=3)
  %scores : float32[2, 2, 5, 5] = call_function torch.matmul aten::matmul(self=%q_heads, other=%keys) {data_in=integer(8, 3), weight=integer(8, 3)}
  %shares : float32[2, 2, 5, 5] = call_function torch.softmax aten::softmax.int(self=%scores, dim=-1) {data_in=integer(8, 2)}
  %context : float32[2, 2, 5, 4] = call_function torch.matmul aten::matmul(self=%shares, other=%v_heads) {data_in=integer(8, 7, is_signed=false), weight=integer(8, 3)}
  %rows : float32[2, 5, 2, 4] = call_method transpose aten::transpose.int(self=%context, dim0=1, dim1=2)
  %joined : float32[2, 5, 8] = call_method reshape aten::reshape(self=%rows, shape=[2, 5, 8])
  %o : float32[2, 5, 8] = call_module o aten::linear(input=%joined) {bias=integer(8, 5), data_in=integer(8, 3), weight=integer(6, 4)}
  %output : float32[2, 5, 8] = output output(value=%o)
}
)";

integer::Program program_of(const char* text, std::uint64_t seed,
                            integer::Contents contents = integer::Contents::reloadable) {
  ir::Graph graph = ir::parse(text, "test");
  Random random(seed);
  for (auto& [path, tensor] : graph.tensors)
    for (float& value : tensor.value.mutable_span<float>())
      value = static_cast<float>(random.uniform(-0.9, 0.9));
  return integer::lower(graph, contents);
}

Design design_of(const char* text, std::uint64_t seed, std::int64_t interval,
                 integer::Contents contents = integer::Contents::reloadable) {
  design::Target target;
  target.initiation_interval = interval;
  return design::build_for(
      std::make_shared<const integer::Program>(program_of(text, seed, contents)), target);
}

std::vector<std::uint32_t> words_of(const std::string& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    words[i / 4] |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << 8 * (i % 4);
  return words;
}

/// What lies at every place after an image was written.
std::map<std::int64_t, std::uint32_t> places_of(const std::vector<std::uint32_t>& image) {
  std::map<std::int64_t, std::uint32_t> places;
  for (std::size_t i = 5; i < image.size(); i += 2 + image[i + 1])
    for (std::uint32_t k = 0; k < image[i + 1]; ++k) {
      CHECK(!places.contains(image[i] + k));
      places[image[i] + k] = image[i + 2 + k];
    }
  return places;
}

/// A word of a memory in hexadecimal, its pieces put together again.
std::string word_at(const std::map<std::int64_t, std::uint32_t>& places, std::int64_t place,
                    const design::Memory& memory) {
  std::string text;
  for (std::int64_t piece = design::reload_pieces(memory); piece-- > 0;) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", places.at(place + piece));
    text += digits;
  }
  return text.substr(text.size() - memory.words.front().size());
}

}  // namespace

TEST_CASE("an image has every word of the memories that a host may write, and no other") {
  const Design design = design_of(cnn, 1, 200);
  const auto places = places_of(words_of(reload_image(design)));
  std::size_t pieces = 0;
  for (const design::Memory& memory : design.memories) {
    INFO(memory.file);
    REQUIRE(memory.base);
    // A region begins at a multiple of the power of two that it takes up.
    const std::int64_t pitch = design::reload_pitch(memory);
    std::int64_t span = pitch;
    while (span < pitch * static_cast<std::int64_t>(memory.words.size())) span *= 2;
    CHECK(*memory.base % span == 0);
    for (std::size_t i = 0; i < memory.words.size(); ++i)
      CHECK(word_at(places, *memory.base + static_cast<std::int64_t>(i) * pitch, memory) ==
            memory.words[i]);
    pieces += memory.words.size() * static_cast<std::size_t>(design::reload_pieces(memory));
  }
  CHECK(places.size() == pieces);
}

TEST_CASE("the number of a reloadable design is that of its hardware") {
  const auto number = [](const Design& design) { return design_number(design, names_of(design)); };
  CHECK(number(design_of(mlp, 1, 1)) == number(design_of(mlp, 2, 1)));
  CHECK(number(design_of(mlp, 1, 1)) != number(design_of(mlp, 1, 35)));
  const auto fixed = integer::Contents::fixed;
  CHECK(number(design_of(mlp, 1, 35, fixed)) != number(design_of(mlp, 2, 35, fixed)));
}

TEST_CASE("designs whose weights stay have nothing of reloading") {
  const Design design = design_of(mlp, 1, 35, integer::Contents::fixed);
  for (const auto& [name, text] : all_files(design, {}))
    if (name.ends_with(".sv")) {
      INFO(name);
      CHECK(text.find("reload") == std::string::npos);
      CHECK(text.find("RELOAD") == std::string::npos);
    }
  for (const auto& [name, text] : all_files(design_of(mlp, 1, 35), {}))
    if (name.ends_with(".sv")) CHECK(text.find("MASE_RELOAD") == std::string::npos);
}

TEST_CASE("a network takes the weights of another checkpoint over AXI4-Lite, and its own again") {
  const auto [text, interval] = GENERATE(std::pair(mlp, 1), std::pair(mlp, 35), std::pair(cnn, 144),
                                         std::pair(attention, 100));
  INFO(text << interval);
  const test::TemporaryFolder folder;
  const Design own = design_of(text, 1, interval), other = design_of(text, 2, interval);
  write_files(folder.path(), all_files(own, {}));
  CHECK(run_process({"make", "lint"}, {folder.path(), 3600, {}}).status == 0);
  for (const double stall : {0.0, 0.4}) {
    const ReloadSimulation found =
        simulate_reload(folder.path(), other, example_vectors(*other.program), stall, 1);
    INFO(found.text);
    CHECK(found.passed);
  }
  // Without loading the weights the frames of the other checkpoint differ.
  SimulateOptions quick;
  quick.optimise = 0;
  CHECK(!simulate(folder.path(), own, example_vectors(*other.program), quick).passed());
  const Simulation plain = simulate(folder.path(), own, example_vectors(*own.program), quick);
  CHECK(plain.passed());
  CHECK(plain.interval == own.timing.interval);
}

TEST_CASE("simulators take words of any width") {
  constexpr const char* wide = R"(graph "wide" {
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor fc.weight : float32[32, 32] parameter grad
  %x : float32[2, 32] = placeholder x
  %fc : float32[2, 32] = call_module fc aten::linear(input=%x) {data_in=integer(8, 4), weight=integer(6, 4)}
  %output : float32[2, 32] = output output(value=%fc)
}
)";
  // Verilator does not unroll loops over more than 64 pieces of 32 bits.
  for (const std::int64_t interval : {1, 2}) {
    const Design design = design_of(wide, 1, interval);
    CHECK(design.memories.front().word_bits > 64 * 32);
    const test::TemporaryFolder folder;
    write_files(folder.path(), all_files(design, {}));
    CHECK(run_process({"make", "lint"}, {folder.path(), 3600, {}}).status == 0);
  }
}

TEST_CASE("the bench of reloading can fail") {
  const test::TemporaryFolder folder;
  const Design own = design_of(cnn, 1, 144), other = design_of(cnn, 2, 144);
  write_files(folder.path(), all_files(own, {}));
  const auto fails = [&](const std::string& file, const std::string& from, const std::string& to) {
    INFO(from);
    const std::string path = folder.file("rtl/" + file), kept = read_file(path);
    REQUIRE(kept.find(from) != std::string::npos);
    write_file(path, replace_all(kept, from, to));
    CHECK(!simulate_reload(folder.path(), other, example_vectors(*other.program), 0, 1).passed);
    write_file(path, kept);
  };
  fails("mase_axi_control.sv", "place <= place + 1'b1", "place <= place + 24'd2");
  fails("mase_axi_control.sv", "sent  <= offered && held && !rst", "sent  <= offered && !rst");
  fails("mase_reload_memory.sv", "24'(BASE) >> USED", "24'(BASE + (1 << USED)) >> USED");
}

TEST_CASE("weights of another design are refused with the place of the difference") {
  const test::TemporaryFolder folder;
  const Design own = design_of(mlp, 1, 35);
  write_files(folder.path(), all_files(own, {}));
  CHECK_NOTHROW(check_same_hardware(folder.path(), design_of(mlp, 2, 35), {}));
  const auto message = [&](const Design& design) {
    return test::message_of(mase::Fault::file,
                            [&] { check_same_hardware(folder.path(), design, {}); });
  };
  const std::string wider =
      replace_all(mlp, "weight=integer(6, 4)}\n  %relu", "weight=integer(7, 4)}\n  %relu");
  CHECK_THAT(message(design_of(wider.c_str(), 1, 35)),
             // mase_products declares a signal of the layer's name.
             Catch::Contains("parameter WW of instance 'first_1' is 6 in the hardware, 7 here"));
  CHECK_THAT(message(design_of(mlp, 1, 1)), Catch::Contains("instance"));
}

TEST_CASE("Yosys counts what the cost model says of memories that a host may write") {
  for (const std::int64_t interval : {1, 35}) {
    const test::TemporaryFolder folder;
    const Design design = design_of(mlp, 1, interval);
    write_files(folder.path(), all_files(design, {}));
    const design::Cost counted = synthesise(folder.path(), design, "xc7", false).total,
                       predicted = design::cost(design);
    INFO(counted.lut << " LUT, " << counted.ff << " FF counted");
    CHECK(predicted.bram == counted.bram);
    CHECK(predicted.dsp == counted.dsp);
    CHECK(predicted.lut == Approx(counted.lut).epsilon(0.1));
    CHECK(predicted.ff == Approx(counted.ff).epsilon(0.1));
  }
}
