// SPDX-License-Identifier: Apache-2.0
// Writes, reads and checks the resumable state.
//
// Layout: the line "mase training state 3", the SHA-256 of the rest and a line end, the length of
// the JSON part and a line end, the JSON part, the moments as raw little-endian floats.
#include "torch/train/state.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "torch/train/schedule.hpp"

namespace mase::train {
namespace {

constexpr std::string_view magic = "mase training state 3\n";
constexpr std::size_t hash_size = 64;

[[noreturn]] void damaged(const std::string& what) {
  file_error("the resumable training state is damaged (" + what +
             "); resume from another checkpoint or start again");
}

std::string_view bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

Tree figures_tree(const data::Figures& figures) {
  Tree tree = Tree::dict();
  tree["loss"] = figures.loss;
  tree["rows"] = figures.rows;
  tree["figures"] = Tree::dict();
  for (const data::Figure& figure : figures.all) tree["figures"][figure.name] = figure.value;
  return tree;
}

data::Figures read_figures(const Tree& tree) {
  data::Figures figures{tree.at("rows").as_int(), tree.at("loss").as_double(), {}};
  for (const auto& [name, value] : tree.at("figures").as_dict())
    figures.all.push_back({name, value.as_double(), nullptr});
  return figures;
}

/// The options of a run in one process with the same batches.
Tree options_tree(backend::TrainOptions options) {
  if (options.batch_size > std::numeric_limits<int>::max() / options.ranks.size)
    config_error("batch_size = " + std::to_string(options.batch_size) + " is too large for " +
                 std::to_string(options.ranks.size) + " processes");
  options.batch_size *= options.ranks.size;
  return write_fields(options);
}

Tree header_of(const State& state, const backend::TrainOptions& options) {
  Tree tree = Tree::dict();
  tree["step"] = state.step;
  tree["epoch"] = state.epoch;
  tree["waited"] = state.waited;
  tree["best"] = state.has_best ? figures_tree(state.best) : Tree();
  tree["data"] = state.data_hash;
  tree["weights"] = state.weights_hash;
  tree["options"] = options_tree(options);
  tree["learned_steps"] = Tree::list();
  for (const float value : state.learned_steps)
    tree["learned_steps"].push_back(Tree(static_cast<double>(value)));
  tree["moments"] = Tree::list();
  for (const auto& moment : state.moments) tree["moments"].push_back(Tree(moment.size()));
  return tree;
}

/// Checks length and hash, and returns the JSON part and the bytes after it.
std::pair<Tree, std::string_view> open_state(std::string_view bytes) {
  if (!bytes.starts_with(magic)) damaged("its first line is wrong");
  bytes.remove_prefix(magic.size());
  if (bytes.size() < hash_size + 1) damaged("truncated");
  const std::string_view hash = bytes.substr(0, hash_size);
  bytes.remove_prefix(hash_size + 1);
  if (sha256(bytes) != hash) damaged("its checksum is wrong");
  const std::size_t end = bytes.find('\n');
  const auto length = end == bytes.npos ? std::nullopt : parse_int(bytes.substr(0, end));
  if (!length || *length < 0) damaged("no header");
  bytes.remove_prefix(end + 1);
  const auto size = static_cast<std::size_t>(*length);
  if (size > bytes.size()) damaged("truncated");
  return {parse_json(bytes.substr(0, size), "training state"), bytes.substr(size)};
}

void read_moments(const Tree& sizes, std::string_view bytes, State& state) {
  for (const Tree& item : sizes.as_list()) {
    std::vector<float> values(static_cast<std::size_t>(item.as_int()));
    const std::size_t size = values.size() * sizeof(float);
    if (size > bytes.size()) damaged("truncated");
    std::memcpy(values.data(), bytes.data(), size);
    bytes.remove_prefix(size);
    state.moments.push_back(std::move(values));
  }
  if (!bytes.empty()) damaged("too long");
}

bool may_change(const std::string& option, const backend::TrainOptions& options) {
  if (option == "log_every_n_steps" || option == "checkpoint_every_n_steps") return true;
  if (option == "early_stop") return true;
  return (option == "max_epochs" || option == "max_steps") && !depends_on_length(options);
}

/// Checks the options. An option that is newer than the checkpoint had its default value.
void check_options(const Tree& before, const backend::TrainOptions& options) {
  std::vector<std::string> changed;
  const Tree now_tree = options_tree(options), defaults = write_fields(backend::TrainOptions{});
  for (const auto& [name, now] : now_tree.as_dict()) {
    const Tree* stored = before.find(name);
    const Tree& was = stored ? *stored : defaults.at(name);
    if (may_change(name, options) || was == now) continue;
    changed.push_back(name + " (was " + to_json(was, -1) + ", is " + to_json(now, -1) + ")");
  }
  if (!changed.empty())
    config_error("cannot resume: options changed since the checkpoint: " + join(changed, ", ") +
                 (options.ranks.several() ? "; batch_size counts the rows of all processes" : "") +
                 "; use the same options or start a new run");
}

}  // namespace

std::string weights_hash(const ir::Graph& graph) {
  std::string text;
  for (const auto& [path, tensor] : graph.tensors) {
    const Array& value = tensor.value;
    text += path + " " + std::string(dtype_name(value.dtype())) + shape_text(value.shape());
    text += sha256({reinterpret_cast<const char*>(value.bytes()), value.byte_size()});
  }
  return sha256(text);
}

std::string write_state(const State& state, const backend::TrainOptions& options) {
  const std::string header = to_json(header_of(state, options), -1);
  std::string rest = std::to_string(header.size()) + "\n" + header;
  for (const auto& moment : state.moments) rest += bytes_of(moment);
  return std::string(magic) + sha256(rest) + "\n" + rest;
}

State read_state(const std::string& bytes, const backend::TrainOptions& options,
                 const std::string& data_hash, const data::Dataset& data, const ir::Graph& graph) {
  const auto [header, rest] = open_state(bytes);
  State state;
  state.step = header.at("step").as_int();
  state.epoch = header.at("epoch").as_int();
  state.waited = header.at("waited").as_int();
  state.data_hash = header.at("data").as_string();
  state.weights_hash = header.at("weights").as_string();
  const Tree& best = header.at("best");
  state.has_best = !best.is_null();
  if (state.has_best) state.best = read_figures(best);
  for (const Tree& item : header.at("learned_steps").as_list())
    state.learned_steps.push_back(static_cast<float>(item.as_double()));
  read_moments(header.at("moments"), rest, state);
  check_options(header.at("options"), options);
  if (state.data_hash != data_hash)
    file_error("cannot resume: the data set " + data.name +
               (options.teacher ? " or the teacher" : "") +
               " changed since the checkpoint (its content or split has another hash)");
  if (state.weights_hash != weights_hash(graph))
    file_error("cannot resume: the training state belongs to other weights than the model's");
  return state;
}

}  // namespace mase::train
