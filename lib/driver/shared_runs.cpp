// SPDX-License-Identifier: Apache-2.0
// Results travel as a line of JSON, which describes the arrays, and their bytes.
#include "driver/shared_runs.hpp"

#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/text.hpp"

namespace mase::driver {
namespace {

std::string message_of(const ir::Results& results) {
  Tree header = Tree::list();
  std::string bytes;
  for (const auto& [name, array] : results) {
    Tree entry = Tree::dict();
    entry["name"] = name;
    entry["dtype"] = dtype_name(array.dtype());
    entry["shape"] = Tree::list_of(array.shape());
    header.push_back(std::move(entry));
    bytes.append(reinterpret_cast<const char*>(array.bytes()), array.byte_size());
  }
  return to_json(header, -1) + "\n" + bytes;
}

ir::Results results_in(const std::string& message) {
  const std::size_t end = message.find('\n');
  const char* next = message.data() + end + 1;
  ir::Results results;
  const Tree header = parse_json(message.substr(0, end), "results of a rank");
  for (const Tree& entry : header.as_list()) {
    Shape shape;
    for (const Tree& size : entry.at("shape").as_list()) shape.push_back(size.as_int());
    Array array(parse_dtype(entry.at("dtype").as_string()), shape);
    if (array.byte_size() > 0) std::memcpy(array.mutable_bytes(), next, array.byte_size());
    next += array.byte_size();
    results.emplace_back(entry.at("name").as_string(), std::move(array));
  }
  return results;
}

class SharedEvaluator final : public ir::Evaluator {
 public:
  SharedEvaluator(std::unique_ptr<ir::Evaluator> own, std::shared_ptr<Companions> companions)
      : own_(std::move(own)), companions_(std::move(companions)) {}

  ir::Results run(const std::vector<Array>& inputs) override {
    const int rank = next_;
    next_ = (next_ + 1) % companions_->size();
    if (rank != companions_->rank())
      return companions_->rank() == 0 ? results_in(companions_->take_from(rank)) : ir::Results();
    ir::Results results = own_->run(inputs);
    if (rank == 0) return results;
    companions_->give_to_first(message_of(results));
    return {};
  }
  ir::Results run(const std::vector<Array>& inputs, const ir::Observer& observer) override {
    return own_->run(inputs, observer);
  }

 private:
  std::unique_ptr<ir::Evaluator> own_;
  std::shared_ptr<Companions> companions_;
  int next_ = 0;  ///< the rank that makes the next run
};

std::string hash_of_weights(const ir::Graph& graph) {
  std::string text;
  for (const auto& [path, tensor] : graph.tensors)
    text += path + " " +
            sha256({reinterpret_cast<const char*>(tensor.value.bytes()), tensor.value.byte_size()});
  return sha256(text);
}

/// What two ranks have different, in words; "" if there is nothing.
std::string difference(const Tree& first, const Tree& other) {
  for (const char* hash : {"another data set", "another model", "other weights of the model"})
    if (first.at(hash) != other.at(hash)) return std::string(hash) + " than rank 0";
  std::vector<std::string> differing;
  const Tree &ours = first.at("settings"), &theirs = other.at("settings");
  const auto compare = [&](const std::string& name, const Tree* our, const Tree* their) {
    if (our && their && *our == *their) return;
    const auto text = [](const Tree* value) { return value ? to_json(*value, -1) : "nothing"; };
    differing.push_back(name + " = " + text(their) + ", and rank 0 " + text(our));
  };
  for (const auto& [name, value] : ours.as_dict()) compare(name, &value, theirs.find(name));
  for (const auto& [name, value] : theirs.as_dict())
    if (!ours.find(name)) compare(name, nullptr, &value);
  return join(differing, "; ");
}

}  // namespace

std::unique_ptr<ir::Evaluator> share_runs(std::unique_ptr<ir::Evaluator> own,
                                          std::shared_ptr<Companions> companions) {
  return std::make_unique<SharedEvaluator>(std::move(own), std::move(companions));
}

void check_agreement(Companions& companions, const Tree& settings, const ir::Graph& graph,
                     const std::string& data) {
  Tree own = Tree::dict();
  own["settings"] = settings;
  own["another data set"] = data;
  own["another model"] = sha256(ir::print(graph));
  own["other weights of the model"] = hash_of_weights(graph);
  const std::vector<std::string> all = companions.gather(to_json(own, -1));
  const Tree first = parse_json(all.front(), "settings of rank 0");
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::string found = difference(first, parse_json(all[rank], "settings of a rank"));
    if (!found.empty())
      config_error("rank " + std::to_string(rank) + " has " + found +
                   "; start all processes with the same arguments and files");
  }
}

}  // namespace mase::driver
