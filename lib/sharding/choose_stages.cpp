// SPDX-License-Identifier: Apache-2.0
// Dynamic programming over cuts. The time of a part of the graph is bounded from below by those of
// its pieces, and computed only if the best pipeline so far has that part.
#include "sharding/choose_stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "sharding/known_sizes.hpp"

namespace mase::sharding {
namespace {

/// The last stage sends the results to all others. A size that follows from shapes is known to all.
void require_results_to_send(const ir::Graph& graph) {
  const KnownSizes sizes(graph);
  for (const ir::NodeId id : graph.inputs(graph.output())) {
    const ir::Node& node = graph.node(id);
    if (node.kind == ir::NodeKind::placeholder || node.kind == ir::NodeKind::get_attr ||
        node.info.is_tensor() || sizes.integer(id))
      continue;
    config_error("stages: the result '" + node.name + "' is " +
                 (node.info.elements.empty() ? "a number" : "a list") +
                 ", but stages send each other tensors only; leave stages out, or return " +
                 (node.info.elements.empty() ? "a tensor" : "its tensors one by one"));
  }
}

constexpr double never = std::numeric_limits<double>::infinity();

/// The nodes that stages share out, and where they may be cut.
class Cuts {
 public:
  Cuts(const ir::Graph& graph, const Demands& demands, const PipelineOptions& options)
      : graph_(graph) {
    for (const ir::NodeId id : whole_graph(graph).nodes)
      if (graph.node(id).kind != ir::NodeKind::placeholder) {
        place_[id] = nodes_.size();
        nodes_.push_back(id);
      }
    find_readers();
    choose(demands, options.most_cuts);
  }

  /// The parts between cuts are pieces: piece i begins at cut i and ends at cut i + 1.
  std::size_t pieces() const { return at_.size() - 1; }

  GraphPart part(std::size_t begin, std::size_t end) const {
    GraphPart part;
    for (std::size_t place = at_[begin]; place < at_[end]; ++place) {
      part.nodes.push_back(nodes_[place]);
      if (!readers_[place].empty() && readers_[place].back() >= at_[end])
        part.leaving.insert(nodes_[place]);
    }
    return part;
  }

  /// The bytes of each result that this part reads from others.
  std::vector<double> received(std::size_t begin, std::size_t end) const {
    std::vector<double> all;
    for (std::size_t place = 0; place < at_[begin]; ++place) {
      const auto first = std::ranges::lower_bound(readers_[place], at_[begin]);
      if (first != readers_[place].end() && *first < at_[end]) all.push_back(bytes(place));
    }
    return all;
  }

 private:
  /// The places of the nodes that read each result, in ascending order.
  void find_readers() {
    readers_.resize(nodes_.size());
    for (std::size_t place = 0; place < nodes_.size(); ++place)
      for (const Operand& operand : operands_of(graph_, graph_.node(nodes_[place])))
        if (const auto source = place_.find(operand.source); source != place_.end())
          readers_[source->second].push_back(place);
    // Numbers and lists stay where they are made, whoever reads them.
    for (std::size_t place = 0; place < nodes_.size(); ++place) {
      if (graph_.node(nodes_[place]).info.is_tensor()) continue;
      const std::size_t last = last_user(nodes_[place], place);
      for (std::size_t between = place + 1; between <= last; ++between) uncut_.insert(between);
    }
  }

  /// The last place that depends on a number or a list, also through numbers of other nodes.
  std::size_t last_user(ir::NodeId id, std::size_t place) const {
    for (const ir::NodeId user : graph_.users(id)) {
      const auto found = place_.find(user);
      place = std::max(place, found == place_.end() ? last_user(user, place) : found->second);
    }
    return place;
  }

  double bytes(std::size_t place) const {
    const ir::ValueInfo& info = graph_.node(nodes_[place]).info;
    return static_cast<double>(numel(info.shape)) * static_cast<double>(size_of(info.dtype));
  }

  /// The bytes that cross a cut in front of each place; infinite where none may be.
  std::vector<double> crossing() const {
    std::vector<double> change(nodes_.size() + 1, 0.0);
    for (std::size_t place = 0; place < nodes_.size(); ++place)
      if (!readers_[place].empty() && graph_.node(nodes_[place]).info.is_tensor()) {
        change[place + 1] += bytes(place);
        change[readers_[place].back() + 1] -= bytes(place);
      }
    for (std::size_t place = 1; place < change.size(); ++place) change[place] += change[place - 1];
    for (const std::size_t place : uncut_) change[place] = never;
    return change;
  }

