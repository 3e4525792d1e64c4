// SPDX-License-Identifier: Apache-2.0
// Pools and elementwise steps on narrow codes: they load codes into 32-bit accumulators, work on
// them in place, and requantise.
#include <algorithm>
#include <limits>

#include "hardware/integer/running/step_kernel.hpp"

namespace mase::integer {
namespace {

using Accumulators = std::vector<std::int32_t>;

/// Codes [first, first + count) of a buffer of at most 32 bits.
void load(const kernels::KernelTable& table, const Buffer& in, std::size_t first, std::size_t count,
          std::int32_t* out) {
  if (in.storage() == Storage::narrow)
    table.widen(in.narrow() + first, out, count);
  else
    std::copy_n(in.middle() + first, count, out);
}

class PoolKernel : public StepKernel {
 public:
  PoolKernel(const Pool& pool, const kernels::Requantise32& requantise,
             const kernels::KernelTable& table)
      : pool_(pool), requantise_(requantise), table_(table), sums_(at(pool.window.channels)) {}

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) override {
    const Window& window = pool_.window;
    const std::int64_t frame = window.pixels() * window.channels;
    std::size_t first = 0;
    for (std::int64_t f = 0; f < frames; ++f)
      window.for_each_place([&](std::int64_t y, std::int64_t x) {
        run_pixel(in[0]->narrow() + f * frame, y, x);
        requantise_into(table_, requantise_, sums_.data(), out, first, sums_.size());
        first += sums_.size();
      });
  }

 private:
  void run_pixel(const std::int16_t* image, std::int64_t y, std::int64_t x) {
    const Window& window = pool_.window;
    const auto take = pool_.kind == PoolKind::max ? table_.maximum : table_.add;
    std::ranges::fill(sums_,
                      pool_.kind == PoolKind::max ? std::numeric_limits<std::int32_t>::min() : 0);
    window.for_each_tap(y, x, [&](std::int64_t pixel, std::int64_t) {
      take(image + pixel * window.channels, sums_.data(), sums_.size());
    });
  }

  Pool pool_;
  kernels::Requantise32 requantise_;
  const kernels::KernelTable& table_;
  Accumulators sums_;
};

// Elementwise steps: whether their operands are small enough for ElementKernel (its accumulators
// are, but the constants of a scale and the factors 2^shift must fit as well), and after how many
// elements their constants repeat.

bool has_small_operands(const Cast&) { return true; }
bool has_small_operands(const Binary& binary) {
  return binary.shift_a <= 30 && binary.shift_b <= 30;
}
bool has_small_operands(const ScaleShift& scale) {
  return std::ranges::all_of(scale.scale, [](std::int64_t code) {
    return code >= std::numeric_limits<std::int32_t>::min() &&
           code <= std::numeric_limits<std::int32_t>::max();
  });
}
bool has_small_operands(const ChannelShift& shift) { return std::ranges::max(shift.left) <= 30; }

std::int64_t period_of(const Cast&) { return 1; }
std::int64_t period_of(const Binary&) { return 1; }
std::int64_t period_of(const ScaleShift& scale) {
  return static_cast<std::int64_t>(scale.scale.size());
}
std::int64_t period_of(const ChannelShift& shift) {
  return static_cast<std::int64_t>(shift.left.size());
}

template <class Operation>
concept Elementwise = requires(const Operation& operation) {
  has_small_operands(operation);
  period_of(operation);
};

/// Elementwise steps in blocks of whole periods, after which constants repeat.
class ElementKernel : public StepKernel {
 public:
  template <Elementwise Operation>
  ElementKernel(const Operation& operation, const kernels::Requantise32& requantise,
                const kernels::KernelTable& table)
      : requantise_(requantise), table_(table) {
    const std::int64_t period = period_of(operation);
    block_ = at(std::max<std::int64_t>(1, 1024 / period) * period);
    first_.resize(block_);
    second_.resize(block_);
    take(operation);
  }

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t) override {
    for (std::size_t start = 0; start < out.size(); start += block_) {
      const std::size_t count = std::min(block_, out.size() - start);
      load(table_, *in[0], start, count, first_.data());
      if (in.size() == 2) load(table_, *in[1], start, count, second_.data());
      if (binary_) combine(*binary_, count);
      if (!scale_.empty()) apply_scale(count);
      requantise_into(table_, requantise_, first_.data(), out, start, count);
    }
  }

 private:
  void take(const Cast&) {}
  void take(const Binary& binary) { binary_ = &binary; }
  void take(const ScaleShift& scale) {
    const std::size_t channels = scale.scale.size();
    for (std::size_t i = 0; i < block_; ++i) {
      scale_.push_back(static_cast<std::int32_t>(scale.scale[i % channels]));
      shift_.push_back(scale.shift.empty() ? 0
                                           : static_cast<std::int32_t>(scale.shift[i % channels]));
    }
  }

