// SPDX-License-Identifier: Apache-2.0
// The one small interface between the program and its LibTorch part, a shared object that is opened
// on first use: everything else starts and runs on machines without LibTorch.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/training.hpp"
#include "base/tree.hpp"
#include "data/dataset.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::backend {

/// How a model file becomes a graph.
struct ImportOptions {
  /// Example inputs in the order of forward's arguments; shapes of the graph come from them.
  std::vector<Array> inputs;
  /// Their names, where they are chosen by name (hf_input_names); the other arguments have their
  /// defaults then. Else empty.
  std::vector<std::string> input_names;
  std::vector<std::string> origins;         ///< of each input: a file, an option; for errors
  std::string submodule;                    ///< the part to import ("encoder.layers.0"); "": all
  std::vector<std::string> leaf_modules;    ///< class names kept as leaves beside torch.nn's
  std::vector<std::string> leaf_functions;  ///< function names kept as calls
  ir::CustomOps custom_ops;                 ///< classes and functions kept as ops of the user's
  std::map<std::string, Tree> concrete;     ///< forward arguments fixed to a constant (cf_args)
  std::int64_t most_operators = 200'000;    ///< of the graph, its loops unrolled
};

/// What a model file has become.
struct Imported {
  ir::Graph graph;
  std::vector<std::string> notes;  ///< what was changed on the way, a sentence each
  /// Examples of the last inputs: of what the model keeps from one run to the next.
  std::vector<Array> state;
};

/// What a model file says of its inputs before any example is known.
struct Signature {
  std::vector<std::string> inputs;  ///< argument names of forward
  /// Arguments without a default that are no tensors, with their types.
  std::map<std::string, std::string> other_types;
  std::vector<Shape> parameters;   ///< shapes of the parameters, in state_dict order
  std::vector<std::string> state;  ///< names of further inputs, which the model keeps itself
};

/// Why no example input can be an argument of this type, and what would work.
std::string no_tensor_argument(const std::string& name, const std::string& type);

/// What needs LibTorch. Every exception of an implementation is a mase::Error.
class Backend {
 public:
  virtual ~Backend() = default;
  /// {"version", "blas", "threads", "cxx11_abi", ...} for `mase doctor`.
  virtual Tree info() const = 0;
  virtual void set_threads(int threads) = 0;
  /// The signature of the whole model, or of its part `submodule`.
  virtual Signature signature(const std::string& path, const std::string& submodule) = 0;
  /// Imports a TorchScript file; Error(Fault::file) or Error(Fault::unsupported).
  virtual Imported import_model(const std::string& path, const ImportOptions& options) = 0;
  /// Replaces values by those of a state_dict file (`--load-type pt`); strict.
  virtual void load_state_dict(const std::string& path, ir::Graph& graph) = 0;
  virtual std::unique_ptr<ir::Evaluator> evaluator(const ir::Graph& graph, ir::Level level) = 0;
  /// Recomputes every node's ValueInfo for these inputs.
  virtual void infer(ir::Graph& graph, const std::vector<Array>& inputs) = 0;
  /// Writes the TorchScript archive atomically.
  virtual void export_model(const ir::Graph& graph, const std::string& path,
                            const std::map<std::string, std::string>& extra_files) = 0;
  /// Trains in place. `resume` is the `state` of a Snapshot, or empty.
  virtual TrainResult train(ir::Graph& graph, const data::Dataset& data,
                            const TrainOptions& options, const TrainCallbacks& callbacks,
                            const std::string& resume) = 0;
};

/// Opens libmase_torch, which exports `extern "C" Backend* mase_backend()`, on first use;
/// Error(Fault::file) that says how to get LibTorch when it fails.
Backend& open();
bool is_open();  ///< whether LibTorch is loaded

/// Threads of the LibTorch part: set when it is opened, or at once when it is open already.
void set_threads(int threads);

}  // namespace mase::backend
