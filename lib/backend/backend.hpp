// SPDX-License-Identifier: Apache-2.0
// The interface between the program and its LibTorch part, a shared object that is opened on first
// use, so that everything else works on machines without LibTorch.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/training.hpp"
#include "base/companions.hpp"
#include "base/tree.hpp"
#include "data/dataset.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::backend {

/// How to import a model file as a graph.
struct ImportOptions {
  /// Example inputs in the order of forward's arguments. They determine the shapes of the graph.
  std::vector<Array> inputs;
  /// The names of the example inputs if they are given by name (hf_input_names), otherwise empty.
  /// Arguments that are not named have their defaults.
  std::vector<std::string> input_names;
  std::vector<std::string> origins;         ///< file or option of each input, for errors
  std::string submodule;                    ///< the part to import ("encoder.layers.0"); "": all
  std::vector<std::string> leaf_modules;    ///< class names to keep as leaves, as torch.nn's
  std::vector<std::string> leaf_functions;  ///< function names to keep as calls
  ir::CustomOps custom_ops;                 ///< classes and functions to keep as user's ops
  std::map<std::string, Tree> concrete;     ///< forward arguments fixed to a constant (cf_args)
  std::int64_t most_operators = 200'000;    ///< maximum in the graph, loops unrolled
};

/// The result of importing a model file.
struct Imported {
  ir::Graph graph;
  std::vector<std::string> notes;  ///< sentences about what the import changed
  /// Examples for the last inputs, which stand for state that the model keeps between runs.
  std::vector<Array> state;
};

/// What a model file tells about its inputs before any example is known.
struct Signature {
  std::vector<std::string> inputs;  ///< argument names of forward
  /// Arguments without a default that are not tensors, with their types.
  std::map<std::string, std::string> other_types;
  std::vector<Shape> parameters;   ///< shapes of the parameters, in state_dict order
  std::vector<std::string> state;  ///< names of further inputs, for state that the model keeps
};

/// A message about an argument whose type no example input can have, with a remedy.
std::string no_tensor_argument(const std::string& name, const std::string& type);

/// The operations that need LibTorch. Implementations throw only mase::Error.
class Backend {
 public:
  virtual ~Backend() = default;
  /// {"version", "blas", "threads", "cxx11_abi", ...} for `mase doctor`.
  virtual Tree info() const = 0;
  virtual void set_threads(int threads) = 0;
  /// Chooses the device of evaluators and of training, and returns its name, as in "cuda:0". A name
  /// without a number is that of another device for each process of a machine (`local_rank`).
  /// Error(Fault::config) if it is not there.
  virtual std::string set_device(const std::string& name, int local_rank) = 0;
  /// The signature of a model file, or of its part `submodule` if that is not empty.
  virtual Signature signature(const std::string& path, const std::string& submodule) = 0;
  /// Imports a TorchScript file; Error(Fault::file) or Error(Fault::unsupported).
  virtual Imported import_model(const std::string& path, const ImportOptions& options) = 0;
  /// Replaces all values by those of a state_dict file (`--load-type pt`); strict.
  virtual void load_state_dict(const std::string& path, ir::Graph& graph) = 0;
  virtual std::unique_ptr<ir::Evaluator> evaluator(const ir::Graph& graph, ir::Level level) = 0;
  /// Runs this process's part of a graph (sharding::rank_graph) in float, together with the other
  /// processes of a mesh with these numbers of rows and columns. Meets them at once.
  virtual std::unique_ptr<ir::Evaluator> mesh_evaluator(
      const ir::Graph& part, const Ranks& ranks, const std::array<std::int64_t, 2>& mesh) = 0;
  /// Meets the other processes of a command.
  virtual std::unique_ptr<Companions> meet(const Ranks& ranks) = 0;
  /// Recomputes the ValueInfo of every node for these inputs.
  virtual void infer(ir::Graph& graph, const std::vector<Array>& inputs) = 0;
  /// Writes the TorchScript archive atomically.
  virtual void export_model(const ir::Graph& graph, const std::string& path,
                            const std::map<std::string, std::string>& extra_files) = 0;
  /// Trains the graph in place. `resume` is the `state` of a Snapshot, or empty.
  virtual TrainResult train(ir::Graph& graph, const data::Dataset& data,
                            const TrainOptions& options, const TrainCallbacks& callbacks,
                            const std::string& resume) = 0;
};

/// Opens libmase_torch, which exports `extern "C" Backend* mase_backend()`, on first use. Throws an
/// Error(Fault::file) that says how to get LibTorch if this fails.
Backend& open();
bool is_open();  ///< whether LibTorch is loaded

/// Sets the number of threads of the LibTorch part, at once or when it is opened.
void set_threads(int threads);

/// Sets the device of the LibTorch part (device.hpp) before it is opened. The sandbox then leaves
/// the drivers of accelerators within reach.
void set_device(const std::string& name, int local_rank);
/// The device in use, "cpu" until another one is open.
const std::string& device();

}  // namespace mase::backend
