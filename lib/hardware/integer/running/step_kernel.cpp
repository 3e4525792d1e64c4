// SPDX-License-Identifier: Apache-2.0
// Choosing kernels, and the kernel that runs the definition.
#include "hardware/integer/running/step_kernel.hpp"

#include <algorithm>
#include <limits>

#include "hardware/integer/lowering/exact_step.hpp"

namespace mase::integer {
namespace {

constexpr Wide most = std::numeric_limits<std::int32_t>::max();
constexpr Wide least = std::numeric_limits<std::int32_t>::min();

/// The codes of a step's inputs.
struct InputCodes {
  explicit InputCodes(const std::vector<const Buffer*>& in) : codes(in.size()) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i]->append_to(codes[i]);
      pointers.push_back(&codes[i]);
    }
  }
  InputCodes(const InputCodes&) = delete;
  InputCodes& operator=(const InputCodes&) = delete;

  std::vector<Codes> codes;
  std::vector<const Codes*> pointers;
};

class ExactKernel : public StepKernel {
 public:
  ExactKernel(const Program& program, const Step& step) : program_(program), step_(step) {}

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) override {
    const InputCodes codes(in);
    out.set(run_exactly(program_, step_, codes.pointers, frames));
  }

 private:
  const Program& program_;
  const Step& step_;
};

/// A step whose sums leave it whole, in more than 64 bits.
class SumKernel : public StepKernel {
 public:
  SumKernel(const Program& program, const Step& step) : program_(program), step_(step) {}

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) override {
    const InputCodes codes(in);
    out.exact() = run_sums(program_, step_, codes.pointers, frames);
  }

 private:
  const Program& program_;
  const Step& step_;
};

/// The requantisation of such sums.
class RoundingKernel : public StepKernel {
 public:
  explicit RoundingKernel(const Step& step) : step_(step) {}

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t) override {
    const auto* levels = std::get_if<Quantize>(&step_.operation);
    Codes codes;
    codes.reserve(in[0]->size());
    for (const Wide sum : in[0]->exact())
      codes.push_back(levels ? (*levels)(sum) : static_cast<std::int64_t>(step_.requantise(sum)));
    out.set(codes);
  }

 private:
  const Step& step_;
};

/// A step on the numbers of its inputs' short codes.
class DecodingKernel : public StepKernel {
 public:
  DecodingKernel(const Program& program, const Step& step, const kernels::KernelTable& table)
      : step_(step) {
    numbers_.values = program.values;
    for (const ValueId id : step.inputs) {
      StreamValue& value = numbers_.values[at(id)];
      Decoder decoder{Buffer(storage_for(value.numbers())), {}, {}};
      if (value.code)
        for (Wide code = value.type.low(); code <= value.type.high(); ++code)
          decoder.table.push_back(value.code->number(static_cast<std::int64_t>(code)));
      decoder.least = static_cast<std::int64_t>(value.type.low());
      decoders_.push_back(std::move(decoder));
    }
    for (const ValueId id : step.inputs) {
      StreamValue& value = numbers_.values[at(id)];
      value.type = value.numbers();
      value.code = std::nullopt;
    }
    kernel_ = make_kernel(numbers_, step_, table);
  }

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) override {
    std::vector<const Buffer*> decoded(in);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!decoders_[i].table.empty()) decoded[i] = &decoders_[i].decode(*in[i]);
    kernel_->run(decoded, out, frames);
  }

 private:
  struct Decoder {
    Buffer numbers;
    Codes table;  ///< empty for an input that has numbers
    std::int64_t least = 0;

    const Buffer& decode(const Buffer& in) {
      Codes codes;
      in.append_to(codes);
      for (std::int64_t& code : codes) code = table[at(code - least)];
      numbers.set(codes);
      return numbers;
    }
  };

  Step step_;
  Program numbers_;
  std::vector<Decoder> decoders_;
  std::unique_ptr<StepKernel> kernel_;
};

/// A step on the numbers of elements in blocks.
class BlockKernel : public StepKernel {
 public:
  BlockKernel(const Program& program, const Step& step, const kernels::KernelTable& table)
      : blocks_(blocks_of(step.operation)), step_(step) {
    step_.inputs.pop_back();
    take_numbers(step_.operation);
    numbers_of_.values = program.values;
    StreamValue& value = numbers_of_.values[at(step.inputs[0])];
    const Interval range = blocks_.numbers(interval_of(value.numbers()));
    elements_code_ = value.code;
    value.type = type_for(range.low, range.high, value.type.frac);
    value.code = std::nullopt;
    numbers_ = Buffer(storage_for(value.type));
    kernel_ = make_kernel(numbers_of_, step_, table);
  }

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) override {
    Codes elements, scales;
    in[0]->append_to(elements);
    in[1]->append_to(scales);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements_code_) elements[i] = elements_code_->number(elements[i]);
      elements[i] = blocks_.number(elements[i], scales[i / at(blocks_.length)]);
    }
    numbers_.set(elements);
    kernel_->run({&numbers_}, out, frames);
  }

 private:
  BlockInput blocks_;
  Step step_;
  Program numbers_of_;
  std::optional<FloatCode> elements_code_;
  Buffer numbers_;
  std::unique_ptr<StepKernel> kernel_;
};

bool has_short_inputs(const Program& program, const Step& step) {
  return std::ranges::any_of(step.inputs,
                             [&](ValueId id) { return program.value(id).code.has_value(); });
}

}  // namespace

std::unique_ptr<StepKernel> make_kernel(const Program& program, const Step& step,
                                        const kernels::KernelTable& table) {
  if (blocks_of(step.operation)) return std::make_unique<BlockKernel>(program, step, table);
  if (decodes_inputs(step.operation) && has_short_inputs(program, step))
    return std::make_unique<DecodingKernel>(program, step, table);
  if (storage_for(program.value(step.output).type) == Storage::exact)
    return std::make_unique<SumKernel>(program, step);
  if (storage_for(program.value(step.inputs[0]).type) == Storage::exact)
    return std::make_unique<RoundingKernel>(step);
  if (auto kernel = make_matrix_kernel(program, step, table)) return kernel;
  if (auto kernel = make_channel_kernel(program, step, table)) return kernel;
  return std::make_unique<ExactKernel>(program, step);
}

std::optional<kernels::Requantise32> narrow_requantise(const Step& step) {
  const Requantise& from = step.requantise;
  kernels::Requantise32 to;
  to.shift = std::max(from.shift, 0);
  to.left = std::max(-from.shift, 0);
  to.divisor = from.divisor;
  to.floor = from.rounding == formats::Rounding::floor;
  to.away = from.rounding == formats::Rounding::nearest_away;
  if (to.shift > 30 || to.left > 30 || to.divisor > most) return std::nullopt;
  if (from.low < least || from.high > most) return std::nullopt;
  to.low = static_cast<std::int32_t>(from.low);
  to.high = static_cast<std::int32_t>(from.high);
  // Shifted left, or with half of the last place added, the codes still fit.
  const Wide scale = static_cast<Wide>(1) << to.left, half = (static_cast<Wide>(1) << to.shift) / 2;
  if (step.low * scale < least || step.high * scale + half > most) return std::nullopt;
  return to;
}

void requantise_into(const kernels::KernelTable& table, const kernels::Requantise32& requantise,
                     const std::int32_t* accumulators, Buffer& out, std::size_t first,
                     std::size_t count) {
  if (out.storage() == Storage::narrow)
    table.requantise_to_16(requantise, accumulators, out.narrow() + first, count);
  else
    table.requantise_to_32(requantise, accumulators, out.middle() + first, count);
}

}  // namespace mase::integer
