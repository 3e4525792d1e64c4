// SPDX-License-Identifier: Apache-2.0
// Random networks of all ops and mixed formats against the reference.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using ir::NodeId;
using ir::Value;

namespace {

using Index = std::int64_t;

/// Which formats a network has beside fixed point.
enum class Choice {
  fixed,       ///< none
  by_channel,  ///< most weights have fraction bits of their own for every output channel
  elements     ///< half of the formats are of elements
};

class Network {
 public:
  explicit Network(std::uint64_t seed, Choice choice)
      : choice_(choice), random_(seed), sketch_(seed) {}

  ir::Graph make() {
    const Index channels = 1 + pick(6);
    now_ = sketch_.input({2, channels, 4 + pick(5), 4 + pick(5)}, {{"data_out", format()}});
    const int length = 2 + static_cast<int>(pick(5));
    for (int i = 0; i < length; ++i) grow();
    if (pick(2) == 0) finish_dense();
    return sketch_.finish(now_);
  }

 private:
  Index pick(Index bound) {
    return static_cast<Index>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  const Shape& shape() const { return sketch_.shape(now_); }

  std::string element_format() {
    static const std::vector<std::string> all{"fp8_e4m3()", "fp8_e5m2()",
                                              "fp6_e3m2()", "fp6_e2m3()",
                                              "fp4_e2m1()", "minifloat_ieee(5, 2)",
                                              "log(4)",     "log(5)",
                                              "binary()",   "ternary(threshold=0.375)"};
    return all[static_cast<std::size_t>(pick(static_cast<Index>(all.size())))];
  }
  std::string format() {
    if (choice_ == Choice::elements && pick(2) == 0) return element_format();
    const Index width = pick(8) == 0 ? 1 + pick(32) : 3 + pick(8);
    const Index frac = pick(width + 4) - 2;
    const bool floor = pick(3) == 0, away = !floor && pick(3) == 0;
    return (floor ? "integer_floor(" : "integer(") + std::to_string(width) + ", " +
           std::to_string(frac) + (pick(5) == 0 ? ", is_signed=false" : "") +
           (away ? ", rounding=nearest_away)" : ")");
  }
  Formats maybe(const std::string& port) {
    return pick(2) == 0 ? Formats{} : Formats{{port, format()}};
  }
  std::string weight_format(Index channels) {
    const std::string text = format();
    if (choice_ != Choice::by_channel || pick(4) == 0) return text;
    std::string fractions;
    for (Index c = 0; c < channels; ++c)
      fractions += (c > 0 ? ", " : "") + std::to_string(pick(8) - 1);
    return text.substr(0, text.size() - 1) + ", granularity=channel, channel_frac_width=[" +
           fractions + "])";
  }
  Formats layer_formats(Index channels) {
    Formats formats{{"weight", weight_format(channels)}, {"bias", format()}};
    if (pick(3) > 0) formats.push_back({"data_in", format()});
    if (pick(3) == 0) formats.push_back({"data_out", format()});
    return formats;
  }

  void grow() {
    switch (pick(9)) {
      case 0:
      case 1:
        return convolve();
      case 2:
        now_ = sketch_.relu(now_, maybe("data_in"));
        return;
      case 3:
        return pool();
      case 4:
        return residual();
      case 5:
        now_ = sketch_.call(
            pick(2) == 0 ? "aten::mul.Scalar" : "aten::add.Scalar",
            {{"self", ref(now_)}, {"other", Value(0.25 * static_cast<double>(pick(9) - 4))}},
            shape(), maybe("data_out"));
        return;
      case 6:
        now_ =
            sketch_.call("aten::hardtanh",
                         {{"self", ref(now_)}, {"min_val", Value(-1.5)}, {"max_val", Value(2.0)}},
                         shape(), maybe("data_out"));
        return;
      case 7:
        now_ = sketch_.call(pick(2) == 0 ? "aten::sigmoid" : "aten::silu", {{"self", ref(now_)}},
                            shape(), {{"data_in", "integer(7, 3)"}, {"data_out", format()}});
        return;
      default:
        return join();
    }
  }

  void convolve() {
    const Shape in = shape();
    const Index kernel = 1 + pick(3), stride = 1 + pick(2), pad = pick(kernel);
    const bool depthwise = pick(3) == 0;
    const Index groups = depthwise ? in[1] : 1, outputs = depthwise ? in[1] : 1 + pick(9);
    const auto size = [&](Index length) { return (length + 2 * pad - kernel) / stride + 1; };
    if (in[2] + 2 * pad < kernel || in[3] + 2 * pad < kernel) return;
    const auto list = [](Index v) { return Value::list({Value(v), Value(v)}); };
    now_ =
        sketch_.layer("conv.Conv2d", "aten::conv2d", now_,
                      {{"stride", list(stride)}, {"padding", list(pad)}, {"groups", Value(groups)}},
                      {{"weight", {outputs, in[1] / groups, kernel, kernel}}, {"bias", {outputs}}},
                      {2, outputs, size(in[2]), size(in[3])}, layer_formats(outputs));
  }

  void pool() {
    const Shape in = shape();
    if (in[2] < 2 || in[3] < 2) return;
    const bool maximum = pick(2) == 0;
    now_ = sketch_.call(maximum ? "aten::max_pool2d" : "aten::avg_pool2d",
                        {{"self", ref(now_)}, {"kernel_size", Value(2)}},
                        {2, in[1], in[2] / 2, in[3] / 2}, maybe("data_out"));
  }

  void residual() {
    const NodeId before = now_;
    now_ = sketch_.relu(now_, maybe("data_out"));
    const char* ops[] = {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor"};
    Formats formats = maybe(pick(2) == 0 ? "data_in" : "data_out");
    for (auto& second : maybe("data_in_1")) formats.push_back(std::move(second));
    now_ =
        sketch_.call(ops[pick(3)], {{"self", ref(before)}, {"other", ref(now_)}}, shape(), formats);
  }

  void join() {
    Shape out = shape();
    out[1] *= 2;
    const NodeId other = sketch_.relu(now_, maybe("data_out"));
    now_ = sketch_.call("aten::cat",
                        {{"tensors", Value::list({ref(now_), ref(other)})}, {"dim", Value(1)}}, out,
                        maybe("data_out"));
  }

  void finish_dense() {
    const Shape in = shape();
    now_ = sketch_.call("aten::flatten.using_ints", {{"self", ref(now_)}, {"start_dim", Value(1)}},
                        {2, in[1] * in[2] * in[3]});
    const Index outputs = 1 + pick(20);
    now_ = sketch_.linear(now_, outputs, layer_formats(outputs));
  }

  Choice choice_;
  Random random_;
  Sketch sketch_;
  NodeId now_ = ir::no_node;
};

/// Lowers and runs `count` networks; how many have a datapath.
int check_networks(int count, Choice choice) {
  int lowered = 0;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    INFO("seed " << seed);
    const ir::Graph graph = Network(seed, choice).make();
    try {
      integer::lower(graph);
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::unsupported);  // codes of more than 62 bits
      continue;
    }
    ++lowered;
    check_against_reference(graph, 6, seed);
  }
  return lowered;
}

}  // namespace

TEST_CASE("random networks equal the reference") {
  CHECK(check_networks(200, Choice::fixed) > 160);
}

TEST_CASE("random networks whose channels have fraction bits of their own equal the reference") {
  CHECK(check_networks(100, Choice::by_channel) > 80);
}

TEST_CASE("random networks that mix element formats and fixed point equal the reference") {
  CHECK(check_networks(200, Choice::elements) > 120);
}
