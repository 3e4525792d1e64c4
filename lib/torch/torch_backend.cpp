// SPDX-License-Identifier: Apache-2.0
// The backend object that the program opens. It implements import, export, evaluation and training
// for backend::Backend. It throws only mase::Error.
#include "backend/backend.hpp"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/core/ivalue.h>
#include <malloc.h>
#include <torch/version.h>

#include <new>

#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/import/state_dict.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/run/device.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/companions.hpp"
#include "torch/train/mesh_evaluator.hpp"
#include "torch/train/trainer.hpp"

namespace mase::libtorch {
namespace {

/// Runs `work` and converts its exceptions to mase::Error.
template <class Work>
auto translated(Work&& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    file_error(out_of_memory());
  } catch (const c10::OutOfMemoryError& error) {
    file_error(memory_error(error));
  } catch (const c10::Error& error) {
    throw Error(Fault::internal, std::string("LibTorch: ") + error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw Error(Fault::internal, std::string("LibTorch: ") + error.what());
  }
}

/// The name of the linear algebra library, from LibTorch's description ("BLAS_INFO=mkl").
std::string blas_name() {
  const std::string text = at::show_config();
  const std::size_t start = text.find("BLAS_INFO=");
  if (start == std::string::npos) return at::hasMKL() ? "mkl" : "unknown";
  const std::size_t from = start + 10;
  return text.substr(from, text.find_first_of(", \n", from) - from);
}

/// An evaluator whose errors are translated.
class GuardedEvaluator : public ir::Evaluator {
 public:
  explicit GuardedEvaluator(std::unique_ptr<ir::Evaluator> inner) : inner_(std::move(inner)) {}
  ir::Results run(const std::vector<Array>& inputs) override {
    return translated([&] { return inner_->run(inputs); });
  }
  ir::Results run(const std::vector<Array>& inputs, const ir::Observer& observer) override {
    return translated([&] { return inner_->run(inputs, observer); });
  }

 private:
  std::unique_ptr<ir::Evaluator> inner_;
};

void infer_infos(ir::Graph& graph, const std::vector<Array>& inputs) {
  Executor executor(graph, ir::Level::floating);
  std::vector<std::pair<ir::NodeId, ir::ValueInfo>> infos;
  executor.run(check_inputs(graph, inputs), {},
               [&](const ir::Node& node, const c10::IValue& value) {
                 infos.emplace_back(node.id, info_of(value));
               });
  // Nodes in the bodies of leaves exist only in the executor.
  for (auto& [id, info] : infos)
    if (graph.contains(id)) graph.node(id).info = std::move(info);
}

class TorchBackend : public backend::Backend {
 public:
  Tree info() const override {
    Tree info = Tree::dict();
    info["version"] = TORCH_VERSION;
    info["blas"] = blas_name();
    info["threads"] = at::get_num_threads();
    info["cxx11_abi"] = _GLIBCXX_USE_CXX11_ABI != 0;
    info["devices"] = join(devices_here(), ", ");
    return info;
  }

  void set_threads(int threads) override {
    translated([&] { at::set_num_threads(std::max(threads, 1)); });
  }

  std::string set_device(const std::string& name, int local_rank) override {
    device_ = translated([&] { return find_device(name, local_rank); });
    return device_.str();
  }

  backend::Signature signature(const std::string& path, const std::string& submodule) override {
    return translated([&] { return read_signature(path, submodule); });
  }

  backend::Imported import_model(const std::string& path,
                                 const backend::ImportOptions& options) override {
    return translated([&] { return import_with_notes(path, options); });
  }

  void load_state_dict(const std::string& path, ir::Graph& graph) override {
    translated([&] { libtorch::load_state_dict(path, graph); });
  }

  std::unique_ptr<ir::Evaluator> evaluator(const ir::Graph& graph, ir::Level level) override {
    return translated([&]() -> std::unique_ptr<ir::Evaluator> {
      return std::make_unique<GuardedEvaluator>(make_evaluator(graph, level, device_));
    });
  }

  std::unique_ptr<ir::Evaluator> mesh_evaluator(const ir::Graph& part, const backend::Ranks& ranks,
                                                const std::array<std::int64_t, 2>& mesh) override {
    return translated([&]() -> std::unique_ptr<ir::Evaluator> {
      return std::make_unique<GuardedEvaluator>(train::make_mesh_evaluator(part, ranks, mesh));
    });
  }

  std::unique_ptr<Companions> meet(const backend::Ranks& ranks) override {
    return translated([&] { return train::meet_companions(ranks); });
  }

  void infer(ir::Graph& graph, const std::vector<Array>& inputs) override {
    translated([&] { infer_infos(graph, inputs); });
  }

  void export_model(const ir::Graph& graph, const std::string& path,
                    const std::map<std::string, std::string>& extra_files) override {
    translated([&] { export_torchscript(graph, path, extra_files); });
  }

  backend::TrainResult train(ir::Graph& graph, const data::Dataset& data,
                             const backend::TrainOptions& options,
                             const backend::TrainCallbacks& callbacks,
                             const std::string& resume) override {
    return translated(
        [&] { return train::run_training(graph, data, options, callbacks, resume, device_); });
  }

 private:
  c10::Device device_ = c10::kCPU;
};

/// Keeps freed memory. Otherwise new result tensors would be mapped and unmapped for every
/// operator, and the page faults would cost ten times the work.
void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace
}  // namespace mase::libtorch

namespace mase::backend {

extern "C" Backend* mase_backend() {
  static libtorch::TorchBackend backend;
  static const bool prepared = [] {
    libtorch::keep_memory();
    at::set_num_threads(1);
    return true;
  }();
  return prepared ? &backend : nullptr;
}

}  // namespace mase::backend
