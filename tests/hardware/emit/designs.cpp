// SPDX-License-Identifier: Apache-2.0
// Small designs made by hand, and vectors for them.
#include "designs.hpp"

#include "base/random.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/skid.hpp"

namespace mase::test {

design::Stream stream(const std::string& name, std::int64_t lanes, int width, bool is_signed,
                      std::int64_t elements) {
  design::Stream out;
  out.name = name;
  out.lanes = lanes;
  out.type = {width, 0, is_signed};
  out.elements = elements;
  return out;
}

design::Design two_lines() {
  design::Design design;
  design.name = "two_lines";
  design.streams = {stream("a", 1, 13, true, 3), stream("b", 1, 13, true, 3),
                    stream("c", 5, 20, false, 10), stream("d", 5, 20, false, 10)};
  design.instances = {{"first", "", design::SkidModule{.width = 13}, {0}, {1}},
                      {"second", "", design::FifoModule{.width = 100, .depth = 4}, {2}, {3}}};
  design.inputs = {0, 2};
  design.outputs = {1, 3};
  return design;
}

design::Design one_skid() {
  design::Design design;
  design.name = "one_skid";
  design.streams = {stream("x", 1, 8, true, 4), stream("y", 1, 8, true, 4)};
  design.instances = {{"buffer", "", design::SkidModule{.width = 8}, {0}, {1}}};
  design.inputs = {0};
  design.outputs = {1};
  return design;
}

design::Design one_table() {
  design::Design design;
  design.name = "one_table";
  design.streams = {stream("x", 2, 4, false, 8), stream("y", 2, 5, false, 8)};
  const design::LookupModule table{.lanes = 2, .in_bits = 4, .out_bits = 5, .file = "table.mem"};
  design.instances = {{"table", "act", table, {0}, {1}}};
  design.inputs = {0};
  design.outputs = {1};
  design::Memory memory{"table.mem", "act", "table", 5, {}};
  for (int i = 0; i < 16; ++i) memory.words.push_back(std::string("1") + "fedcba9876543210"[i]);
  design.memories = {memory};
  return design;
}

emit::Vectors same_vectors(const design::Design& design, std::int64_t frames, std::uint64_t seed) {
  Random random(seed);
  emit::Vectors vectors;
  vectors.frames = frames;
  for (const design::StreamId id : design.inputs) {
    const design::Stream& stream = design.stream(id);
    integer::Codes codes;
    for (std::int64_t i = 0; i < frames * stream.elements; ++i)
      codes.push_back(static_cast<std::int64_t>(
          stream.type.low() +
          static_cast<integer::Wide>(random.below(std::uint64_t{1} << stream.type.width))));
    vectors.inputs.push_back(codes);
  }
  vectors.outputs = vectors.inputs;
  return vectors;
}

}  // namespace mase::test
