// SPDX-License-Identifier: Apache-2.0
// A program becomes a design: the instances of every step, and the plumbing between them.
#include "hardware/design/build.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "hardware/design/building/known_fifos.hpp"
#include "hardware/design/building/program_uses.hpp"
#include "hardware/design/building/size_fifos.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/link.hpp"
#include "hardware/design/modules/skid.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/design/names.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/predict.hpp"

namespace mase::design {
namespace {

using integer::ValueId;

class Builder {
 public:
  Builder(std::shared_ptr<const Program> program, const Folding& folding, const FifoDepths* fifos,
          Images images, const Distribution& distribution)
      : fifos_(fifos),
        images_(images),
        program_(*program),
        uses_(uses_of(*program)),
        cycles_(*program, uses_),
        waiting_(program_.values.size()) {
    design_.name = legal_identifier(program->name.empty() ? "top" : program->name);
    design_.program = std::move(program);
    design_.distribution = distribution;
    design_.reloadable = program_.contents == integer::Contents::reloadable;
    if (design_.reloadable) names_.instance("reload");  // a port
    for (const Step& step : program_.steps) {
      const auto found = folding.find(step.name);
      design_.folding[step.name] = found == folding.end() ? Fold{} : found->second;
    }
    for (const auto& [name, fold] : folding)
      if (!design_.folding.contains(name))
        config_error("parallelism is set for '" + name + "', but the program has no such step");
  }

  Design run() {
    for (const Step& step : program_.steps) check_fold(program_, step, fold(step));
    for (const Step& step : program_.steps)
      slowest_ = std::max(slowest_, step_interval(program_, step, fold(step)));
    for (const Step& step : program_.steps) step_names_.push_back(names_.instance(step.name));
    for (ValueId id : program_.inputs) add_input(id);
    for (std::size_t s = 0; s < program_.steps.size(); ++s) add_step(s);
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) add_output(o);
    name_everything();
    if (design_.reloadable) assign_bases(design_);
    return std::move(design_);
  }

 private:
  struct Waiting {
    Use use;
    StreamId stream;
  };
  const Fold& fold(const Step& step) const { return design_.folding.at(step.name); }
  std::vector<Waiting>& waiting(ValueId id) { return waiting_[static_cast<std::size_t>(id)]; }
  const std::vector<Use>& uses(ValueId id) const { return uses_[static_cast<std::size_t>(id)]; }
  /// An output is where its value is made.
  int device_of(const Use& use, int made) const {
    if (use.step < 0) return made;
    return design_.distribution.device(program_.steps[static_cast<std::size_t>(use.step)].layer);
  }

  StreamId add_stream(Stream stream) {
    design_.streams.push_back(std::move(stream));
    return static_cast<StreamId>(design_.streams.size() - 1);
  }

  /// An input comes to the device of its first consumer, with the lanes of the widest of all.
  void add_input(ValueId id) {
    const StreamValue& value = program_.value(id);
    std::int64_t lanes = 1;
    for (const Use& use : uses(id)) {
      if (use.step < 0) continue;
      const Step& step = program_.steps[static_cast<std::size_t>(use.step)];
      lanes = std::max(lanes, step_row(step).input_lanes(step, fold(step), use.port));
    }
    if (uses(id).empty())
      unsupported_error("input '" + value.name + "' is not used; take it out of the model");
    const StreamId stream = add_stream({value.name, lanes, value.type, value.elements(), id});
    design_.inputs.push_back(stream);
    distribute(id, stream, device_of(uses(id).front(), 0));
  }

  /// What one stream of a value is for: a use on the device that makes it, or all on another one.
  struct Branch {
    int device;
    std::vector<Use> uses;
  };
  std::vector<Branch> branches(ValueId id, int made) const {
    std::vector<Branch> found;
    for (const Use& use : uses(id)) {
      const int device = device_of(use, made);
      const auto same = std::ranges::find(found, device, &Branch::device);
      if (device == made || same == found.end())
        found.push_back({device, {use}});
      else
        same->uses.push_back(use);
    }
    return found;
  }

