// SPDX-License-Identifier: Apache-2.0
// The subcommands: what each needs, as plain structs that the command line fills.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"

namespace mase::driver {

/// What train, test and transform have in common.
struct CommonRequest {
  std::string config_path;
  Tree settings = Tree::dict();  ///< settings given on the command line
  bool json = false;
  bool quiet = false;         ///< no settings table, no progress
  bool all_settings = false;  ///< in the settings table also those that have their defaults
};

/// For those that have tools read emitted hardware.
struct HardwareRequest : CommonRequest {
  bool allow_external = false;  ///< also SystemVerilog that a checkpoint brings along
};

/// How a model file is to be read: example inputs, and what stays one node beside torch.nn's
/// layers.
struct ModelInput {
  std::vector<std::string> inputs;          ///< --input: .npy files, each behind NAME= or not
  std::vector<std::string> input_shapes;    ///< --input-shape: "4,3,32,32", see made_input; NAME=
  std::vector<std::string> fixed;           ///< --fix: "NAME=VALUE", arguments that are constants
  std::string submodule;                    ///< --submodule: the part of the model
  std::vector<std::string> leaf_modules;    ///< --leaf-module: class names
  std::vector<std::string> leaf_functions;  ///< --leaf-function: function names
  std::vector<std::string> custom_ops;      ///< --custom-ops: files with tables [custom_ops.NAME]
  std::optional<std::int64_t> most_operators;  ///< --max-operators
};

/// `mase transform`: the passes of a configuration on a model. Returns 0, or throws.
struct TransformRequest : CommonRequest {
  ModelInput input;
  bool verify_each = true;
  bool timing = false;
  std::vector<std::string> dump_after;
  std::optional<std::string> dump_folder;
  std::optional<double> check_numerics;
  bool dry_run = false;
  bool overwrite = false;  ///< replace a result of other settings
};
int transform(const TransformRequest& request);

/// `mase train`.
struct TrainRequest : CommonRequest {
  ModelInput input;
  bool resume = false;
  bool overwrite = false;  ///< replace the training that the project holds
};
int train(const TrainRequest& request);

/// `mase search`.
struct SearchRequest : CommonRequest {
  ModelInput input;
  Tree setup = Tree::dict();  ///< keys of [search.strategy.setup] given on the command line
  bool dry_run = false;
};
int search(const SearchRequest& request);

/// `mase test`: accuracy and loss of a model; 1 when `min_accuracy` is not reached.
struct TestRequest : HardwareRequest {
  std::string split = "test";
  std::vector<std::string> levels{"quantized"};
  std::optional<std::string> hardware;  ///< emitted folder, for level rtl
  std::optional<std::int64_t> rows;     ///< first ones of the part
  bool macro = false;
  std::optional<double> min_accuracy;  ///< percent; exit 1 below
};
int test(const TestRequest& request);

/// `mase run`: the results of a model on .npy files.
struct RunRequest {
  std::string model;
  ModelInput input;
  std::string output;
  std::string level = "quantized";
  int threads = 1;
  bool overwrite = false;  ///< replace a file that the command reads
  bool json = false;
};
int run(const RunRequest& request);

/// `mase emit`: a checkpoint as a folder of hardware.
struct EmitRequest : HardwareRequest {
  Tree target = Tree::dict();  ///< options of add_hardware_metadata given on the command line
  Tree output = Tree::dict();  ///< options of the emit passes given there
  std::optional<std::string> synthesis;  ///< family to synthesise for: "xc7", "ice40", "ecp5"
  bool per_instance = false;             ///< synthesise every instance by itself too
  std::optional<std::string> placement;  ///< family to place and route for: "ecp5", "ice40"
  std::optional<std::string> vivado;     ///< what Vivado implements: "core", or "axi", its wrapper
  std::optional<std::string> reload_image;  ///< write only this: weights for the hardware there is
};
int emit(const EmitRequest& request);

/// `mase simulate`: the emitted hardware against the integer model; 1 for any difference.
struct SimulateRequest : HardwareRequest {
  std::optional<std::string> hardware;  ///< emitted folder; none: that of the project
  std::string split = "test";
  std::vector<std::string> inputs;     ///< .npy files instead of a data set
  std::optional<std::int64_t> random;  ///< so many random frames instead
  std::optional<std::int64_t> rows;    ///< at most so many frames
  std::optional<double> stall;  ///< probability per cycle that a side pauses; none: every kind
  bool trace = false, coverage = false;
  int optimise = 2;                        ///< g++ -O level of the simulator
  std::optional<std::string> fault;        ///< "", "FILE", "FILE:WORD:BIT", or "all"
  std::optional<std::int64_t> mutate;      ///< so many flipped bits, one after another
  std::optional<std::int64_t> mutate_rtl;  ///< so many changes of the SystemVerilog
  bool reload =
      false;  ///< load the weights through the AXI wrapper of another checkpoint's hardware
};
int simulate(const SimulateRequest& request);

/// `mase quantize`: a number format applied to an array.
struct QuantizeRequest {
  std::string input, output, format = "integer", profile;
  std::vector<std::string> set;  ///< "width=8"
  std::optional<std::string> codes;
  bool overwrite = false;  ///< replace a file that the command reads
  bool json = false;
};
int quantize(const QuantizeRequest& request);

/// `mase show`: the graph of a model as text, table, JSON or picture.
struct ShowRequest {
  std::string model;
  ModelInput input;
  std::optional<std::string> format;  ///< none: what the ending of `output` says, or text
  std::optional<std::string> output;
  std::optional<std::string> dataset;
  bool overwrite = false;  ///< replace a file that the command reads
};
int show(const ShowRequest& request);

/// What `mase study` does.
enum class StudyAction { list, show, write, remove };

/// `mase study`: the studies of a database, of searches and of Optuna alike.
struct StudyRequest {
  StudyAction action = StudyAction::list;
  std::string storage;                ///< URL or file
  std::optional<std::string> name;    ///< of a study; may be left out where there is only one
  std::optional<std::string> output;  ///< write: a .csv or .json file; none: CSV to stdout
  std::int64_t most = 10;             ///< show: trials, at most
  bool overwrite = false;             ///< replace a file that the command reads
  bool json = false;
};
int study(const StudyRequest& request);

/// `mase init`: a configuration for a model, with comments on what it has.
struct InitRequest {
  std::string model;
  ModelInput input;
  std::optional<std::string> dataset;
  std::optional<std::string> output;  ///< none: stdout
  std::int64_t width = 8;             ///< bits of data, weights and biases
  bool search = false;                ///< a search over formats in place of one choice
  std::string data_dir;               ///< folder with the data set's files; "": the shipped sample
  bool overwrite = false;
};
int init(const InitRequest& request);

/// `mase diff`: two models compared; 1 when they differ in a node or a tensor.
struct DiffRequest {
  std::string first, second;
  ModelInput input;
  std::optional<std::string> dataset;
  bool all = false;
  bool json = false;
};
int diff(const DiffRequest& request);

/// `mase report`: one page of what the commands of a project have recorded.
struct ReportRequest {
  std::string project;                ///< its folder
  std::optional<std::string> output;  ///< file; none: report.html in that folder
  bool overwrite = false;             ///< replace a file that the command reads
  bool json = false;
};
int report(const ReportRequest& request);

/// `mase export`: the tensors of a model, and what its formats make of them, as .npy files.
struct ExportRequest {
  std::string model, folder;
  ModelInput input;
  bool overwrite = false;  ///< write into a folder that has files
  bool json = false;
};
int export_tensors(const ExportRequest& request);

/// `mase list`: one of the tables of the program.
struct ListRequest {
  std::string what = "passes";
  std::optional<std::string> name;
  bool json = false;
  bool all = false;       ///< of one entry also the tables that a rule sums up
  bool markdown = false;  ///< the list as a page of docs/reference; then without name and json
};
int list(const ListRequest& request);
std::vector<std::string> list_names();  ///< what there is to list: "passes", "formats", ...
std::vector<std::string> listed(const std::string& what);  ///< names of the entries of a list

int doctor(bool json);

}  // namespace mase::driver