  void take(const ChannelShift& shift) {
    for (std::size_t i = 0; i < block_; ++i)
      scale_.push_back(std::int32_t{1} << shift.left[i % shift.left.size()]);
    shift_.resize(block_);
  }

  void apply_scale(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) first_[i] = first_[i] * scale_[i] + shift_[i];
  }

  void combine(const Binary& binary, std::size_t count) {
    const std::int32_t a = 1 << binary.shift_a, b = 1 << binary.shift_b;
    binary.with_function([&](auto function) {
      for (std::size_t i = 0; i < count; ++i) first_[i] = function(first_[i] * a, second_[i] * b);
    });
  }

  const Binary* binary_ = nullptr;  ///< null for steps with one input
  kernels::Requantise32 requantise_;
  const kernels::KernelTable& table_;
  std::size_t block_ = 0;
  Accumulators first_, second_, scale_, shift_;
};

class LookupKernel : public StepKernel {
 public:
  explicit LookupKernel(const Codes& table) : table_(table.begin(), table.end()) {}

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t) override {
    if (in[0]->storage() == Storage::narrow)
      look_up(in[0]->narrow(), out);
    else
      look_up(in[0]->middle(), out);
  }

 private:
  template <class In>
  void look_up(const In* in, Buffer& out) const {
    if (out.storage() == Storage::narrow)
      look_up(in, out.narrow(), out.size());
    else
      look_up(in, out.middle(), out.size());
  }

  template <class In, class Out>
  void look_up(const In* in, Out* out, std::size_t count) const {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(table_[static_cast<std::size_t>(in[i]) & mask]);
  }

  std::vector<std::int32_t> table_;
};

/// The results of a piecewise step for all of its inputs, in the order of their bits.
Codes all_results(const Piecewise& piecewise, const Requantise& requantise) {
  Codes results(piecewise.slope.size() << piecewise.low_bits);
  for (std::size_t bits = 0; bits < results.size(); ++bits)
    results[bits] =
        static_cast<std::int64_t>(requantise(piecewise(static_cast<std::int64_t>(bits))));
  return results;
}

class GatherKernel : public StepKernel {
 public:
  explicit GatherKernel(const Gather& gather) : gather_(gather) {}

  void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t) override {
    if (out.storage() == Storage::narrow)
      gather(in[0]->narrow(), out.narrow(), out.size());
    else
      gather(in[0]->middle(), out.middle(), out.size());
  }

 private:
  template <class Code>
  void gather(const Code* in, Code* out, std::size_t count) const {
    for (const Code* end = out + count; out != end; in += gather_.period)
      for (const std::int64_t place : gather_.places)
        *out++ = place < 0 ? static_cast<Code>(gather_.outside) : in[place];
  }

  const Gather& gather_;
};

/// Finds the kernel for the operation of a step whose output is at most 32 bits wide.
class KernelChoice {
 public:
  using Kernel = std::unique_ptr<StepKernel>;

  KernelChoice(const Program& program, const Step& step, const kernels::KernelTable& table)
      : program_(program), step_(step), table_(table), requantise_(narrow_requantise(step)) {}

  Kernel operator()(const Lookup& lookup) const {
    return std::make_unique<LookupKernel>(lookup.table);
  }
  Kernel operator()(const Piecewise& piecewise) const {
    return std::make_unique<LookupKernel>(all_results(piecewise, step_.requantise));
  }
  Kernel operator()(const Gather& gather) const {
    if (storage(step_.inputs[0]) != storage(step_.output)) return nullptr;
    return std::make_unique<GatherKernel>(gather);
  }
  Kernel operator()(const Pool& pool) const {
    if (!requantise_ || storage(step_.inputs[0]) != Storage::narrow) return nullptr;
    return std::make_unique<PoolKernel>(pool, *requantise_, table_);
  }
  template <Elementwise Operation>
  Kernel operator()(const Operation& operation) const {
    if (!requantise_ || !has_small_operands(operation)) return nullptr;
    for (const ValueId id : step_.inputs)
      if (storage(id) == Storage::wide) return nullptr;
    return std::make_unique<ElementKernel>(operation, *requantise_, table_);
  }
  /// Other steps run their own loops.
  template <class Operation>
  Kernel operator()(const Operation&) const {
    return nullptr;
  }

 private:
  Storage storage(ValueId id) const { return storage_for(program_.value(id).type); }

  const Program& program_;
  const Step& step_;
  const kernels::KernelTable& table_;
  std::optional<kernels::Requantise32> requantise_;
};

}  // namespace

std::unique_ptr<StepKernel> make_channel_kernel(const Program& program, const Step& step,
                                                const kernels::KernelTable& table) {
  if (storage_for(program.value(step.output).type) == Storage::wide) return nullptr;
  return std::visit(KernelChoice(program, step, table), step.operation);
}

}  // namespace mase::integer
