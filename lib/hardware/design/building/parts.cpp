// SPDX-License-Identifier: Apache-2.0
// Cutting a network at its FIFOs, running the parts in the order in which beats come to them, and
// joining parts again where a FIFO was full.
#include "hardware/design/building/parts.hpp"

#include <algorithm>
#include <memory>

#include "hardware/design/building/node_groups.hpp"
#include "hardware/design/building/part_runner.hpp"
#include "hardware/design/modules/fifo.hpp"

namespace mase::design {
namespace {

constexpr int most_attempts = 48;  ///< at cutting

std::size_t index_of(StreamId id) { return static_cast<std::size_t>(id); }

/// A network in parts, and what is known of them.
class Parts {
 public:
  explicit Parts(const Network& network)
      : network_(network), design_(network.design()), watches_(network.watched()) {
    const std::size_t streams = design_.streams.size(), nodes = design_.instances.size();
    producers_.assign(streams, nodes);
    consumers_.assign(streams, nodes);
    for (std::size_t n = 0; n < nodes; ++n) {
      const Instance& instance = design_.instances[n];
      fresh_.push_back(network.maker()(instance));
      for (StreamId id : instance.inputs) consumers_[index_of(id)] = n;
      for (StreamId id : instance.outputs) producers_[index_of(id)] = n;
    }
    for (std::size_t s = 0; s < streams; ++s)
      cut_.push_back(producers_[s] < nodes && consumers_[s] < nodes &&
                     is_a<FifoModule>(design_.instances[consumers_[s]]));
  }

  std::optional<Playback> run() {
    for (const auto& handshake : fresh_)
      if (!handshake->copy()) return std::nullopt;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      traces_.assign(design_.streams.size(), std::nullopt);
      most_.assign(watches_.size(), {});
      const PartRunner::End end = run_all();
      if (end == PartRunner::End::wanders) return std::nullopt;
      if (end == PartRunner::End::repeats) return playback();
    }
    return std::nullopt;
  }

 private:
  /// A part that has been run.
  struct Done {
    std::shared_ptr<const NetworkPart> part;
    std::vector<Trace> inputs;
    PartRun run;
  };

  PartRunner::End run_all() {
    for (std::vector<std::size_t>& nodes : node_groups(design_.instances.size(), links())) {
      const auto part = std::make_shared<const NetworkPart>(part_of(std::move(nodes)));
      std::vector<Trace> inputs;
      for (std::size_t i = part->ports; i < part->design.inputs.size(); ++i)
        inputs.push_back(*traces_[index_of(global(*part, part->design.inputs[i]))]);
      if (take_known(*part, inputs)) continue;
      PartRunner runner(*part, inputs, network_of(*part));
      const PartRunner::End end = runner.run();
      if (end == PartRunner::End::refuses) cut_[index_of(global(*part, runner.refused()))] = false;
      if (end != PartRunner::End::repeats) return end;
      done_.push_back({part, inputs, runner.take()});
      keep(*part, done_.back().run, 0);
    }
    return PartRunner::End::repeats;
  }

  static StreamId global(const NetworkPart& part, StreamId id) {
    return part.streams[index_of(id)];
  }

  Network network_of(const NetworkPart& part) const {
    std::size_t next = 0;
    Network network(part.design,
                    [&](const Instance&) { return fresh_[part.nodes[next++]]->copy(); });
    network.input_interval = network_.input_interval;
    for (const std::size_t w : part.watches) {
      const auto local = [&](StreamId id) {
        return static_cast<StreamId>(std::find(part.streams.begin(), part.streams.end(), id) -
                                     part.streams.begin());
      };
      network.watch(local(watches_[w].in), local(watches_[w].out));
    }
    return network;
  }

  /// What the part did is what it did so many cycles earlier.
  void keep(const NetworkPart& part, const PartRun& run, std::int64_t later) {
    for (std::size_t o = 0; o < run.outputs.size(); ++o)
      traces_[index_of(global(part, part.design.outputs[o]))] = run.outputs[o].later(later);
    for (std::size_t p = 0; p < run.ports.size(); ++p)
      traces_[index_of(global(part, part.design.inputs[p]))] = run.ports[p].later(later);
    for (std::size_t w = 0; w < run.most.size(); ++w) {
      auto& most = most_[part.watches[w]] = run.most[w];
      for (Playback::Most& entry : most) entry.cycle += later;
    }
  }

  bool take_known(const NetworkPart& part, const std::vector<Trace>& inputs) {
    for (const Done& done : done_)
      if (const auto later = shift(done, part, inputs)) {
        keep(part, done.run, *later);
        return true;
      }
    return false;
  }

