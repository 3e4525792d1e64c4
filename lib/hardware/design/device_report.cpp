// SPDX-License-Identifier: Apache-2.0
// One row for each device, and one for each link.
#include "hardware/design/device_report.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/distribution.hpp"
#include "hardware/design/modules/link.hpp"
#include "hardware/design/numbers.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

/// A stream from one device to another.
struct Link {
  std::string stream;
  int from, to;
  std::int64_t bits, words;    ///< of a beat between layers
  std::int64_t beats, cycles;  ///< of a frame on the link
};

std::vector<Link> links_of(const Design& design) {
  std::vector<Link> links;
  const auto device_of = [&](StreamId stream, std::vector<StreamId> Instance::*side) {
    return std::ranges::find_if(design.instances,
                                [&](const Instance& instance) {
                                  return std::ranges::count(instance.*side, stream) > 0;
                                })
        ->device;
  };
  for (const Instance& link : design.instances) {
    if (link.device != between_devices) continue;
    const StreamId out = link.outputs[0];
    const auto end = std::ranges::find_if(design.instances, [&](const Instance& instance) {
      return std::ranges::count(instance.inputs, out) > 0;
    });
    links.push_back({design.stream(end->outputs[0]).name,
                     device_of(link.inputs[0], &Instance::outputs), end->device,
                     module_of<LinkInputModule>(*end).width, module_of<LinkInputModule>(*end).words,
                     design.stream(out).beats(), link_cycles(design, link)});
  }
  return links;
}

/// The layers of a device in the order of the program.
std::vector<std::string> layers_of(const Design& design, int device) {
  std::vector<std::string> layers;
  for (const integer::Step& step : design.program->steps)
    if (design.distribution.device(step.layer) == device &&
        std::ranges::count(layers, step.layer) == 0)
      layers.push_back(step.layer);
  return layers;
}

std::string layers_text(const std::vector<std::string>& layers) {
  if (layers.size() <= 3) return join(layers, ", ");
  return layers.front() + " ... " + layers.back() + " (" + std::to_string(layers.size()) + ")";
}

Tree link_tree(const Link& link) {
  Tree tree = Tree::dict();
  tree["stream"] = link.stream;
  tree["to"] = link.to;
  tree["bits"] = link.bits;
  tree["beats"] = link.beats;
  tree["cycles"] = link.cycles;
  return tree;
}

std::string link_text(const Link& link) {
  return link.stream + " to " + std::to_string(link.to) + ": " + std::to_string(link.bits) +
         " bits, " + std::to_string(link.cycles) + " cycles";
}

/// The width of links with which this one would carry a frame in so many cycles.
std::optional<std::int64_t> width_for(const Link& link, std::int64_t cycles) {
  const std::int64_t words = cycles * link.words / (link.cycles);  // that a beat may have
  if (words < 1) return std::nullopt;
  return tdata_bits(ceiling(link.bits, words));
}

std::string place_text(const Link& link) {
  return "the link of " + link.stream + " from device " + std::to_string(link.from) + " to " +
         std::to_string(link.to) + " takes " + std::to_string(link.cycles) + " cycles for a frame";
}

/// What is said where a link, not a layer, is the slowest of all.
void report_slowest_link(const Design& design, const std::vector<Link>& links,
                         passes::Result& result) {
  const auto slowest = std::ranges::max_element(links, {}, &Link::cycles);
  std::int64_t layers = 1;
  for (const integer::Step& step : design.program->steps)
    layers = std::max(layers, step_interval(*design.program, step, design.folding.at(step.name)));
  if (slowest != links.end() && slowest->cycles > layers)
    result.text.push_back(place_text(*slowest) + ", the slowest layer " + std::to_string(layers));
}

}  // namespace

void check_links(const Design& design, std::int64_t initiation_interval) {
  for (const Link& link : links_of(design)) {
    if (link.cycles <= initiation_interval) continue;
    const auto width = width_for(link, initiation_interval);
    config_error(place_text(link) + ", and the initiation interval is " +
                 std::to_string(initiation_interval) + "; " +
                 (width ? "a link_width of " + std::to_string(*width) + " would do, or an"
                        : std::string("cut elsewhere by devices, or take an")) +
                 " initiation interval of at least " + std::to_string(link.cycles));
  }
}

void report_devices(const Design& design, passes::Result& result) {
  const std::vector<int> devices = design.devices();
  if (devices.size() < 2) return;
  passes::ReportTable table{"Devices (predicted)",
                            {"Device", "Layers", "LUT", "FF", "DSP", "BRAM", "Links"},
                            {},
                            "devices.csv"};
  const std::vector<Link> links = links_of(design);
  report_slowest_link(design, links, result);
  result.info["devices"] = Tree::list();
  write_links(design.distribution.links, result.info);
  for (const int device : devices) {
    const Cost cost = device_cost(design, device);
    const std::vector<std::string> layers = layers_of(design, device);
    Tree entry = cost_tree(cost);
    entry["device_id"] = device;
    entry["layers"] = Tree::list_of(layers);
    entry["links"] = Tree::list();
    std::vector<std::string> texts;
    for (const Link& link : links) {
      if (link.from != device) continue;
      entry["links"].push_back(link_tree(link));
      texts.push_back(link_text(link));
    }
    result.info["devices"].push_back(std::move(entry));
    table.rows.push_back({std::to_string(device), layers_text(layers), fixed_text(cost.lut, 0),
                          fixed_text(cost.ff, 0), fixed_text(cost.dsp, 0), fixed_text(cost.bram, 1),
                          join(texts, ", ")});
  }
  result.tables.push_back(std::move(table));
}

}  // namespace mase::design
