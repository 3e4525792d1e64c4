// SPDX-License-Identifier: Apache-2.0
// A group of processes for each line of the mesh that this process is in.
#include "torch/train/mesh_evaluator.hpp"

#include <ATen/ops/cat.h>

#include <vector>

#include "torch/run/collectives.hpp"
#include "torch/run/executor.hpp"
#include "torch/train/process_group.hpp"

namespace mase::train {
namespace {

class MeshCollectives : public libtorch::Collectives {
 public:
  MeshCollectives(const backend::Ranks& ranks, const std::array<std::int64_t, 2>& mesh)
      : all_(ranks) {
    const int rows = static_cast<int>(mesh[0]), columns = static_cast<int>(mesh[1]);
    const int rank = ranks.rank % (rows * columns), first = ranks.rank - rank;
    const int row = rank / columns, column = rank % columns;
    std::vector<int> along_rows, along_columns;
    for (int i = 0; i < rows; ++i) along_rows.push_back(first + i * columns + column);
    for (int j = 0; j < columns; ++j) along_columns.push_back(first + row * columns + j);
    lines_[0] = all_.part("column" + std::to_string(along_rows.front()), along_rows);
    lines_[1] = all_.part("row" + std::to_string(along_columns.front()), along_columns);
  }

  at::Tensor all_reduce(const at::Tensor& values, std::size_t axis) override {
    if (values.scalar_type() != at::kFloat && values.scalar_type() != at::kDouble)
      return sum_of(lines_.at(axis)->gather_to_all(values.contiguous()));
    at::Tensor sum = values.clone(at::MemoryFormat::Contiguous);
    lines_.at(axis)->sum(sum.view({-1}));
    return sum;
  }

  at::Tensor all_gather(const at::Tensor& values, std::size_t axis, std::int64_t dim) override {
    return at::cat(lines_.at(axis)->gather_to_all(values.contiguous()), dim);
  }

  at::Tensor reduce_scatter(const at::Tensor& values, std::size_t axis, std::int64_t dim) override {
    return sum_of(exchange(values, axis, dim));
  }

  at::Tensor all_to_all(const at::Tensor& values, std::size_t axis, std::int64_t from,
                        std::int64_t to) override {
    return at::cat(exchange(values, axis, to), from);
  }

  void send(const at::Tensor& values, std::int64_t to, std::int64_t tag) override {
    all_.send(values.contiguous(), static_cast<int>(to), static_cast<int>(tag));
  }

  void receive(at::Tensor& values, std::int64_t from, std::int64_t tag) override {
    all_.receive(values, static_cast<int>(from), static_cast<int>(tag));
  }

  ProcessGroup& all() { return all_; }

 private:
  /// Sums in the order of the processes, so the result depends on nothing else.
  static at::Tensor sum_of(const std::vector<at::Tensor>& addends) {
    at::Tensor sum = addends.front().clone();
    for (std::size_t i = 1; i < addends.size(); ++i) sum.add_(addends[i]);
    return sum;
  }

  /// Gives each process its part along `dim`, and returns this process's parts from all.
  std::vector<at::Tensor> exchange(const at::Tensor& values, std::size_t axis, std::int64_t dim) {
    ProcessGroup& line = *lines_.at(axis);
    std::vector<at::Tensor> parts;
    for (const at::Tensor& part : values.chunk(line.size(), dim))
      parts.push_back(part.contiguous());
    return line.exchange_parts(parts);
  }

  ProcessGroup all_;
  std::array<std::unique_ptr<ProcessGroup>, 2> lines_;
};

class MeshEvaluator : public ir::Evaluator {
 public:
  MeshEvaluator(const ir::Graph& part, const backend::Ranks& ranks,
                const std::array<std::int64_t, 2>& mesh)
      : collectives_(ranks, mesh), part_(libtorch::make_evaluator(part, ir::Level::floating)) {}

  ir::Results run(const std::vector<Array>& inputs) override {
    const libtorch::UseCollectives use(collectives_);
    ir::Results results = part_->run(inputs);
    collectives_.all().wait_for_all();
    return results;
  }
  ir::Results run(const std::vector<Array>& inputs, const ir::Observer& observer) override {
    const libtorch::UseCollectives use(collectives_);
    return part_->run(inputs, observer);
  }

 private:
  MeshCollectives collectives_;
  std::unique_ptr<ir::Evaluator> part_;
};

}  // namespace

std::unique_ptr<ir::Evaluator> make_mesh_evaluator(const ir::Graph& part,
                                                   const backend::Ranks& ranks,
                                                   const std::array<std::int64_t, 2>& mesh) {
  return std::make_unique<MeshEvaluator>(part, ranks, mesh);
}

}  // namespace mase::train
