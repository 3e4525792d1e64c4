// SPDX-License-Identifier: Apache-2.0
// Quantized ONNX files against the executor of qonnx and against onnxruntime, whose results stand
// beside the files (fixtures/onnx/quantized/README.md).
#include <catch2/catch.hpp>
#include <cmath>

#include "base/npy.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/make_evaluator.hpp"
#include "test_paths.hpp"

using namespace mase;

namespace {

struct Compared {
  Array found, wanted;

  /// The greatest distance of two elements.
  double distance() const {
    REQUIRE(found.shape() == wanted.shape());
    double most = 0;
    for (std::size_t i = 0; i < found.span<float>().size(); ++i)
      most = std::max(most, std::fabs(static_cast<double>(found.span<float>()[i]) -
                                      static_cast<double>(wanted.span<float>()[i])));
    return most;
  }
};

/// `from`: whose results stand beside the file, _y for those of its authors.
Compared compared(const std::string& name, ir::Level level, const std::string& from = "_y") {
  const std::string path = std::string(MASE_TEST_FOLDER) + "/fixtures/onnx/quantized/" + name;
  driver::ModelRequest request;
  request.model = path + ".onnx";
  request.input.inputs = {path + "_x.npy"};
  const driver::LoadedModel model = driver::load_model(request);
  const ir::Results results = driver::make_evaluator()(model.graph, level)->run(model.example);
  return {results.at(0).second, read_npy(path + from + ".npy")};
}

}  // namespace

TEST_CASE("networks with steps of powers of two give the bits of their authors") {
  for (const char* name :
       {"qonnx_mlp", "qonnx_conv", "qonnx_depthwise", "qonnx_thresholds", "qdq_powers"}) {
    CAPTURE(name);
    CHECK(compared(name, ir::Level::quantized).distance() == 0);
    CHECK(compared(name, ir::Level::integer).distance() == 0);
  }
}

TEST_CASE("networks with other steps differ from qonnx by the order of float32 sums") {
  // The last layer sums 24 products of at most 1 in float32; half a step of an activation is 0.02.
  CHECK(compared("qonnx_channel_scales", ir::Level::quantized).distance() < 1e-6);
}

TEST_CASE("integers compute what rational numbers do, whatever the scales are") {
  for (const char* name : {"qonnx_channel_scales", "qdq_conv", "qdq_residual", "qonnx_shifted"}) {
    CAPTURE(name);
    CHECK(compared(name, ir::Level::integer, "_exact").distance() == 0);
  }
}

TEST_CASE("networks that onnxruntime quantized give its results") {
  // Scales are not powers of two, yet no sum of these rows lies where rounding is undecided.
  for (const char* name : {"qdq_conv", "qlinear_conv", "qdq_silu"}) {
    CAPTURE(name);
    CHECK(compared(name, ir::Level::quantized).distance() == 0);
  }
  // A table has the sigmoid of every code, and products are those of codes.
  CHECK(compared("qdq_silu", ir::Level::integer).distance() == 0);
  CHECK(compared("qlinear_conv", ir::Level::integer).distance() == 0);
}
