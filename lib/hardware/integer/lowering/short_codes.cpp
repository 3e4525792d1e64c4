// SPDX-License-Identifier: Apache-2.0
// From numbers on levels to short codes, step by step in the order of execution.
#include "hardware/integer/lowering/short_codes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "base/error.hpp"
#include "hardware/integer/lowering/quantize.hpp"
#include "hardware/integer/lowering/requantise.hpp"

namespace mase::integer {
namespace {

/// The short codes for a stream of numbers; nullopt where it keeps its own.
std::optional<FloatCode> short_code(const StreamValue& value) {
  if (!value.levels || !value.levels->code) return std::nullopt;
  const FixedType& numbers = value.type;
  FloatCode code = *value.levels->code;
  const Codes levels = codes_within(*value.levels, numbers);
  if (numbers.frac != value.levels->type.frac || levels.empty() ||
      (numbers.is_signed && !code.is_signed))
    return std::nullopt;
  const auto [low, high] = std::pair(code.code(levels.front()), code.code(levels.back()));
  code.width = type_for(numbers.is_signed ? std::min<Wide>(*low, -1) : 0, *high, 0).width;
  code.is_signed = numbers.is_signed;
  const std::int64_t most = std::max(-levels.front(), levels.back());
  code.number_width = type_for(numbers.is_signed ? -most : 0, most, 0).width;
  if (code.width > numbers.width) return std::nullopt;
  return code;
}

/// Every code, in the order of a table's entries.
Codes all_codes(const FixedType& type) {
  Codes codes;
  for (Wide code = 0; code <= type.high(); ++code) codes.push_back(static_cast<std::int64_t>(code));
  for (Wide code = type.low(); code < 0; ++code) codes.push_back(static_cast<std::int64_t>(code));
  return codes;
}

/// Whether a step gives a function of each element of its one input.
bool is_function(const Operation& operation) {
  return std::holds_alternative<Quantize>(operation) || std::holds_alternative<Cast>(operation) ||
         std::holds_alternative<Piecewise>(operation);
}

class Shortener {
 public:
  explicit Shortener(Program& program) : program_(program) {
    for (const Step& step : program.steps) names_.insert(step.name);
    for (const StreamValue& value : program.values) names_.insert(value.name);
  }

  void run() {
    for (const ValueId id : program_.inputs) set_code(id);
    std::vector<Step> steps = std::move(program_.steps);
    program_.steps.clear();
    for (Step& step : steps) add(std::move(step));
    for (ValueId& id : program_.outputs)
      if (is_short(id)) id = result(id);
  }

 private:
  StreamValue& value(ValueId id) { return program_.values[at(id)]; }
  bool is_short(ValueId id) { return value(id).code.has_value(); }

  void set_code(ValueId id) {
    StreamValue& made = value(id);
    made.code = short_code(made);
    numbers_[id] = made.type;
    if (made.code) made.type = {made.code->width, made.type.frac, made.code->is_signed};
  }

  void add(Step step) {
    if (follows(step)) {
      follow(step);
    } else if (step.inputs.size() == 1 && is_short(step.inputs[0]) && is_function(step.operation)) {
      tabulate(step);
    } else {
      for (ValueId& id : step.inputs)
        if (is_short(id) && !takes_codes(step, id)) id = decoded(id, step.layer);
      shorten_results(step);
    }
    program_.steps.push_back(std::move(step));
  }

  /// Whether a step decodes an input itself, or only compares its elements. Padding is code 0.
  bool takes_codes(const Step& step, ValueId id) {
    const auto* convolution = std::get_if<Convolution>(&step.operation);
    const bool padded =
        convolution && (convolution->window.x.padded() || convolution->window.y.padded());
    if (padded && !value(id).code->has_zero) return false;
    return decodes_inputs(step.operation) || std::holds_alternative<Argmax>(step.operation);
  }

  /// Whether a step gives codes of its inputs, which all have the same short ones.
  bool follows(const Step& step) {
    const std::shared_ptr<const Levels> levels = value(step.inputs[0]).levels;
    return levels && std::ranges::all_of(step.inputs, [&](ValueId id) { return is_short(id); }) &&
           value(step.output).levels && keeps_levels(step, *levels) &&
           short_code(value(step.output));
  }

  /// The numbers of all codes, in the order of a table's entries; those of codes that do not occur
  /// are those of the nearest that do.
  static Codes numbers_of(const StreamValue& in) {
    const std::int64_t least = in.least_code(), greatest = in.greatest_code();
    Codes numbers = all_codes(in.type);
    for (std::int64_t& code : numbers) code = in.code->number(std::clamp(code, least, greatest));
    return numbers;
  }

  static std::int64_t code_of(const FloatCode& code, std::int64_t number, const StreamValue& out) {
    const auto found = code.code(number);
    MASE_CHECK(found.has_value(), "a number on no level in '" + out.name + "'");
    return *found;
  }

