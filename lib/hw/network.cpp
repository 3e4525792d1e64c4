// Running controls: bits per stream, and calls only to controls whose state can change.
#include "hw/network.hpp"

#include <bit>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hw/module_table.hpp"

namespace mase::hw {
namespace {

using Bits = std::vector<std::uint64_t>;

std::size_t at(StreamId id) { return static_cast<std::size_t>(id); }
bool get(const Bits& bits, std::size_t i) { return bits[i / 64] >> i % 64 & 1; }
void set(Bits& bits, std::size_t i, bool value) {
  const std::uint64_t mask = std::uint64_t{1} << i % 64;
  bits[i / 64] = (bits[i / 64] & ~mask) | (value ? mask : 0);
}

/// Calls `visit` with the number of every bit that is set now.
template <class Visit>
void for_each_bit(std::uint64_t word, Visit visit) {
  for (; word != 0; word &= word - 1) visit(std::countr_zero(word));
}

}  // namespace

std::unique_ptr<Control> table_control(const Instance& instance) {
  const ModuleRow& row = module_row(instance.module);
  MASE_CHECK(row.control, "module " + row.name + " has no control");
  return row.control(instance.parameters);
}

Network::Network(const Design& design, const MakeControl& make) : design_(design) {
  for (const Instance& instance : design.instances) {
    nodes_.push_back({make(instance), input_streams_.size(), instance.inputs.size(),
                      output_streams_.size(), instance.outputs.size()});
    input_streams_.insert(input_streams_.end(), instance.inputs.begin(), instance.inputs.end());
    output_streams_.insert(output_streams_.end(), instance.outputs.begin(), instance.outputs.end());
  }
  taken_.resize(input_streams_.size());
  given_.resize(output_streams_.size());
  connect();
  for (const Node& node : nodes_) publish(node);
  for (StreamId id : design_.outputs) set(ready_, at(id), true);
}

void Network::connect() {
  const std::size_t streams = design_.streams.size();
  std::vector<int> producers(streams), consumers(streams);
  producer_.assign(streams, -1);
  consumer_.assign(streams, -1);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (StreamId id : design_.instances[n].inputs) consumer_.at(at(id)) = static_cast<int>(n);
    for (StreamId id : design_.instances[n].outputs) producer_.at(at(id)) = static_cast<int>(n);
  }
  for (StreamId id : output_streams_) ++producers[at(id)];
  for (StreamId id : input_streams_) ++consumers[at(id)];
  for (StreamId id : design_.inputs) ++producers.at(at(id));
  for (StreamId id : design_.outputs) ++consumers.at(at(id));
  for (std::size_t i = 0; i < streams; ++i)
    MASE_CHECK(producers[i] == 1 && consumers[i] == 1,
               "stream " + design_.streams[i].name + " needs one producer and one consumer");
  for (Bits* bits : {&valid_, &ready_, &moves_}) bits->assign((streams + 63) / 64, 0);
  awake_.assign((nodes_.size() + 63) / 64, ~std::uint64_t{0});
  if (nodes_.size() % 64 != 0) awake_.back() = (std::uint64_t{1} << nodes_.size() % 64) - 1;
  moved_.resize(streams);
}

bool Network::offered(StreamId input) const {
  if (input_interval == 0) return true;
  return moved(input) * input_interval <= cycle_ * design_.stream(input).beats();
}

void Network::publish(const Node& node) {
  const Control& control = *node.control;
  for (std::size_t i = 0; i < node.inputs; ++i)
    set(ready_, at(input_streams_[node.first_input + i]), control.ready(static_cast<int>(i)));
  for (std::size_t o = 0; o < node.outputs; ++o)
    set(valid_, at(output_streams_[node.first_output + o]), control.valid(static_cast<int>(o)));
}

void Network::clock(const Node& node) {
  for (std::size_t i = node.first_input; i < node.first_input + node.inputs; ++i)
    taken_[i] = get(moves_, at(input_streams_[i]));
  for (std::size_t o = node.first_output; o < node.first_output + node.outputs; ++o)
    given_[o] = get(moves_, at(output_streams_[o]));
  node.control->clock({taken_.data() + node.first_input, node.inputs},
                      {given_.data() + node.first_output, node.outputs});
}

std::int64_t Network::step() {
  for (StreamId id : design_.inputs) set(valid_, at(id), offered(id));
  std::int64_t beats = 0;
  for (std::size_t w = 0; w < moves_.size(); ++w) {
    moves_[w] = valid_[w] & ready_[w];
    for_each_bit(moves_[w], [&](int bit) {
      const std::size_t stream = w * 64 + static_cast<std::size_t>(bit);
      ++moved_[stream];
      ++beats;
      for (int node : {producer_[stream], consumer_[stream]})
        if (node >= 0) set(awake_, at(node), true);
    });
  }
  for (std::size_t w = 0; w < awake_.size(); ++w)
    for_each_bit(awake_[w], [&](int bit) {
      const std::size_t n = w * 64 + static_cast<std::size_t>(bit);
      clock(nodes_[n]);
      publish(nodes_[n]);
      if (nodes_[n].control->idle()) set(awake_, n, false);
    });
  ++cycle_;
  if (observe) observe();
  return beats;
}

std::string Network::blocked() const {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::vector<std::string> ports;
    for (StreamId id : design_.instances[n].inputs)
      if (get(valid_, at(id)) != get(ready_, at(id)))
        ports.push_back((get(valid_, at(id)) ? "does not take " : "waits for ") +
                        design_.stream(id).name);
    if (!ports.empty()) names.push_back(design_.instances[n].name + " " + join(ports, " and "));
  }
  return join(names, "; ");
}

}  // namespace mase::hw