  /// All places, or the best one in each run of equal work.
  void choose(const Demands& demands, std::size_t most) {
    const std::vector<double> cost = crossing();
    std::vector<double> work{0};
    for (const ir::NodeId id : nodes_) work.push_back(work.back() + demands.flops(graph_.node(id)));
    const bool all = nodes_.size() <= most + 1 || work.back() == 0;
    std::map<std::size_t, std::size_t> best;
    for (std::size_t place = 1; place < nodes_.size(); ++place) {
      if (std::isinf(cost[place])) continue;
      const double share = work[place] / work.back() * static_cast<double>(most);
      const std::size_t run = all ? place : std::min(static_cast<std::size_t>(share), most - 1);
      const auto [found, is_new] = best.try_emplace(run, place);
      if (!is_new && cost[place] < cost[found->second]) found->second = place;
    }
    at_.push_back(0);
    for (const auto& [run, place] : best) at_.push_back(place);
    at_.push_back(nodes_.size());
  }

  const ir::Graph& graph_;
  std::vector<ir::NodeId> nodes_;
  std::map<ir::NodeId, std::size_t> place_;
  std::vector<std::vector<std::size_t>> readers_;
  std::set<std::size_t> uncut_;
  std::vector<std::size_t> at_;  ///< the first place of each piece, and the end
};

/// A way to compute the pieces up to a cut in some stages, which no other one beats in both times.
struct Way {
  double sum = 0, most = 0;
  std::size_t begin = 0, before = 0;  ///< where the last stage begins, and the way up to there
};

void add_way(std::vector<Way>& ways, const Way& way) {
  for (const Way& known : ways)
    if (known.sum <= way.sum && known.most <= way.most) return;
  std::erase_if(ways,
                [&](const Way& known) { return way.sum <= known.sum && way.most <= known.most; });
  ways.push_back(way);
}

class StageSearch {
 public:
  StageSearch(const ir::Graph& graph, const Mesh& mesh, const Demands& demands, double most_bytes,
              const PipelineOptions& pipeline, const SolverOptions& options)
      : graph_(graph),
        whole_(mesh),
        mesh_(stage_mesh(mesh, pipeline.stages)),
        demands_(demands),
        most_bytes_(most_bytes),
        pipeline_(pipeline),
        options_(options),
        cuts_(graph, demands, pipeline) {
    if (cuts_.pieces() < pipeline.stages)
      config_error("stages = " + std::to_string(pipeline.stages) +
                   ", but the graph can be cut into " + std::to_string(cuts_.pieces()) +
                   " parts only");
    bound_from_pieces();
  }

  Pipeline run() {
    for (;;) {
      const std::vector<std::size_t> ends = best_ends();
      bool is_exact = true;
      for (std::size_t stage = 0; stage + 1 < ends.size(); ++stage)
        is_exact = !solve(ends[stage], ends[stage + 1]) && is_exact;
      if (is_exact) return result(ends);
    }
  }

 private:
  double& seconds(std::size_t begin, std::size_t end) {
    return seconds_[begin * (cuts_.pieces() + 1) + end];
  }

  double receiving(std::size_t begin, std::size_t end) const {
    const std::size_t axis = whole_.sizes[0] > 1 ? 0 : 1;
    double sum = 0;
    for (const double bytes : cuts_.received(begin, end))
      sum += whole_.latency[axis] + bytes / whole_.bandwidth[axis];
    return sum;
  }

  /// A part takes at least as long as its pieces, if nothing were moved between them.
  void bound_from_pieces() {
    const std::size_t count = cuts_.pieces();
    std::vector<double> until{0};
    for (std::size_t piece = 0; piece < count; ++piece) {
      GraphPart part = cuts_.part(piece, piece + 1);
      part.leaving.clear();
      const LayoutNetwork network(graph_, part, mesh_, demands_, -1);
      until.push_back(until.back() + cheapest(network.costs(), options_).cost);
    }
    seconds_.assign((count + 1) * (count + 1), never);
    for (std::size_t begin = 0; begin < count; ++begin)
      for (std::size_t end = begin + 1; end <= count; ++end)
        seconds(begin, end) = until[end] - until[begin] + receiving(begin, end);
  }

