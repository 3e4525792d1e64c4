// SPDX-License-Identifier: Apache-2.0
// The plumbing modules in RTL: every beat in order, and their handshake models in lockstep.
#include <catch2/catch.hpp>

#include <numeric>

#include "hardware/design/modules/concat.hpp"
#include "hardware/design/modules/embedding.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/gather.hpp"
#include "hardware/design/modules/insert.hpp"
#include "hardware/design/modules/skid.hpp"
#include "hardware/design/modules/slice.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/design/modules/stream_resize.hpp"
#include "hardware/design/step_table.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::Wide;

constexpr std::int64_t kPlumbingFrames = 48;

FixedType random_stream_type(Random& random) {
  constexpr int widths[] = {8, 1, 3, 12, 33};
  return {widths[random.below(5)], 0, random.below(2) == 0};
}

std::int64_t bits(const Port& port) { return port.lanes * port.type.width; }

template <design::HardwareModule T>
Case copies(const T& module, const Port& port, std::int64_t outputs = 1) {
  return case_of(module, {port}, std::vector<Port>(static_cast<std::size_t>(outputs), port));
}

/// The part of a frame's codes from `first` on, `count` of them, of every frame.
Codes part(const Codes& codes, std::int64_t row, std::int64_t first, std::int64_t count) {
  Codes result;
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(codes.size()); at += row)
    for (std::int64_t i = first; i < first + count; ++i)
      result.push_back(codes[static_cast<std::size_t>(at + i)]);
  return result;
}

TEST_CASE("skids, queues and forks in RTL pass every beat in order") {
  Random random(1);
  std::vector<Case> cases;
  for (int i = 0; i < 6; ++i) {
    const FixedType type = random_stream_type(random);
    const Port port =
        random_port(random, between(random, 1, 4), type, kPlumbingFrames * between(random, 1, 9));
    cases.push_back(copies(design::SkidModule{.width = bits(port)}, port));
  }
  for (const std::int64_t depth : {1, 2, 3, 4, 5, 8, 17, 40}) {
    const Port port = random_port(random, between(random, 1, 3), random_stream_type(random),
                                  kPlumbingFrames * between(random, 1, 50));
    cases.push_back(copies(design::FifoModule{.width = bits(port), .depth = depth}, port));
  }
  for (const std::int64_t n : {1, 2, 3, 5}) {
    const Port port =
        random_port(random, between(random, 1, 3), random_stream_type(random), kPlumbingFrames * 4);
    cases.push_back(copies(design::ForkModule{.width = bits(port), .outputs = n}, port, n));
  }
  check_cases(cases, kPlumbingFrames);
}

TEST_CASE("width converters in RTL keep the order of elements") {
  Random random(2);
  std::vector<Case> cases;
  const std::vector<std::pair<std::int64_t, std::int64_t>> lanes = {
      {1, 1}, {4, 4},  {2, 1},  {3, 1},  {8, 2}, {15, 3}, {16, 1}, {1, 2},
      {1, 3}, {2, 8},  {3, 15}, {1, 16}, {3, 2}, {5, 3},  {7, 2},  {17, 3},
      {9, 8}, {10, 4}, {2, 3},  {3, 5},  {2, 7}, {3, 17}, {8, 9},  {4, 10}};
  for (const auto& [in, out] : lanes)
    for (int repeat = 0; repeat < 2; ++repeat) {
      const FixedType type = random_stream_type(random);
      const std::int64_t wide = std::lcm(in, out) * between(random, 1, 3);
      Port port{in, type, random_codes(random, type, kPlumbingFrames * wide)};
      Port result = port;
      result.lanes = out;
      const design::ResizeModule module{.width = type.width, .in_lanes = in, .out_lanes = out};
      cases.push_back(case_of(module, {port}, {result}));
    }
  check_cases(cases, kPlumbingFrames);
}