  /// Hands a value's stream to its consumers: through forks where there are several, and through a
  /// link to every other device.
  void distribute(ValueId id, StreamId stream, int made) {
    MASE_CHECK(!uses(id).empty(), "nobody uses " + program_.value(id).name);
    const std::vector<Branch> found = branches(id, made);
    const std::vector<StreamId> copies = fork(stream, found.size(), made);
    for (std::size_t b = 0; b < found.size(); ++b) {
      const auto& [device, uses] = found[b];
      const StreamId there = device == made ? copies[b] : add_link(copies[b], made, device);
      const std::vector<StreamId> own = fork(there, uses.size(), device);
      for (std::size_t u = 0; u < uses.size(); ++u) waiting(id).push_back({uses[u], own[u]});
    }
  }

  /// As many copies of a stream; itself where it is one.
  std::vector<StreamId> fork(StreamId stream, std::size_t copies, int device) {
    if (copies == 1) return {stream};
    const Stream copy = design_.stream(stream);
    const ForkModule module{.width = copy.width(), .outputs = static_cast<std::int64_t>(copies)};
    Instance fork{"fork_" + copy.name, "", module, {stream}, {}, device};
    for (std::size_t i = 0; i < copies; ++i) fork.outputs.push_back(add_stream(copy));
    design_.instances.push_back(fork);
    return fork.outputs;
  }

  StreamId add_link(StreamId from, int source, int target) {
    const Stream inside = design_.stream(from);
    const LinkSettings& link = design_.distribution.links;
    const std::int64_t width = inside.width();
    const auto [tdata, words] = LinkWords(width, link);
    const std::int64_t beats = inside.beats() * words;
    const auto outside = [&](const std::string& ending) {
      const integer::FixedType bits{static_cast<int>(tdata) + 1, 0, false};  // TDATA and TLAST
      return add_stream({inside.name + ending, 1, bits, beats, -1});
    };
    const StreamId sent = outside("_to_" + std::to_string(target)),
                   come = outside("_from_" + std::to_string(source)), result = add_stream(inside);
    const auto add = [&](const char* what, Module module, StreamId in, StreamId out, int device) {
      design_.instances.push_back({what + inside.name, "", std::move(module), {in}, {out}, device});
    };
    add("send_", LinkOutputModule{width, tdata, words, beats}, from, sent, source);
    add("link_",
        LinkModule{tdata + 1, link.latency, link.interval, link_depth(link.latency, link.interval)},
        sent, come, between_devices);
    add("receive_", LinkInputModule{width, tdata, words}, come, result, target);
    return result;
  }

  StreamId take(ValueId id, int step, std::size_t port) {
    for (const Waiting& entry : waiting(id))
      if (entry.use.step == step && entry.use.port == port) return entry.stream;
    MASE_CHECK(false, "value " + program_.value(id).name + " is used before it is there");
  }

  void add_step(std::size_t index) {
    const Step& step = program_.steps[index];
    const std::size_t first = design_.instances.size();
    StepBuilder builder(design_, program_, step, fold(step), step_names_[index],
                        images_ == Images::complete);
    std::vector<StreamId> inputs;
    for (std::size_t p = 0; p < step.inputs.size(); ++p) {
      const Use use{static_cast<int>(index), p};
      StreamId stream = take(step.inputs[p], use.step, p);
      const std::int64_t lanes = step_row(step).input_lanes(step, fold(step), p);
      const std::string fifo = "fifo_" + builder.name() + "_" + std::to_string(p);
      const bool wanted = fifos_ ? fifos_->contains(fifo) : wants_fifo(step, step.inputs[p], use);
      const std::int64_t depth = fifos_ && wanted ? fifos_->at(fifo) : 2;
      // A burst is kept with the lanes in which it comes; a converter to fewer would pass it
      // slowly.
      const bool first = design_.stream(stream).lanes > lanes;
      if (wanted && first) stream = add_fifo(stream, fifo, depth);
      stream = builder.resize(stream, lanes, "resize_" + builder.name(), slowest_);
      if (wanted && !first) stream = add_fifo(stream, fifo, depth);
      inputs.push_back(stream);
    }
    const StreamId result = step_row(step).add(builder, inputs);
    main_instances_.insert(design_.instances.size() - 1);
    const int device = design_.distribution.device(step.layer);
    for (std::size_t i = first; i < design_.instances.size(); ++i)
      design_.instances[i].device = device;
    distribute(step.output, result, device);
  }