  /// By how many cycles the part does what another one did, if it does.
  std::optional<std::int64_t> shift(const Done& done, const NetworkPart& part,
                                    const std::vector<Trace>& inputs) const {
    if (done.inputs.size() != inputs.size() || !same(*done.part, part)) return std::nullopt;
    std::optional<std::int64_t> later;
    std::int64_t first = forever;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].shifted(done.inputs[i])) return std::nullopt;
      if (inputs[i].empty()) continue;
      const std::int64_t difference = inputs[i].first() - done.inputs[i].first();
      if (later.value_or(difference) != difference) return std::nullopt;
      later = difference;
      first = std::min({first, inputs[i].first(), done.inputs[i].first()});
    }
    if (later.value_or(0) == 0) return 0;
    // Before the first beat a part must have come to rest, and given nothing.
    if (part.ports > 0 || done.run.settled > first) return std::nullopt;
    for (const Trace& output : done.run.outputs)
      if (!output.empty() && output.first() < std::max(first, first - *later)) return std::nullopt;
    return later;
  }

  bool same(const NetworkPart& a, const NetworkPart& b) const {
    if (a.nodes.size() != b.nodes.size() || a.ports != b.ports ||
        a.watches.size() != b.watches.size() || a.design.inputs != b.design.inputs ||
        a.design.outputs != b.design.outputs)
      return false;
    if (a.ports > 0 && a.nodes != b.nodes) return false;
    for (std::size_t n = 0; n < a.nodes.size(); ++n) {
      const Instance &one = a.design.instances[n], &other = b.design.instances[n];
      if (one.inputs != other.inputs || one.outputs != other.outputs ||
          !fresh_[a.nodes[n]]->equals(*fresh_[b.nodes[n]]))
        return false;
    }
    return true;
  }

  std::vector<NodeLink> links() const {
    const std::size_t nodes = design_.instances.size();
    std::vector<NodeLink> result;
    for (std::size_t s = 0; s < cut_.size(); ++s)
      if (producers_[s] < nodes && consumers_[s] < nodes)
        result.push_back({producers_[s], consumers_[s], cut_[s]});
    return result;
  }

  NetworkPart part_of(std::vector<std::size_t> nodes) const {
    NetworkPart part;
    part.nodes = std::move(nodes);
    std::vector<StreamId> local(design_.streams.size(), -1);
    const auto number = [&](StreamId id) {
      if (local[index_of(id)] < 0) {
        local[index_of(id)] = static_cast<StreamId>(part.streams.size());
        part.streams.push_back(id);
        const Stream& stream = design_.stream(id);
        part.design.streams.push_back({"", stream.lanes, stream.type, stream.elements, -1});
      }
      return local[index_of(id)];
    };
    for (const std::size_t n : part.nodes) {
      Instance instance = design_.instances[n];
      for (StreamId& id : instance.inputs) id = number(id);
      for (StreamId& id : instance.outputs) id = number(id);
      part.design.instances.push_back(std::move(instance));
    }
    add_border(part);
    for (std::size_t w = 0; w < watches_.size(); ++w)
      if (local[index_of(watches_[w].in)] >= 0 && local[index_of(watches_[w].out)] >= 0)
        part.watches.push_back(w);
    return part;
  }

  /// Its inputs, those of the network first, and its outputs.
  void add_border(NetworkPart& part) const {
    const auto within = [&](std::size_t node) {
      return std::binary_search(part.nodes.begin(), part.nodes.end(), node);
    };
    std::vector<StreamId> given;
    for (std::size_t s = 0; s < part.streams.size(); ++s) {
      const auto id = static_cast<StreamId>(s);
      const std::size_t producer = producers_[index_of(part.streams[s])];
      if (!within(consumers_[index_of(part.streams[s])])) part.design.outputs.push_back(id);
      if (producer == design_.instances.size()) part.design.inputs.push_back(id);
      if (producer < design_.instances.size() && !within(producer)) given.push_back(id);
    }
    part.ports = part.design.inputs.size();
    part.design.inputs.insert(part.design.inputs.end(), given.begin(), given.end());
  }

  std::optional<Playback> playback() {
    std::vector<std::pair<StreamId, Trace>> ports;
    for (const auto* streams : {&design_.inputs, &design_.outputs})
      for (StreamId id : *streams) ports.emplace_back(id, *traces_[index_of(id)]);
    return Playback(design_.streams.size(), ports, std::move(most_), network_.input_interval);
  }

  const Network& network_;
  const Design& design_;
  std::vector<Network::Watched> watches_;
  std::vector<std::unique_ptr<Handshake>> fresh_;   ///< of every node, as it starts
  std::vector<std::size_t> producers_, consumers_;  ///< of every stream; the number of nodes: none
  std::vector<bool> cut_;                           ///< streams between parts
  std::vector<std::optional<Trace>> traces_;        ///< of streams between parts and of ports
  std::vector<std::vector<Playback::Most>> most_;
  std::vector<Done> done_;
};

}  // namespace

std::optional<Playback> run_parts(const Network& network) { return Parts(network).run(); }

}  // namespace mase::design