  /// Chooses the layouts of a part. False if that has been done.
  bool solve(std::size_t begin, std::size_t end) {
    if (solved_.contains({begin, end})) return false;
    Stage& stage = solved_[{begin, end}];
    stage.part = cuts_.part(begin, end);
    LayoutNetwork network(graph_, stage.part, mesh_, demands_, most_bytes_);
    const Assignment found = cheapest(network.costs(), options_);
    if (found.exists) stage.layouts = network.read(found.choices);
    stage.layouts.in_program = found.in_program;
    stage.receiving = receiving(begin, end);
    seconds(begin, end) = found.exists ? stage.seconds() : never;
    return true;
  }

  /// The cuts of the best pipeline by the times that are known, with the first and the last one.
  std::vector<std::size_t> best_ends() {
    const std::size_t count = cuts_.pieces(), stages = pipeline_.stages;
    std::vector<std::vector<std::vector<Way>>> ways(stages + 1);
    for (auto& row : ways) row.resize(count + 1);
    ways[0][0].emplace_back();
    for (std::size_t stage = 1; stage <= stages; ++stage)
      for (std::size_t end = stage; end <= count; ++end)
        for (std::size_t begin = stage - 1; begin < end; ++begin)
          extend(ways[stage - 1][begin], begin, seconds(begin, end), ways[stage][end]);
    const std::vector<Way>& last = ways[stages][count];
    if (last.empty())
      config_error("device_memory is too little for each of " + std::to_string(stages) +
                   " stages on " + std::to_string(mesh_.devices()) +
                   " devices; take more stages, more devices or a greater device_memory");
    const Way* way =
        &*std::ranges::min_element(last, {}, [&](const Way& one) { return time(one); });
    std::vector<std::size_t> ends{count};
    for (std::size_t stage = stages; stage > 0; --stage) {
      ends.push_back(way->begin);
      way = &ways[stage - 1][way->begin][way->before];
    }
    std::ranges::reverse(ends);
    return ends;
  }

  static void extend(const std::vector<Way>& before, std::size_t begin, double seconds,
                     std::vector<Way>& ways) {
    if (std::isinf(seconds)) return;
    for (std::size_t i = 0; i < before.size(); ++i)
      add_way(ways, {before[i].sum + seconds, std::max(before[i].most, seconds), begin, i});
  }

  double time(const Way& way) const { return way.sum + (pipeline_.micro_batches - 1) * way.most; }

  Pipeline result(const std::vector<std::size_t>& ends) {
    Pipeline made;
    made.mesh = mesh_;
    Way way;
    for (std::size_t stage = 0; stage + 1 < ends.size(); ++stage) {
      made.stages.push_back(solved_.at({ends[stage], ends[stage + 1]}));
      way.sum += made.stages.back().seconds();
      way.most = std::max(way.most, made.stages.back().seconds());
    }
    made.seconds = time(way);
    made.solved = solved_.size();
    return made;
  }

  const ir::Graph& graph_;
  const Mesh& whole_;
  const Mesh mesh_;
  const Demands& demands_;
  double most_bytes_;
  const PipelineOptions& pipeline_;
  const SolverOptions& options_;
  Cuts cuts_;
  std::vector<double> seconds_;  ///< of the parts, exact or a lower bound
  std::map<std::pair<std::size_t, std::size_t>, Stage> solved_;
};

}  // namespace

Mesh stage_mesh(const Mesh& mesh, std::size_t stages) {
  Mesh part = mesh;
  const auto count = static_cast<std::int64_t>(stages);
  const auto [rows, columns] = mesh.sizes;
  if (rows % count == 0)
    part.sizes = {rows / count, columns};
  else if (count % rows == 0 && columns % (count / rows) == 0)
    part.sizes = {1, columns / (count / rows)};
  else
    config_error("stages = " + std::to_string(stages) + " does not share out the mesh of " +
                 std::to_string(rows) + " x " + std::to_string(columns) +
                 " devices; take a divisor of the machines, or a multiple of them that divides the "
                 "devices");
  return part;
}

Pipeline choose_stages(const ir::Graph& graph, const Mesh& mesh, const Demands& demands,
                       double most_bytes, const PipelineOptions& pipeline,
                       const SolverOptions& options) {
  require_results_to_send(graph);
  return StageSearch(graph, mesh, demands, most_bytes, pipeline, options).run();
}

}  // namespace mase::sharding
