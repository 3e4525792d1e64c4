// SPDX-License-Identifier: Apache-2.0
// Losses and their gradients, against values of PyTorch and against differences.
#include "data/loss.hpp"

#include <cmath>

#include "files.hpp"

using namespace mase;
using namespace mase::data;
using mase::test::message_of;

namespace {

const std::vector<float> loss_outputs{0.5f, -1.25f, 2.0f, 0.0f, 3.0f, -0.5f};
const std::vector<float> loss_numbers{0.0f, 1.0f, 0.0f, 1.0f, 1.0f, 0.0f};
const std::vector<std::int64_t> loss_classes{2, 0};
const std::vector<float> loss_weights{0.5f, 1.0f, 2.0f};

Wanted wanted_of(const std::string& loss) {
  if (loss == "cross_entropy") return {loss_classes, {}, 3};
  return {{}, loss_numbers, 3};
}

double loss_of(const std::string& name, std::span<const float> values, const LossOptions& options,
               std::span<float> gradient) {
  return find_loss(name).compute(values, wanted_of(name), options, gradient);
}

}  // namespace

TEST_CASE("losses have the values of PyTorch 2.13") {
  // torch.nn.functional, outputs [2, 3]: cross_entropy(..., label_smoothing=0.1) and the same with
  // weight=, binary_cross_entropy_with_logits, mse_loss, l1_loss, huber_loss(delta=0.75), and
  // kl_div(log_softmax(x / 2), softmax(t / 2), reduction="batchmean") * 4.
  const LossOptions smooth{.label_smoothing = 0.1};
  const LossOptions weighted{.label_smoothing = 0.1, .class_weights = loss_weights};
  std::vector<float> gradient(6);
  CHECK(loss_of("cross_entropy", loss_outputs, smooth, gradient) ==
        Approx(1.69228431).epsilon(1e-6));
  CHECK(loss_of("cross_entropy", loss_outputs, weighted, gradient) ==
        Approx(0.902451426).epsilon(1e-6));
  CHECK(loss_of("binary_cross_entropy", loss_outputs, {}, {}) == Approx(0.969790932).epsilon(1e-6));
  CHECK(loss_of("mse", loss_outputs, {}, {}) == Approx(2.42708333).epsilon(1e-6));
  CHECK(loss_of("l1", loss_outputs, {}, {}) == Approx(1.375).epsilon(1e-6));
  CHECK(loss_of("huber", loss_outputs, {.delta = 0.75}, {}) == Approx(0.760416667).epsilon(1e-6));
  CHECK(loss_of("kl", loss_outputs, {.temperature = 2}, {}) == Approx(1.25272202).epsilon(1e-6));
}

TEST_CASE("the gradient of every loss is its derivative") {
  const LossOptions options{
      .label_smoothing = 0.1, .class_weights = loss_weights, .delta = 0.75, .temperature = 2};
  for (const LossRow& row : loss_table()) {
    INFO(row.name);
    std::vector<float> gradient(6), unused(6);
    loss_of(row.name, loss_outputs, options, gradient);
    for (std::size_t i = 0; i < loss_outputs.size(); ++i) {
      constexpr float step = 1.0f / 256;
      std::vector<float> up = loss_outputs, down = loss_outputs;
      up[i] += step;
      down[i] -= step;
      const double slope =
          (loss_of(row.name, up, options, unused) - loss_of(row.name, down, options, unused)) /
          (2 * double(step));
      CHECK(double(gradient[i]) == Approx(slope).margin(2e-4));
    }
  }
}

TEST_CASE("large outputs do not overflow") {
  const std::vector<float> large{200.0f, -200.0f};
  const std::vector<float> right{1.0f, 0.0f}, wrong{0.0f, 1.0f};
  std::vector<float> gradient(2);
  const LossRow& row = find_loss("binary_cross_entropy");
  CHECK(row.compute(large, {{}, right, 2}, {}, gradient) == Approx(0).margin(1e-12));
  CHECK(row.compute(large, {{}, wrong, 2}, {}, gradient) == Approx(200));
  CHECK(gradient == std::vector<float>{0.5f, -0.5f});
}

TEST_CASE("an unknown loss gets the nearest name") {
  CHECK_THAT(message_of(Fault::config, [] { find_loss("hubert"); }),
             Catch::Contains("did you mean 'huber'"));
}

TEST_CASE("rows with the ignored label are as if they were not there") {
  // Row 1 of three is ignored; without it, these are the outputs of the other cases.
  std::vector<float> outputs = loss_outputs;
  outputs.insert(outputs.begin() + 3, {9, -9, 4});
  const std::vector<std::int64_t> labels{2, ignored_label, 0};
  const LossRow& row = find_loss("cross_entropy");
  for (const LossOptions& options :
       {LossOptions{.label_smoothing = 0.1},
        LossOptions{.label_smoothing = 0.1, .class_weights = loss_weights}}) {
    std::vector<float> gradient(9, 5.0f), expected(6);
    const double wanted = row.compute(loss_outputs, wanted_of("cross_entropy"), options, expected);
    CHECK(row.compute(outputs, {labels, {}, 3}, options, gradient) == wanted);
    expected.insert(expected.begin() + 3, 3, 0.0f);
    CHECK(gradient == expected);
    const std::vector<std::int64_t> none(3, ignored_label);
    CHECK(row.compute(outputs, {none, {}, 3}, options, gradient) == 0);
    CHECK(gradient == std::vector<float>(9, 0.0f));
  }
}
