// SPDX-License-Identifier: Apache-2.0
// The step table: how a step of the integer program becomes hardware. One row for each kind of
// step: its modules, what its fold must divide, and its interval.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/design.hpp"
#include "hardware/design/folding/packing.hpp"
#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

using integer::Program;
using integer::Step;
using integer::StreamValue;

/// Longer than any.
inline constexpr std::int64_t any_interval = std::numeric_limits<std::int64_t>::max();

/// What the lanes of a fold must divide.
struct FoldRule {
  std::int64_t in = 1, out = 1;
  bool same = false;             ///< in_lanes = out_lanes
  bool parallel_window = false;  ///< whether the step has a window that can be unfolded
  std::int64_t in_unit = 1;      ///< in_lanes are a multiple of it
  std::int64_t out_unit = 1;     ///< out_lanes divide it or are a multiple of it

  std::vector<std::int64_t> in_lanes() const;   ///< that a fold may have, ascending
  std::vector<std::int64_t> out_lanes() const;  ///< the same
};

/// Adds the instances of one step to a design.
class StepBuilder {
 public:
  /// `images` false leaves memory images empty: for costs, which depend on their size only.
  StepBuilder(Design& design, const Program& program, const Step& step, const Fold& fold,
              std::string name, bool images)
      : program(program),
        step(step),
        fold(fold),
        design_(design),
        name_(std::move(name)),
        images_(images) {}

  const Program& program;
  const Step& step;
  const Fold& fold;

  const StreamValue& input(std::size_t index = 0) const;
  const StreamValue& output() const { return program.value(step.output); }
  const Stream& stream(StreamId id) const { return design_.stream(id); }

  /// An instance `name` + `suffix` from `inputs` to one new stream; the builder renames clashes.
  StreamId add(Module module, std::string_view suffix, std::vector<StreamId> inputs, Stream out);
  /// The step's last instance, whose output stream carries the step's value in `lanes` lanes.
  StreamId finish(Module module, std::vector<StreamId> inputs, std::int64_t lanes);
  /// Width converters where the lanes differ; two where neither divides the other, by way of the
  /// greatest common divisor, unless so few lanes would take more than `interval` cycles for a
  /// frame.
  StreamId resize(StreamId from, std::int64_t lanes, std::string_view name,
                  std::int64_t interval = any_interval);

  /// Adds the image `<name>_<what>.mem` and returns its file name.
  template <class Words>
  std::string memory(const std::string& what, std::int64_t word_bits, Words&& words) {
    return add_memory(what, word_bits, images_ ? words() : std::vector<std::string>{});
  }
  /// The same for a code per lane and block; no file for no codes.
  template <class Codes>
  std::string vector_memory(const std::string& what, const Codes& codes, std::int64_t lanes,
                            int bits) {
    if (codes.empty()) return "";
    return memory(what, lanes * bits, [&] {
      return vector_words(std::vector<Wide>(codes.begin(), codes.end()), lanes, bits);
    });
  }
  const std::string& name() const { return name_; }

 private:
  std::string add_memory(const std::string& what, std::int64_t word_bits,
                         std::vector<std::string> words);

  Design& design_;
  std::string name_;
  bool images_;
};

/// How steps of one kind become hardware.
struct StepRow {
  std::string_view kind;
  FoldRule (*rule)(const Program&, const Step&, const Fold&);
  /// Lanes of input stream `port` under a fold.
  std::int64_t (*input_lanes)(const Step&, const Fold&, std::size_t port);
  std::int64_t (*interval)(const Program&, const Step&, const Fold&);
  /// Whether beats are not taken as evenly as they come; null for never.
  bool (*bursts)(const Program&, const Step&, const Fold&);
  /// Inputs have their lanes already. Returns the stream of the step's value.
  StreamId (*add)(StepBuilder& builder, const std::vector<StreamId>& inputs);
  /// Products in multipliers whose activations several outputs share; null for none.
  SharedProducts (*shared)(const Program&, const Step&, const Fold&) = nullptr;
  /// Whether every element is a sum of products, so that busy multipliers are what counts.
  bool sums_products = false;
};

/// Internal error for a kind without a row.
const StepRow& step_row(const Step& step);

/// Error(Fault::config) naming step, number and what would divide.
void check_fold(const Program& program, const Step& step, const Fold& fold);
/// Interval of one step under a fold, in cycles per frame (closed form).
std::int64_t step_interval(const Program& program, const Step& step, const Fold& fold);

/// The packings that a fold can have in a block.
std::vector<Packing> step_packings(const Program& program, const Step& step, const Fold& fold,
                                   const DspBlock& block);

/// One step between streams of its own lanes; without memory images.
Design lone_step(const Program& program, const Step& step, const Fold& fold, bool images = false);
/// Whether a step takes its beats in bursts, so that a FIFO in front of it lets others go on.
bool takes_in_bursts(const Program& program, const Step& step, const Fold& fold);
std::int64_t output_lanes(const Program& program, const Step& step, const Fold& fold);
std::vector<std::int64_t> divisors(std::int64_t number);  ///< ascending

// What the parameters of several rows are made of.

std::int64_t accumulator_width(const Step& step);
/// The bits of a code, as the modules' plain vectors take them.
Sized plain_code(Wide code, int width);
/// The step's own requantisation.
Requantisation requantisation_of(const StepBuilder& builder);
FoldRule same_lanes(std::int64_t count);  ///< in and out, which divide `count`
/// Lanes may cross pixels where every element is treated alike.
FoldRule element_rule(const Program& program, const Step& step, const Fold& fold);
/// Lanes are channels.
FoldRule channel_rule(const Program& program, const Step& step, const Fold& fold);
// Cycles of a frame: in beats of in_lanes that come or leave, or of out_lanes that leave.
std::int64_t input_interval(const Program& program, const Step& step, const Fold& fold);
std::int64_t output_interval(const Program& program, const Step& step, const Fold& fold);
std::int64_t unfolded_interval(const Program& program, const Step& step, const Fold& fold);
std::int64_t fold_lanes(const Step& step, const Fold& fold, std::size_t port);  ///< in_lanes

}  // namespace mase::design