  void follow(Step& step) {
    const Levels& levels = *value(step.inputs[0]).levels;
    set_code(step.output);
    const StreamValue& out = value(step.output);
    const FloatCode& any = *levels.code;  // of numbers that a clamp takes away, too
    const auto shorten = [&](std::int64_t number) { return code_of(any, number, out); };
    // The bounds of codes are those of the levels within the bounds of numbers.
    const auto low = [&](Wide number) -> Wide {
      const auto next = std::ranges::lower_bound(levels.codes, number);
      return shorten(next == levels.codes.end() ? levels.codes.back() : *next);
    };
    const auto high = [&](Wide number) -> Wide {
      const auto next = std::ranges::upper_bound(levels.codes, number);
      return shorten(next == levels.codes.begin() ? levels.codes.front() : *std::prev(next));
    };
    if (auto* insert = std::get_if<Insert>(&step.operation))
      std::ranges::transform(insert->codes, insert->codes.begin(), shorten);
    if (auto* gather = std::get_if<Gather>(&step.operation))
      gather->outside = any.code(gather->outside).value_or(0);
    step.low = low(step.low);
    step.high = high(step.high);
    step.requantise.low = std::max(low(step.requantise.low), out.type.low());
    step.requantise.high = std::min(high(step.requantise.high), out.type.high());
  }

  /// The results of the step for the numbers of all codes, as a table.
  void tabulate(Step& step) {
    const StreamValue& in = value(step.inputs[0]);
    const Codes numbers = numbers_of(in);
    Lookup lookup{operation_name(step.operation), Codes(numbers.size())};
    const auto count = std::ssize(numbers);
    Frame<Wide> frame({count}, count, step.requantise, 127);
    frame.set({numbers.data()}, lookup.table.data());
    std::visit([&](const auto& operation) { operation.run(frame); }, step.operation);
    step.operation = std::move(lookup);
    exact_results(step);
    shorten_results(step);
  }

  /// A table has its results in its entries.
  void exact_results(Step& step) {
    const StreamValue& out = value(step.output);
    step.low = out.type.low();
    step.high = out.type.high();
    step.frac = out.type.frac;
    step.requantise = unchanged(out.type);
  }

  /// Gives a step that has its results in a list short codes in their place.
  void shorten_results(Step& step) {
    Codes* results = nullptr;
    if (auto* quantize = std::get_if<Quantize>(&step.operation)) results = &quantize->levels;
    if (auto* lookup = std::get_if<Lookup>(&step.operation); lookup && !lookup->external)
      results = &lookup->table;
    if (!results || !short_code(value(step.output))) return;
    set_code(step.output);
    const StreamValue& out = value(step.output);
    for (std::int64_t& number : *results) number = code_of(*out.code, number, out);
    exact_results(step);
  }

  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !names_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  std::string layer_of(ValueId id) {
    const auto made = std::ranges::find(program_.steps, id, &Step::output);
    return made == program_.steps.end() ? value(id).name : made->layer;
  }

  /// The numbers of a stream, which readers share.
  ValueId decoded(ValueId id, const std::string& layer) {
    const auto known = decoded_.find(id);
    if (known != decoded_.end()) return known->second;
    const StreamValue& coded = value(id);
    const auto low = static_cast<std::int64_t>(numbers_.at(id).low());
    const auto high = static_cast<std::int64_t>(numbers_.at(id).high());
    Lookup lookup{"decode", numbers_of(coded)};
    for (std::int64_t& number : lookup.table) number = std::clamp(number, low, high);
    StreamValue numbers = coded;
    numbers.name = unique(coded.name + "_numbers");
    numbers.type = numbers_.at(id);
    numbers.code = std::nullopt;
    Step step;
    step.name = unique(layer + "_decode");
    step.layer = layer;
    step.inputs = {id};
    step.output = static_cast<ValueId>(program_.values.size());
    step.operation = std::move(lookup);
    program_.values.push_back(std::move(numbers));
    exact_results(step);
    program_.steps.push_back(std::move(step));
    return decoded_[id] = program_.steps.back().output;
  }

  /// The numbers of a result, under its name.
  ValueId result(ValueId id) {
    const ValueId numbers = decoded(id, layer_of(id));
    if (std::ranges::find(program_.inputs, id) != program_.inputs.end()) return numbers;
    value(numbers).name = value(id).name;
    value(id).name = unique(value(id).name + "_codes");
    return numbers;
  }

  Program& program_;
  std::set<std::string> names_;
  std::map<ValueId, FixedType> numbers_;  ///< of streams that have short codes
  std::map<ValueId, ValueId> decoded_;
};

}  // namespace

void shorten_codes(Program& program) { Shortener(program).run(); }

}  // namespace mase::integer