Case concat_case(Random& random, std::int64_t a_beats, std::int64_t b_beats, std::int64_t rows) {
  const FixedType type = random_stream_type(random);
  const std::int64_t lanes = between(random, 1, 3);
  const Port a = random_port(random, lanes, type, kPlumbingFrames * rows * a_beats);
  const Port b = random_port(random, lanes, type, kPlumbingFrames * rows * b_beats);
  Port out{lanes, type, {}};
  const auto append = [&](const Port& from, std::int64_t row, std::int64_t beats) {
    const std::int64_t count = beats * lanes;
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i)
      out.codes.push_back(from.codes[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t row = 0; row < rows * kPlumbingFrames; ++row) {
    append(a, row, a_beats);
    append(b, row, b_beats);
  }
  return case_of(design::ConcatModule{.width = bits(a), .first = a_beats, .second = b_beats},
                 {a, b}, {out});
}

/// `image` rows of constants, around as many rows of a frame again and again.
Case insert_case(Random& random, const std::string& file, std::int64_t before, std::int64_t beats,
                 std::int64_t after, std::int64_t image) {
  const FixedType type = random_stream_type(random);
  const std::int64_t lanes = between(random, 1, 3), rows = image * kPlumbingFrames;
  const Port in = random_port(random, lanes, type, rows * beats);
  const Codes constants = random_codes(random, type, image * (before + after) * lanes);
  Port out{lanes, type, {}};
  const auto append = [&](const Codes& codes, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first * lanes; i < (first + count) * lanes; ++i)
      out.codes.push_back(codes[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row % image * (before + after);
    append(constants, first, before);
    append(in.codes, row * beats, beats);
    append(constants, first + before, after);
  }
  const std::vector<Wide> words(constants.begin(), constants.end());
  const design::InsertModule module{.width = bits(in),
                                    .before = before,
                                    .beats = beats,
                                    .after = after,
                                    .depth = image * (before + after),
                                    .image_file = file};
  return case_of(
      module, {in}, {out},
      {{file, "insert", "constants", bits(in), design::vector_words(words, lanes, type.width)}});
}

TEST_CASE("constants in RTL stand around the rows of a stream") {
  Random random(8);
  std::vector<Case> cases;
  for (std::int64_t before = 0; before <= 3; ++before)
    for (std::int64_t after = before == 0 ? 1 : 0; after <= 3; ++after)
      for (const std::int64_t beats : {1, 2, 7})
        cases.push_back(insert_case(random, "insert" + std::to_string(cases.size()) + ".mem",
                                    before, beats, after, between(random, 1, 3)));
  check_cases(cases, kPlumbingFrames);
}

Case embedding_case(Random& random, const std::string& file, std::int64_t rows, std::int64_t beats,
                    int id_bits) {
  const FixedType type = random_stream_type(random);
  const std::int64_t lanes = between(random, 1, 3);
  const Port ids = random_port(random, 1, {id_bits, 0, false}, kPlumbingFrames * 5);
  const Codes table = random_codes(random, type, rows * beats * lanes);
  Port out{lanes, type, {}};
  for (const std::int64_t id : ids.codes)
    for (std::int64_t i = 0; i < beats * lanes; ++i)
      out.codes.push_back(
          table[static_cast<std::size_t>(std::min(id, rows - 1) * beats * lanes + i)]);
  const std::vector<Wide> words(table.begin(), table.end());
  const design::EmbeddingModule module{
      .id_bits = id_bits, .width = bits(out), .rows = rows, .beats = beats, .table_file = file};
  return case_of(
      module, {ids}, {out},
      {{file, "embedding", "table", bits(out), design::vector_words(words, lanes, type.width)}});
}

TEST_CASE("embeddings in RTL give the rows of their table, the last one beyond it") {
  Random random(9);
  std::vector<Case> cases;
  for (const auto& [rows, bits] : {std::pair{1, 1}, {2, 1}, {5, 3}, {8, 3}, {11, 6}, {300, 9}})
    for (const std::int64_t beats : {1, 2, 3, 4, 7})
      cases.push_back(embedding_case(random, "embedding" + std::to_string(cases.size()) + ".mem",
                                     rows, beats, bits));
  check_cases(cases, kPlumbingFrames);
}

Case slice_case(Random& random, std::int64_t beats, std::int64_t first, std::int64_t count,
                std::int64_t rows) {
  const FixedType type = random_stream_type(random);
  const std::int64_t lanes = between(random, 1, 3);
  const Port in = random_port(random, lanes, type, kPlumbingFrames * rows * beats);
  const design::SliceModule module{
      .width = bits(in), .beats = beats, .first = first, .count = count};
  return case_of(module, {in},
                 {{lanes, type, part(in.codes, beats * lanes, first * lanes, count * lanes)}});
}

TEST_CASE("concat and slice in RTL cut rows where they should") {
  Random random(3);
  std::vector<Case> cases;
  for (const auto& [a, b] : {std::pair{1, 1}, {1, 4}, {4, 1}, {3, 5}, {2, 2}, {7, 9}})
    cases.push_back(concat_case(random, a, b, between(random, 1, 3)));
  for (std::int64_t beats = 1; beats <= 8; ++beats) {
    const std::int64_t first = between(random, 0, beats - 1);
    cases.push_back(
        slice_case(random, beats, first, between(random, 1, beats - first), between(random, 1, 3)));
    cases.push_back(slice_case(random, beats, 0, 1, 2));
    cases.push_back(slice_case(random, beats, beats - 1, 1, 1));
  }
  check_cases(cases, kPlumbingFrames);
}

/// A gather in beats of `lanes` elements, as the design makes it; a period is a frame.
Case gather_case(Random& random, const std::string& file, const integer::Gather& gather,
                 std::int64_t lanes) {
  const FixedType type = random_stream_type(random);
  const design::GatherImage image = design::gather_image(gather, lanes);
  const std::int64_t in = gather.period;
  const auto out = static_cast<std::int64_t>(gather.places.size());
  const Port from = random_port(random, lanes, type, kPlumbingFrames * in / lanes);
  const std::int64_t outside = random_codes(random, type, 1)[0];
  Codes codes;
  for (std::int64_t frame = 0; frame < kPlumbingFrames; ++frame)
    for (const std::int64_t place : gather.places)
      codes.push_back(place < 0 ? outside
                                : from.codes[static_cast<std::size_t>(frame * in + place)]);
  const design::GatherModule module{.in = in / lanes,
                                    .out = out / lanes,
                                    .run = image.run,
                                    .start = image.start,
                                    .lanes = lanes,
                                    .bits = type.width,
                                    .pads = image.pads,
                                    .outside = design::plain_code(outside, type.width),
                                    .file = file};
  return case_of(module, {from}, {{lanes, type, codes}},
                 {{file, "gather", "places", image.word_bits,
                   design::vector_words(image.words, 1, image.word_bits)}});
}

/// `count` groups of `lanes` elements, drawn from `in` elements.
integer::Gather random_gather(Random& random, std::int64_t in, std::int64_t count,
                              std::int64_t lanes) {
  integer::Gather gather{{}, in};
  for (std::int64_t i = 0; i < count; ++i) {
    const bool outside = random.below(5) == 0;
    const std::int64_t first = between(random, 0, in / lanes - 1) * lanes;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      gather.places.push_back(outside ? -1 : first + lane);
  }
  return gather;
}

TEST_CASE("gathers in RTL give the elements of each frame that they name") {
  Random random(6);
  std::vector<Case> cases;
  const auto add = [&](const integer::Gather& gather, std::int64_t lanes) {
    cases.push_back(
        gather_case(random, "gather" + std::to_string(cases.size()) + ".mem", gather, lanes));
  };
  for (int i = 0; i < 24; ++i) {
    const std::int64_t lanes = between(random, 1, 3), in = lanes * between(random, 1, 9);
    add(random_gather(random, in, between(random, 1, 14), lanes), lanes);
  }
  // All as they come, reversed, the first half, the last one, each twice, a transposed matrix, and
  // long runs.
  add({{0, 1, 2, 3, 4, 5}, 6}, 1);
  add({{5, 4, 3, 2, 1, 0}, 6}, 1);
  add({{0, 1, 2}, 6}, 1);
  add({{5}, 6}, 1);
  add({{0, 0}, 1}, 1);
  add({{0, -1}, 1}, 1);
  add({{0, 0, 1, 1, 2, 2, 3, 3}, 4}, 1);
  add({{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}, 12}, 1);
  add({{6, 7, 8, -1, -1, -1, 0, 1, 2, 3, 4, 5}, 9}, 1);
  add({{-1, -1, 0, 1, -1, -1}, 2}, 2);
  check_cases(cases, kPlumbingFrames);
}

}  // namespace
}  // namespace mase::rtl_test
