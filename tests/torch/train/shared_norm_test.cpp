// SPDX-License-Identifier: Apache-2.0
// Batch norms over a batch in parts: outputs, gradients and running statistics of parts that
// threads compute are those that LibTorch's batch norm has for the whole batch.
#include <ATen/ATen.h>

#include <barrier>
#include <thread>

#include "torch/run/batch_parts.hpp"
#include "torch/train/network.hpp"
#include "torch/train/train_support.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;

namespace {

/// What threads tell each other.
struct Meeting {
  explicit Meeting(std::size_t parts)
      : gate(static_cast<std::ptrdiff_t>(parts)), numbers(parts), exchanges(parts) {}
  std::barrier<> gate;
  std::vector<std::vector<double>> numbers;
  std::vector<int> exchanges;
};

class ThreadParts : public libtorch::BatchParts {
 public:
  ThreadParts(Meeting& meeting, std::size_t place, bool counted)
      : meeting_(meeting), place_(place), counted_(counted) {}
  bool counts() const override { return counted_; }
  libtorch::PartRows rows() const override { return {0, 1, 1}; }  // nothing here draws by row
  std::vector<double> gather(std::span<const double> own) override {
    ++meeting_.exchanges[place_];
    meeting_.numbers[place_].assign(own.begin(), own.end());
    meeting_.gate.arrive_and_wait();
    std::vector<double> all;
    for (const auto& numbers : meeting_.numbers)
      all.insert(all.end(), numbers.begin(), numbers.end());
    meeting_.gate.arrive_and_wait();
    return all;
  }

 private:
  Meeting& meeting_;
  std::size_t place_;
  bool counted_;
};

struct Trained {
  at::Tensor output, gradients;
  ir::Graph graph;
};

using MakeNetwork = std::unique_ptr<TrainableNetwork> (*)(libtorch::Executor&, Parameters&);

Trained train_once(const ir::Graph& graph, const at::Tensor& inputs, MakeNetwork make, bool fold,
                   double counted = 1) {
  libtorch::Executor executor(graph, ir::Level::floating);
  if (fold) executor.fold_batch_norms();
  executor.own_tensors();
  Parameters parameters(graph, executor.tensors());
  const auto network = make(executor, parameters);
  network->begin_step(false);
  const at::Tensor output = network->forward({inputs}).front();
  network->backward({counted * (output.detach() * 0.01 + 0.002)});
  Trained trained{output.detach().clone(), parameters.gradients().clone(), graph};
  executor.store_tensors(trained.graph);
  return trained;
}

/// A batch in parts of these numbers of rows; a part without rows has one that does not count.
std::vector<Trained> train_parts(const ir::Graph& graph, const at::Tensor& inputs, MakeNetwork make,
                                 bool fold, const std::vector<std::int64_t>& rows) {
  Meeting meeting(rows.size());
  std::vector<Trained> parts(rows.size());
  std::vector<std::thread> threads;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const at::Tensor own = inputs.narrow(0, rows[i] > 0 ? first : 0, std::max(rows[i], 1L));
    first += rows[i];
    threads.emplace_back([&, own, i] {
      ThreadParts of(meeting, i, rows[i] > 0);
      const libtorch::UseBatchParts use(&of);
      parts[i] = train_once(graph, own, make, fold, rows[i] > 0 ? 1 : 0);
      if (rows[i] == 0) parts[i].output = parts[i].output.narrow(0, 0, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : meeting.exchanges) CHECK(count > 0);
  return parts;
}

/// Values that differ by float rounding: of sums over rows, of which gradients of norms are
/// differences.
void check_close(const at::Tensor& one, const at::Tensor& other) {
  const float most = one.abs().max().item<float>();
  CHECK(most > 0);
  CHECK((one - other).abs().max().item<float>() < 2e-5f * most);
}

void check_parts_are_whole(const ir::Graph& graph, const at::Tensor& inputs, MakeNetwork make,
                           bool fold, const std::vector<std::int64_t>& rows) {
  const Trained whole = train_once(graph, inputs, make_autograd_network, fold);
  const std::vector<Trained> parts = train_parts(graph, inputs, make, fold, rows);
  std::vector<at::Tensor> outputs;
  at::Tensor gradients = at::zeros_like(whole.gradients);
  for (const Trained& part : parts) {
    outputs.push_back(part.output);
    gradients += part.gradients;
    for (const auto& [path, tensor] : whole.graph.tensors) {
      INFO(path);
      const Array a = tensor.value.to_float32();
      const Array b = part.graph.tensors.at(path).value.to_float32();
      for (std::size_t i = 0; i < a.span<float>().size(); ++i)
        REQUIRE(a.span<float>()[i] == Approx(b.span<float>()[i]).epsilon(1e-5).margin(1e-6));
    }
  }
  check_close(whole.output, at::cat(outputs));
  check_close(whole.gradients, gradients);
}

}  // namespace

TEST_CASE("batch norms of parts are those of the whole batch") {
  at::manual_seed(1);
  // Far from 0, so that a variance about another mean than that of all parts would show.
  at::Tensor jets = at::randn({33, 16}) + 3, digits = at::rand({9, 1, 28, 28});
  jets.narrow(0, 0, 20).add_(2);
  digits.narrow(0, 0, 5).mul_(3);
  for (const MakeNetwork make : {&make_layer_network, &make_autograd_network}) {
    check_parts_are_whole(build("jsc-mlp", 3), jets, make, false, {16, 17});
    check_parts_are_whole(build("jsc-mlp", 3), jets, make, false, {20, 0, 1, 12});
    check_parts_are_whole(build("lenet", 3), digits, make, false, {4, 5});
    check_parts_are_whole(build("lenet", 3), digits, make, false, {0, 8, 1});
  }
}

TEST_CASE("folded batch norms of parts are those of the whole batch") {
  at::manual_seed(2);
  const at::Tensor digits = at::rand({9, 1, 28, 28});
  check_parts_are_whole(build("lenet", 3), digits, make_autograd_network, true, {4, 5});
  check_parts_are_whole(build("lenet", 3), digits, make_autograd_network, true, {0, 8, 1});
}
