// SPDX-License-Identifier: Apache-2.0
// The subcommands. The command line fills a plain struct, the request, with what each one needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "driver/onnx_file.hpp"

namespace mase::driver {

/// The options that train, test and transform share.
struct CommonRequest {
  std::string config_path;
  Tree settings = Tree::dict();  ///< settings given on the command line
  bool json = false;
  bool quiet = false;         ///< print results and warnings only
  bool verbose = false;       ///< also print the settings, and all that the passes found
  bool all_settings = false;  ///< the settings table includes settings at their defaults
};

/// The options of commands that run external tools on emitted hardware.
struct HardwareRequest : CommonRequest {
  bool allow_external = false;  ///< allow SystemVerilog that came with a checkpoint
};

/// How to read a model file: its example inputs, and the classes and functions that stay one node
/// in addition to the layers of torch.nn.
struct ModelInput {
  std::vector<std::string> inputs;          ///< --input: .npy files, with or without NAME=
  std::vector<std::string> input_shapes;    ///< --input-shape: "[NAME=]4,3,32,32", see made_input
  std::vector<std::string> texts;           ///< --text: sentences, which a tokenizer turns to ids
  std::optional<std::string> tokenizer;     ///< --tokenizer of these; default: that of the model
  std::optional<int> max_token_len;         ///< --max-token-len; default: the longest text
  std::vector<std::string> fixed;           ///< --fix: "NAME=VALUE", arguments made constant
  std::string submodule;                    ///< --submodule: the part to import
  std::vector<std::string> leaf_modules;    ///< --leaf-module: class names
  std::vector<std::string> leaf_functions;  ///< --leaf-function: function names
  std::vector<std::string> custom_ops;      ///< --custom-ops: files with tables [custom_ops.NAME]
  std::optional<std::int64_t> most_operators;  ///< --max-operators
};

/// `mase transform` runs the passes of a configuration on a model. Returns 0, or throws.
struct TransformRequest : CommonRequest {
  ModelInput input;
  bool verify_each = true;
  bool timing = false;
  std::vector<std::string> dump_after;
  std::optional<std::string> dump_folder;
  std::optional<double> check_numerics;
  bool dry_run = false;
  bool overwrite = false;                  ///< replace a result from other settings
  std::optional<std::string> export_path;  ///< a file (model_files.hpp) that gets the result, too
  OnnxFileRequest onnx;
  int nproc = 1;         ///< processes to start on this machine
  double timeout = 600;  ///< seconds to wait for another process
};
int transform(const TransformRequest& request);

/// `mase train`.
struct TrainRequest : CommonRequest {
  ModelInput input;
  bool resume = false;
  bool overwrite = false;  ///< replace the project's previous training
  int nproc = 1;           ///< processes to start on this machine
  double timeout = 600;    ///< seconds to wait for another process
};
int train(const TrainRequest& request);

/// `mase search`.
struct SearchRequest : CommonRequest {
  ModelInput input;
  Tree setup = Tree::dict();   ///< keys of [search.strategy.setup] given on the command line
  Tree launch = Tree::dict();  ///< LaunchOptions (launch/launch.hpp) given there
  bool dry_run = false;
  bool trials_only = false;  ///< write no results, since another process does
  bool print = false;        ///< show the commands of the launch, and start nothing
};
int search(const SearchRequest& request);

/// `mase test` measures accuracy and loss of a model. Returns 1 if `min_accuracy` is not reached.
struct TestRequest : HardwareRequest {
  std::string split = "test";
  std::vector<std::string> levels{"quantized"};
  std::optional<std::string> hardware;  ///< folder of emitted hardware, for level rtl
  std::optional<std::int64_t> rows;     ///< use only so many first rows of the part
  bool macro = false;
  std::optional<double> min_accuracy;  ///< in percent
  std::optional<double> min_sqnr;      ///< in dB, of every output, for the task without labels
  std::vector<std::string> require;    ///< bounds on figures: "mae <= 0.1"
  int nproc = 1;                       ///< processes to start on this machine
  double timeout = 600;                ///< seconds to wait for another process
};
int test(const TestRequest& request);

/// `mase run` runs a model on .npy files or on sentences.
struct RunRequest {
  std::string model;
  ModelInput input;
  std::optional<std::string> output;  ///< default: none, where classes of texts are printed
  std::string level = "quantized";
  int threads = 1;
  std::string device = "cpu";
  int nproc = 1;           ///< processes to start on this machine, one per device of its layouts
  bool overwrite = false;  ///< replace a file that the command reads
  bool json = false;
};
int run(const RunRequest& request);

/// `mase emit` writes a checkpoint as a folder of hardware.
struct EmitRequest : HardwareRequest {
  Tree target = Tree::dict();  ///< options of add_hardware_metadata given on the command line
  Tree output = Tree::dict();  ///< options of the emit passes given there
  std::optional<std::string> synthesis;  ///< family to synthesise for: "xc7", "ice40", "ecp5"
  bool per_instance = false;             ///< also synthesise every instance by itself
  std::optional<std::string> placement;  ///< family to place and route for: "ecp5", "ice40"
  std::optional<std::string> vivado;     ///< implement with Vivado: "core", or "axi", its wrapper
  std::optional<std::string> reload_image;  ///< write only this file: weights for existing hardware
};
int emit(const EmitRequest& request);

/// `mase simulate` compares emitted hardware with the integer model. Returns 1 for a difference.
struct SimulateRequest : HardwareRequest {
  std::optional<std::string> hardware;  ///< emitted folder; default: that of the project
  std::string split = "test";
  std::vector<std::string> inputs;     ///< .npy files instead of a data set
  std::vector<std::string> texts;      ///< sentences instead, for the tokenizer of the settings
  std::optional<std::int64_t> random;  ///< number of random frames instead
  std::optional<std::int64_t> rows;    ///< maximum number of frames
  std::optional<double> stall;  ///< probability per cycle that a side pauses; unset: every kind
  bool trace = false, coverage = false;
  int optimise = 2;                        ///< g++ -O level of the simulator
  std::optional<std::string> fault;        ///< "", "FILE", "FILE:WORD:BIT", or "all"
  std::optional<std::int64_t> mutate;      ///< number of bits to flip, one after another
  std::optional<std::int64_t> mutate_rtl;  ///< number of changes to the SystemVerilog
  bool reload =
      false;  ///< load the weights through the AXI wrapper of another checkpoint's hardware
};
int simulate(const SimulateRequest& request);

/// `mase quantize` applies a number format to an array.
struct QuantizeRequest {
  std::string input, output, format = "integer", profile;
  std::vector<std::string> set;  ///< "width=8"
  std::optional<std::string> codes;
  bool overwrite = false;  ///< replace a file that the command reads
  bool json = false;
};
int quantize(const QuantizeRequest& request);

/// `mase show` writes the graph of a model as text, table, JSON or picture.
struct ShowRequest {
  std::string model;
  ModelInput input;
  std::optional<std::string> format;  ///< default: from the extension of `output`, or text
  std::optional<std::string> output;
  Tree data = Tree::dict();  ///< data set and its options given on the command line
  bool overwrite = false;    ///< replace a file that the command reads
};
int show(const ShowRequest& request);

/// What `mase study` does.
enum class StudyAction { list, show, write, remove };

/// `mase study` works on the studies of a database, written by a search or by Optuna.
struct StudyRequest {
  StudyAction action = StudyAction::list;
  std::string storage;                ///< URL or file
  std::optional<std::string> name;    ///< name of the study; optional if there is only one
  std::optional<std::string> output;  ///< write: a .csv or .json file; default: CSV to stdout
  std::int64_t most = 10;             ///< show: maximum number of trials
  bool overwrite = false;             ///< replace a file that the command reads
  bool json = false;
};
int study(const StudyRequest& request);

/// `mase data` shows what is in a data set.
struct DataRequest {
  std::string dataset;
  Tree options = Tree::dict();         ///< data::DataOptions given on the command line
  std::optional<std::string> picture;  ///< a PNG file for samples of its images
  bool overwrite = false;              ///< replace an existing picture
  bool json = false;
};
int data(const DataRequest& request);

/// `mase init` writes a configuration for a model, with comments about its layers.
struct InitRequest {
  std::string config_path;       ///< a file whose settings the new one keeps; "": none
  Tree settings = Tree::dict();  ///< settings given on the command line
  ModelInput input;
  std::optional<std::string> output;  ///< default: stdout
  std::int64_t width = 8;             ///< bits of data, weights and biases
  bool search = false;                ///< also write a search over formats
  bool overwrite = false;
};
int init(const InitRequest& request);

/// `mase diff` compares two models. Returns 1 if they differ in a node or a tensor.
struct DiffRequest {
  std::string first, second;
  ModelInput input;
  Tree data = Tree::dict();  ///< data set and its options given on the command line
  bool all = false;
  bool json = false;
};
int diff(const DiffRequest& request);

/// `mase report` writes a page with the results that the commands of a project have recorded.
struct ReportRequest {
  std::string project;                ///< its folder
  std::optional<std::string> output;  ///< file; default: report.html in that folder
  bool overwrite = false;             ///< replace a file that the command reads
  bool json = false;
};
int report(const ReportRequest& request);

/// `mase export` writes a model's tensors and their quantized values and codes as .npy files.
struct ExportRequest {
  std::string model, folder;
  ModelInput input;
  bool overwrite = false;  ///< write into a folder that is not empty
  bool json = false;
};
int export_tensors(const ExportRequest& request);

/// `mase convert` writes a model as a file of the kind that its name ends in (model_files.hpp).
struct ConvertRequest {
  std::string model, output;
  ModelInput input;
  OnnxFileRequest onnx;
  bool overwrite = false;  ///< replace an existing file
  bool json = false;
};
int convert(const ConvertRequest& request);

/// `mase tokenize` makes ids of texts, or texts of ids.
struct TokenizeRequest {
  std::string tokenizer;            ///< tokenizer.json, or a folder that has it
  std::vector<std::string> texts;   ///< with `decode`: ids, separated by spaces
  std::optional<std::string> file;  ///< further texts, one on each line
  bool pair = false;                ///< two texts belong together: arguments, or parts of a line
  bool decode = false;
  bool special = true;  ///< add special tokens; show those that are decoded if it is false
  bool time = false;    ///< print how long it took, not the result
  bool json = false;
};
int tokenize(const TokenizeRequest& request);

/// `mase list` prints one of the program's tables.
struct ListRequest {
  std::string what = "passes";
  std::optional<std::string> name;
  bool json = false;
  bool all = false;       ///< for one entry, print also the tables that a rule summarizes
  bool markdown = false;  ///< print a page of docs/reference; excludes name and json
};
int list(const ListRequest& request);
std::vector<std::string> list_names();  ///< names of the lists: "passes", "formats", ...
std::vector<std::string> listed(const std::string& what);  ///< names of the entries of a list

int doctor(bool json);

}  // namespace mase::driver
