// SPDX-License-Identifier: Apache-2.0
// Draws bits, finds the place of each in the memory images, and judges the runs.
#include "driver/mutants.hpp"

#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/emit/vectors.hpp"
#include "hardware/integer/faults.hpp"

namespace mase::driver {
namespace {

using design::Memory;
using integer::ConstantBit;

/// Number of further frames that may reveal a bit that the vectors do not reveal.
constexpr std::int64_t further_frames = 2048;
/// The share of observable bits that vectors should catch.
constexpr double wanted_share = 0.99;

/// The bit in which two contents of a memory image differ; unset if they are equal.
std::optional<emit::Fault> difference(const Memory& sound, const Memory& faulty) {
  for (std::size_t word = 0; word < sound.words.size(); ++word) {
    const std::string &a = sound.words[word], &b = faulty.words[word];
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
      const int bits = digit(a[i]) ^ digit(b[i]);
      const auto place = static_cast<std::int64_t>(4 * (a.size() - 1 - i));
      for (int bit = 0; bit < 4; ++bit)
        if (bits >> bit == 1)
          return emit::Fault{sound.file, static_cast<std::int64_t>(word), place + bit};
    }
  }
  return std::nullopt;
}

/// The place of a constant's bit in the memories of the design; unset if it is in a parameter
/// instead of a memory, or if flipping it would change the width of the words.
std::optional<emit::Fault> memory_bit(const design::Design& design, const ConstantBit& bit) {
  const integer::Program& program = *design.program;
  const integer::Step& step = program.steps[bit.step];
  const design::Fold& fold = design.folding.at(step.name);
  for (const Memory& faulty : lone_step(program, flipped(program, bit), fold, true).memories) {
    const Memory* sound = design.find_memory(faulty.file);
    if (!sound) continue;
    if (sound->word_bits != faulty.word_bits) return std::nullopt;
    if (auto found = difference(*sound, faulty)) return found;
  }
  return std::nullopt;
}

/// The verdicts on the mutants of one memory.
struct Tally {
  std::int64_t drawn = 0, caught = 0, missed = 0, hidden = 0, ignored = 0;

  void operator+=(const Tally& other) {
    drawn += other.drawn;
    caught += other.caught;
    missed += other.missed;
    hidden += other.hidden;
    ignored += other.ignored;
  }
  double share() const {
    const std::int64_t observable = caught + missed + ignored;
    return observable == 0 ? 1 : static_cast<double>(caught) / static_cast<double>(observable);
  }
};

std::vector<std::string> row_of(const std::string& name, const Tally& tally) {
  return {name,
          std::to_string(tally.drawn),
          std::to_string(tally.caught),
          std::to_string(tally.missed),
          std::to_string(tally.hidden),
          std::to_string(tally.ignored),
          fixed_text(100 * tally.share(), 1) + " %"};
}

Tree tree_of(const Tally& tally) {
  Tree tree = Tree::dict();
  tree["drawn"] = tally.drawn;
  tree["caught"] = tally.caught;
  tree["missed"] = tally.missed;
  tree["hidden"] = tally.hidden;
  tree["ignored"] = tally.ignored;
  tree["share"] = tally.share();
  return tree;
}

class Mutation {
 public:
  Mutation(const Hardware& hardware, const emit::Vectors& vectors, emit::SimulateOptions options)
      : hardware_(hardware),
        vectors_(vectors),
        options_(std::move(options)),
        bits_(*hardware.design.program),
        simulator_(*hardware.design.program) {}

  /// Draws a bit, and does nothing if it is not in a memory.
  void draw(Random& random) {
    const ConstantBit bit = bits_.draw(random);
    const auto place = memory_bit(hardware_.design, bit);
    if (!place) return;
    Tally& tally = tallies_[place->memory];
    ++tally.drawn;
    options_.fault = place;
    const bool caught =
        !emit::simulate(hardware_.folder, hardware_.design, vectors_, options_).passed();
    const bool shown = shown_by(bit, vectors_);
    if (caught)
      ++tally.caught;
    else if (shown)
      ++tally.ignored;
    else
      ++(shown_by(bit, further()) ? tally.missed : tally.hidden);
  }

  const std::map<std::string, Tally>& tallies() const { return tallies_; }

 private:
  bool shown_by(const ConstantBit& bit, const emit::Vectors& vectors) {
    return simulator_.shown_by(bit, vectors.inputs, vectors.outputs, vectors.frames) >= 0;
  }

  /// The further frames, made when they are first needed.
  const emit::Vectors& further() {
    if (further_.frames > 0) return further_;
    const integer::Program& program = *hardware_.design.program;
    further_.frames = further_frames;
    further_.inputs = emit::varied_frames(program, further_frames, options_.seed + 2);
    further_.outputs = integer::Interpreter(program).run(further_.inputs, further_frames);
    return further_;
  }

  const Hardware& hardware_;
  const emit::Vectors& vectors_;
  emit::SimulateOptions options_;
  integer::ConstantBits bits_;
  integer::FaultSimulator simulator_;
  emit::Vectors further_;
  std::map<std::string, Tally> tallies_;
};

int show(const Mutation& mutation, Output& output) {
  passes::ReportTable table{
      "Flipped bits of memories",
      {"Memory", "Drawn", "Caught", "Missed", "Hidden", "Ignored", "Caught of observable"},
      {},
      ""};
  Tally all;
  Tree& document = output.document()["mutants"];
  for (const auto& [memory, tally] : mutation.tallies()) {
    table.rows.push_back(row_of(memory, tally));
    document["memories"][memory] = tree_of(tally);
    all += tally;
  }
  table.rows.push_back(row_of("total", all));
  document["total"] = tree_of(all);
  output.table(table);
  output.text(
      "missed: only further frames reveal it; hidden: no frame tried reveals it; ignored: the "
      "integer model reveals it, but the RTL does not");
  output.finish();
  return all.ignored == 0 && all.share() >= wanted_share ? 0 : static_cast<int>(Fault::goal);
}

}  // namespace

int run_mutants(const Hardware& hardware, const emit::Vectors& vectors,
                const emit::SimulateOptions& options, std::int64_t count, Output& output) {
  if (hardware.design.memories.empty())
    config_error("the design has no memory to flip bits in: its weights are constants");
  Mutation mutation(hardware, vectors, options);
  Random random(options.seed);
  ProgressLine progress(true);
  for (std::int64_t i = 0; i < count; ++i) {
    stop_if_asked();
    progress.show("mutant " + std::to_string(i + 1) + " of " + std::to_string(count));
    mutation.draw(random);
  }
  return show(mutation, output);
}

}  // namespace mase::driver
