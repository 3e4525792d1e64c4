// SPDX-License-Identifier: Apache-2.0
// The parts of training that run by operators on other devices, here on the CPU: steps of
// optimisers, clipping, and the losses of data/loss.hpp.
#include <ATen/ATen.h>

#include "data/loss.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/device_losses.hpp"
#include "torch/train/gradient_sums.hpp"
#include "torch/train/optimizer.hpp"
#include "torch/train/train_support.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;

namespace {

/// Numbers of many magnitudes, zeros of both signs among them.
at::Tensor numbers_of_all_sizes(std::int64_t count, std::uint64_t seed) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const at::Tensor normal = at::randn({count}, generator, at::kFloat);
  const at::Tensor exponents = at::randint(-60, 20, {count}, generator, at::kFloat);
  at::Tensor made = normal * at::exp2(exponents);
  made[0] = 0.0;
  made[1] = -0.0;
  return made;
}

bool equal_bits(const at::Tensor& a, const at::Tensor& b) {
  return at::equal(a.view(at::kInt), b.view(at::kInt));
}

/// What a loss is computed from.
struct LossCase {
  std::string loss;
  data::LossOptions options{};
};

}  // namespace

TEST_CASE("optimiser steps by operators are those of the loops") {
  for (const char* name : {"adam", "adamw", "sgd"})
    for (const double decay : {0.0, 0.01})
      for (const std::int64_t decayed : {0, 1000, 1024}) {
        INFO(name << ", decay " << decay << " of " << decayed);
        backend::TrainOptions options;
        options.optimizer = name;
        options.weight_decay = decay;
        options.momentum = 0.9;
        const at::Tensor here = numbers_of_all_sizes(1024, 1), there = here.clone();
        Optimizer loops(options, here, static_cast<std::size_t>(decayed));
        Optimizer operators(options, there, static_cast<std::size_t>(decayed));
        for (int step = 0; step < 5; ++step) {
          const at::Tensor gradients = numbers_of_all_sizes(1024, 10 + step);
          loops.step(here, gradients, 0.01, step);
          operators.step_by_operators(there, gradients, 0.01, step);
          // LibTorch's square roots on the CPU may differ in their last bit from the rounded ones,
          // and the update of a step, which is at most the learning rate, by as much.
          const auto fit = [&](const at::Tensor& a, const at::Tensor& b) {
            return options.optimizer == "sgd" ? equal_bits(a, b) : at::allclose(a, b, 1e-6, 2e-8);
          };
          REQUIRE(fit(here, there));
          for (std::size_t i = 0; i < loops.moments().size(); ++i)
            REQUIRE(fit(loops.moments()[i], operators.moments()[i]));
        }
        CHECK_FALSE(equal_bits(here, numbers_of_all_sizes(1024, 1)));
      }
}

TEST_CASE("gradients are clipped by operators as by the loop") {
  for (const double most : {1e-3, 1.0, 1e9}) {
    const at::Tensor here = numbers_of_all_sizes(5000, 3), there = here.clone();
    const double norm = here.to(at::kDouble).norm().item<double>();
    clip_gradients(here, most);
    clip_gradients_by_operators(there, most);
    // The scale may differ in its last bit, since the sums have different orders.
    CHECK(at::allclose(here, there, 2e-7, 0));
    CHECK(there.to(at::kDouble).norm().item<double>() ==
          Approx(std::min(most, norm)).epsilon(1e-6));
    if (norm <= most) CHECK(equal_bits(here, there));
  }
}

TEST_CASE("every loss by operators is that of the CPU") {
  constexpr std::int64_t rows = 12, width = 5;
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(7);
  const at::Tensor outputs = at::randn({rows, width}, generator, at::kFloat) * 3;
  const at::Tensor numbers = at::rand({rows, width}, generator, at::kFloat);
  const at::Tensor classes = at::arange(rows, at::kLong).remainder(4);
  const at::Tensor ignored = classes.masked_fill(classes.eq(2), data::ignored_label);
  const at::Tensor nothing = at::full({rows}, data::ignored_label, at::kLong);
  const std::vector<float> weights{0.5f, 2, 1, 0};  // the model has an output without a class
  std::vector<LossCase> cases;
  for (const data::LossRow& row : data::loss_table()) cases.push_back({row.name});
  cases.push_back({"cross_entropy", {.label_smoothing = 0.1}});
  cases.push_back({"cross_entropy", {.class_weights = weights}});
  cases.push_back({"cross_entropy", {.label_smoothing = 0.2, .class_weights = weights}});
  cases.push_back({"huber", {.delta = 0.25}});
  cases.push_back({"kl", {.temperature = 4}});
  for (const auto& [loss, options] : cases)
    for (const at::Tensor& labels : {classes, ignored, nothing}) {
      INFO(loss << ", " << labels);
      const bool of_classes = loss == "cross_entropy";
      data::Wanted wanted{.width = width};
      if (of_classes)
        wanted.classes = {labels.data_ptr<std::int64_t>(), rows};
      else
        wanted.numbers = {numbers.data_ptr<float>(), rows * width};
      at::Tensor gradient = at::empty_like(outputs);
      const double expected =
          data::find_loss(loss).compute({outputs.data_ptr<float>(), rows * width}, wanted, options,
                                        {gradient.data_ptr<float>(), rows * width});
      const at::Tensor leaf = outputs.clone().requires_grad_();
      const at::Tensor weighted =
          options.class_weights.empty() ? at::Tensor() : libtorch::tensor_of(weights);
      const at::Tensor found =
          loss_by_operators(loss, leaf, {of_classes ? labels : numbers, weighted}, options);
      found.backward();
      CHECK(found.item<double>() == Approx(expected).epsilon(1e-5).margin(1e-7));
      CHECK(at::allclose(leaf.grad(), gradient, 1e-4, 1e-7));
    }
}