  /// Where paths meet again, and in front of steps that take beats in bursts, unless the input port
  /// is there, which always offers.
  bool wants_fifo(const Step& step, ValueId input, const Use& use) const {
    if (step.inputs.size() > 1) return cycles_.contains(input, use);
    const auto& inputs = program_.inputs;
    const bool port =
        uses(input).size() == 1 && std::find(inputs.begin(), inputs.end(), input) != inputs.end();
    return !port && takes_in_bursts(program_, step, fold(step));
  }

  StreamId add_fifo(StreamId from, const std::string& name, std::int64_t depth) {
    Stream out = design_.stream(from);
    out.name = name;
    const FifoModule module{.width = out.width(), .depth = depth};
    const StreamId id = add_stream(std::move(out));
    design_.instances.push_back({name, "", module, {from}, {id}});
    return id;
  }

  /// An input that is an output at once passes a skid, so that no port is wired to another one.
  void add_output(std::size_t index) {
    StreamId stream = take(program_.outputs[index], -1, index);
    const auto& inputs = design_.inputs;
    if (std::find(inputs.begin(), inputs.end(), stream) != inputs.end()) {
      const StreamId out = add_stream(design_.stream(stream));
      const SkidModule module{.width = design_.stream(stream).width()};
      design_.instances.push_back({"skid_" + design_.stream(stream).name,
                                   "",
                                   module,
                                   {stream},
                                   {out},
                                   device_of(uses(program_.outputs[index]).front(), 0)});
      stream = out;
    }
    design_.outputs.push_back(stream);
  }

  /// Steps have their names already; then ports, then parts and inner streams get free ones.
  void name_everything() {
    std::vector<bool> named(design_.streams.size());
    const auto name_stream = [&](StreamId id) {
      const auto i = static_cast<std::size_t>(id);
      if (!named[i]) design_.streams[i].name = names_.stream(design_.streams[i].name);
      named[i] = true;
    };
    for (StreamId id : design_.inputs) name_stream(id);
    for (StreamId id : design_.outputs) name_stream(id);
    for (std::size_t i = 0; i < design_.streams.size(); ++i) name_stream(static_cast<StreamId>(i));
    for (std::size_t i = 0; i < design_.instances.size(); ++i)
      if (!main_instances_.contains(i))
        design_.instances[i].name = names_.instance(design_.instances[i].name);
  }

  Design design_;
  std::int64_t slowest_ = 1;  ///< cycles for a frame that the slowest step takes
  const FifoDepths* fifos_;
  Images images_;
  const Program& program_;
  std::vector<std::vector<Use>> uses_;
  Cycles cycles_;
  std::vector<std::vector<Waiting>> waiting_;  ///< streams on their way to their uses, by value
  Names names_;
  std::vector<std::string> step_names_;
  std::set<std::size_t> main_instances_;  ///< the last of every step, which bears its name
};

}  // namespace

FifoDepths fifo_depths(const Design& design) {
  FifoDepths depths;
  for (const std::size_t i : design.fifos())
    depths[design.instances[i].name] = depth_of(design.instances[i]);
  return depths;
}

Design assemble(std::shared_ptr<const Program> program, const Folding& folding,
                const FifoDepths* fifos, Images images, const Distribution& distribution) {
  return Builder(std::move(program), folding, fifos, images, distribution).run();
}

Design rebuild(std::shared_ptr<const Program> program, const Folding& folding,
               const FifoDepths& fifos, const Distribution& distribution) {
  Design design = assemble(program, folding, &fifos, Images::complete, distribution);
  return fifo_depths(design) == fifos ? design : build(std::move(program), folding, distribution);
}

Design build(std::shared_ptr<const Program> program, const Folding& folding,
             const Distribution& distribution) {
  Design design = assemble(std::move(program), folding, nullptr, Images::complete, distribution);
  size_as_known(design, best_interval(design), [](Design& sized) {
    size_fifos(sized);
    if (sized.timing.interval == 0) sized.timing = predict(sized);
  });
  return design;
}

}  // namespace mase::design
