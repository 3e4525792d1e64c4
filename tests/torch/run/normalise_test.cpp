// SPDX-License-Identifier: Apache-2.0
// Batch norms by kernels of our own, with what follows them, beside LibTorch's operators, bit for
// bit.
#include "torch/run/normalise.hpp"

#include <ATen/ATen.h>
#include <cstring>
#include <limits>

#include "torch/catch.hpp"
#include "torch/run/executor.hpp"
#include "torch/small_graphs.hpp"

using namespace mase;
using namespace mase::libtorch;

namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.is_contiguous() && b.is_contiguous() &&
         std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

at::Tensor batch_norm(const at::Tensor& input, const NormTensors& norm) {
  return at::batch_norm(input, norm.weight, norm.bias, norm.mean, norm.variance, false, 0.1,
                        norm.epsilon, false);
}

NormTensors some_norm(std::int64_t channels) {
  return {at::randn(channels), at::randn(channels), at::randn(channels), at::rand(channels), 1e-5};
}

at::Tensor activated(const at::Tensor& x, const Clamp& by) {
  if (by.kind == Clamp::Kind::lower) return at::relu(x);
  return by.kind == Clamp::Kind::both ? at::hardtanh(x, by.low, by.high) : x;
}

const std::vector<Clamp> activations{
    {}, {Clamp::Kind::lower, 0, 0}, {Clamp::Kind::both, 0, 6}, {Clamp::Kind::both, -0.5F, 0.25F}};

/// Convolution, batch norm, a sum and ReLU. %later is computed behind the norm.
ir::Graph residual(const ir::Value& self, const ir::Value& other, int alpha) {
  small_graphs::Maker make("nets.Residual");
  const auto x = make.input("x", {2, 3, 8, 8});
  make.batch_norm("bn", make.conv("conv", x, 3, 3), 3);
  const ir::ValueInfo info = make.graph.node(x).info;
  make.call("later", "aten::neg", {{"self", ir::NodeRef{x}}}, info);
  const auto sum = make.call("sum", "aten::add.Tensor",
                             {{"self", self}, {"other", other}, {"alpha", alpha}}, info);
  const auto relu = make.call("relu", "aten::relu", {{"self", ir::NodeRef{sum}}}, info);
  return make.finish(ir::NodeRef{relu});
}

/// What a run gives when somebody looks at every value, so that nothing is done together.
at::Tensor watched(Executor& executor, const at::Tensor& x) {
  return executor.run({x}, {}, [](const ir::Node&, const c10::IValue&) {}).toTensor();
}

}  // namespace

TEST_CASE("a batch norm by our own kernels has LibTorch's bits, with sums and activations") {
  if (simd::is_available(simd::Isa::avx2)) CHECK(normalises_as_libtorch());
  at::manual_seed(3);
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{5, 37},
                                                 {1, 16},
                                                 {3, 19, 7},
                                                 {2, 21, 5, 13},
                                                 {4, 8, 1, 1},
                                                 {2, 3, 4, 2, 9}})
    for (const Clamp& activation : activations)
      for (const bool sum : {false, true})
        for (const bool affine : {false, true}) {
          const at::Tensor input = at::randn(shape);
          const at::Tensor addend = sum ? at::randn(shape) : at::Tensor();
          NormTensors norm = some_norm(shape[1]);
          if (!affine) norm.weight = norm.bias = at::Tensor();
          const at::Tensor y = batch_norm(input, norm);
          const at::Tensor expected = activated(sum ? y + addend : y, activation);
          if (normalises_as_libtorch())
            CHECK(same_bits(normalise(input, norm, addend, activation), expected));
        }
}

TEST_CASE("NaN, infinities, zeros of either sign and bounds pass a norm as they pass LibTorch") {
  if (!normalises_as_libtorch()) return;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const at::Tensor special =
      at::tensor({std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 0.0F, -0.0F, 6.0F,
                  0.25F, 7.0F, -0.5F, 1e-42F, -1e-42F, 3e38F, -3e38F});
  for (const float weight : {1.0F, -1.0F, 0.0F})
    for (const Clamp& activation : activations) {
      const at::Tensor input = special.repeat({1, 1, 3});
      const NormTensors norm{at::full({1}, weight), at::full({1}, -0.0F), at::zeros(1), at::ones(1),
                             0};
      const at::Tensor expected = activated(batch_norm(input, norm), activation);
      CHECK(same_bits(normalise(input, norm, {}, activation), expected));  // over the input
    }
}

TEST_CASE("what our kernels cannot read is left to LibTorch") {
  const NormTensors norm = some_norm(4);
  const auto undone = [&](const at::Tensor& input, const at::Tensor& addend = {}) {
    return !normalise(input, norm, addend, {}).defined();
  };
  CHECK(undone(at::randn({2, 4}).to(at::kDouble)));
  CHECK(undone(at::randn({2, 3, 3, 4}).permute({0, 3, 1, 2})));
  CHECK(undone(at::randn({2, 4, 3}), at::randn({2, 4, 1})));
  CHECK(undone(at::randn({2, 5})));
}

TEST_CASE("what is done together with a norm has the bits of what is done one by one") {
  at::manual_seed(4);
  const at::Tensor images = at::randn({5, 3, 8, 8});
  const ir::Value x = ir::NodeRef{0}, norm = ir::NodeRef{2}, later = ir::NodeRef{3};
  for (const auto& [self, other, alpha] : {std::tuple(norm, x, 1),
                                           {x, norm, 1},
                                           {norm, norm, 1},
                                           {norm, later, 1},
                                           {later, norm, 1},
                                           {norm, x, 2}})
    for (const char* port : {"", "data_in", "data_out"}) {
      ir::Graph graph = residual(self, other, alpha);
      REQUIRE(graph.node(2).name == "bn");
      if (*port)
        graph.node(graph.find_node("relu")->id)
            .formats.emplace(port, formats::parse_format("integer(4, 1)"));
      Executor executor(graph, ir::Level::quantized);
      const at::Tensor expected = watched(executor, images);
      for (int twice = 0; twice < 2; ++twice)
        CHECK(same_bits(executor.run({images}).toTensor(), expected));
    }
}
