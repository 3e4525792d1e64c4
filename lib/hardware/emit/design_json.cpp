// SPDX-License-Identifier: Apache-2.0
// The tree behind design.json.
#include "hardware/emit/design_json.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/tree.hpp"
#include "hardware/design/clock.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/devices.hpp"
#include "hardware/emit/text/verilog.hpp"

namespace mase::emit {
namespace {

constexpr int format_version = 1;

Tree timing_tree(const design::Design& design, const EmitOptions& options) {
  Tree tree = Tree::dict();
  tree["first_output"] = design.timing.first;
  tree["last_output"] = design.timing.last;
  tree["interval"] = design.timing.interval;
  if (design.timing.interval > 0)
    tree["frames_per_second"] =
        options.clock_mhz * 1e6 / static_cast<double>(design.timing.interval);
  return tree;
}

Tree instance_tree(const design::Slowest& slowest) {
  Tree tree = Tree::dict();
  tree["ns"] = slowest.ns;
  tree["path"] = std::string(slowest.what);
  return tree;
}

/// By technology: the clock that the design is predicted to reach, and what holds it back.
Tree clock_tree(const design::Design& design, const Names& names) {
  Tree tree = Tree::dict();
  for (const std::string& name : design::technology_names()) {
    const design::Technology& technology = design::technology_of(name);
    const design::Clock clock = design::clock(design, technology);
    Tree& entry = tree[name];
    entry["mhz"] = clock.mhz;
    if (technology.spread > 0) {
      entry["low_mhz"] = clock.low_mhz;
      entry["high_mhz"] = clock.high_mhz;
    }
    entry["grade"] = std::string(technology.grade);
    entry["basis"] = std::string(technology.basis);
    if (clock.instances.empty()) continue;
    for (std::size_t i = 0; i < clock.instances.size(); ++i)
      entry["instances"][names.instances[i]] = instance_tree(clock.instances[i]);
    entry["slowest"] = names.instances[clock.worst];
  }
  return tree;
}

/// What a host needs to feed a stream at the border: `order[i]` is the row-major index in
/// `torch_shape` of stream element i, when it is not i.
void add_value(Tree& tree, const integer::StreamValue& value, bool border) {
  tree["value"] = value.name;
  tree["shape"] = Tree::list_of(value.shape);
  tree["torch_shape"] = Tree::list_of(value.torch_shape);
  if (border && !value.order.empty()) tree["order"] = Tree::list_of(value.order);
}

/// `tdata`: how the elements of a beat lie in the wrapper's TDATA.
void add_tdata(Tree& tree, const AxiLayout& layout) {
  tree["tdata"]["lane_bits"] = layout.lane_bits;
  tree["tdata"]["bytes"] = layout.bytes;
}

Tree stream_tree(const design::Design& design, const Names& names, const EmitOptions& options,
                 design::StreamId id, bool border) {
  const design::Stream& stream = design.stream(id);
  Tree tree = Tree::dict();
  tree["name"] = names.streams[static_cast<std::size_t>(id)];
  tree["type"] = integer::type_text(stream.type);
  tree["lanes"] = stream.lanes;
  tree["beats"] = stream.beats();
  tree["width"] = stream.width();
  if (border) add_tdata(tree, axi_layout(stream, options));
  if (design.program && stream.value >= 0)
    add_value(tree, design.program->value(stream.value), border);
  return tree;
}

Tree streams_tree(const design::Design& design, const Names& names, const EmitOptions& options) {
  Tree tree = Tree::dict();
  const auto add = [&](const char* key, const std::vector<design::StreamId>& ids, bool border) {
    Tree list = Tree::list();
    for (const design::StreamId id : ids)
      list.push_back(stream_tree(design, names, options, id, border));
    tree[key] = std::move(list);
  };
  std::vector<bool> outside(design.streams.size(), false);
  for (const auto* side : {&design.inputs, &design.outputs})
    for (const design::StreamId id : *side) outside[static_cast<std::size_t>(id)] = true;
  std::vector<design::StreamId> inner;
  for (std::size_t i = 0; i < outside.size(); ++i)
    if (!outside[i]) inner.push_back(static_cast<design::StreamId>(i));
  add("inputs", design.inputs, true);
  add("outputs", design.outputs, true);
  add("inner", inner, false);
  return tree;
}

Tree parameters_tree(const design::ModuleParameters& parameters) {
  Tree tree = Tree::dict();
  for (const auto& [name, value] : parameters) {
    if (const auto* number = std::get_if<std::int64_t>(&value))
      tree[name] = *number;
    else if (const auto* text = std::get_if<std::string>(&value))
      tree[name] = *text;
    else
      tree[name] = verilog::literal(value);
  }
  return tree;
}

Tree instances_tree(const design::Design& design, const Names& names) {
  const std::map<std::string, design::Cost> costs = design::cost_by_instance(design);
  Tree list = Tree::list();
  for (std::size_t i = 0; i < design.instances.size(); ++i) {
    const design::Instance& instance = design.instances[i];
    const auto streams = [&](const std::vector<design::StreamId>& ids) {
      Tree out = Tree::list();
      for (const design::StreamId id : ids)
        out.push_back(names.streams[static_cast<std::size_t>(id)]);
      return out;
    };
    Tree tree = Tree::dict();
    tree["name"] = names.instances[i];
    tree["module"] = instance.module.name();
    tree["layer"] = instance.layer;
    tree["inputs"] = streams(instance.inputs);
    tree["outputs"] = streams(instance.outputs);
    tree["parameters"] = parameters_tree(instance.module->parameters());
    const auto cost = costs.find(instance.name);
    if (cost != costs.end())
      tree["cost"] = design::cost_tree(cost->second, &design::Resource::cell);
    list.push_back(std::move(tree));
  }
  return list;
}

/// The devices with the prefixes of their links' ports.
Tree devices_tree(const design::Design& design, const Names& names) {
  Tree list = Tree::list();
  for (const DeviceScope& part : device_scopes(design, names)) {
    const Scope& scope = part.scope;
    Tree tree = Tree::dict();
    tree["device_id"] = part.device;
    tree["top"] = scope.name;
    tree["sources"] = part.list();
    tree["cost"] =
        design::cost_tree(design::device_cost(design, part.device), &design::Resource::cell);
    tree["instances"] = Tree::list();
    for (const std::size_t i : scope.instances) tree["instances"].push_back(names.instances[i]);
    tree["links"] = Tree::list();
    for (const auto* side : {&scope.link_inputs, &scope.link_outputs})
      for (const design::StreamId id : *side) {
        Tree link = Tree::dict();
        link["port"] = link_prefix(names, id, side == &scope.link_outputs);
        link["tdata"] = link_tdata(design, id);
        link["beats"] = design.stream(id).beats();
        tree["links"].push_back(std::move(link));
      }
    list.push_back(std::move(tree));
  }
  return list;
}

Tree memories_tree(const design::Design& design) {
  Tree list = Tree::list();
  for (const design::Memory& memory : design.memories) {
    Tree tree = Tree::dict();
    tree["file"] = "rtl/" + memory.file;
    tree["layer"] = memory.layer;
    tree["what"] = memory.what;
    tree["words"] = memory.words.size();
    tree["word_bits"] = memory.word_bits;
    if (memory.base) {
      tree["reload"]["base"] = *memory.base;
      tree["reload"]["pieces"] = design::reload_pieces(memory);
      tree["reload"]["pitch"] = design::reload_pitch(memory);
    }
    list.push_back(std::move(tree));
  }
  return list;
}

bool is_string(const Tree* tree) { return tree && tree->is_string(); }

/// Whether every option is there and right.
bool read_options(const Tree& design, EmitOptions& options) {
  Diagnostics diagnostics;
  for_each_field<EmitOptions>([&](const auto& field) {
    if (const Tree* value = design.find(field.name))
      field_detail::read_value(*value, field.name, field.rules, options.*(field.member),
                               diagnostics);
    else
      diagnostics.error({}, "missing");
  });
  return !diagnostics.has_errors();
}

}  // namespace

std::string design_json(const design::Design& design, const Names& names,
                        const EmitOptions& options, const Files& files) {
  Tree tree = Tree::dict();
  tree["format"] = format_version;
  tree["name"] = design.name;
  tree["top"] = names.top;
  const Tree given = write_fields(options);
  for (const auto& [key, value] : given.as_dict()) tree[key] = value;
  tree["cycles"] = timing_tree(design, options);
  tree["cost"] = design::cost_tree(design::cost(design), &design::Resource::cell);
  tree["clock"] = clock_tree(design, names);
  tree["streams"] = streams_tree(design, names, options);
  tree["instances"] = instances_tree(design, names);
  if (has_devices(design)) tree["devices"] = devices_tree(design, names);
  tree["memories"] = memories_tree(design);
  for (const auto& [name, content] : files) tree["files"][name] = sha256(content);
  return to_json(tree) + "\n";
}

EmittedDesign read_design_json(std::string_view text, const std::string& path) {
  const Tree tree = parse_json(text, path);
  const Tree *name = tree.find("name"), *files = tree.find("files");
  EmittedDesign design;
  bool good = is_string(name) && read_options(tree, design.options);
  if (files && files->is_dict())
    for (const auto& [file, hash] : files->as_dict()) {
      good = good && stays_inside(file);
      design.files.push_back(file);
    }
  if (!good) file_error(path + ": is damaged; run mase emit again");
  design.name = name->as_string();
  return design;
}

}  // namespace mase::emit
