// Cost of modules that store, split, join, re-cut and map streams.
#include "hardware/design/modules/stream_cost.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/design/modules/arithmetic_cost.hpp"

namespace mase::design {
namespace {

std::int64_t value(const Instance& instance, const char* name) {
  return instance.parameters.integer(name);
}

/// A queue's memory, without its output register.
Cost queue_memory(std::int64_t width, std::int64_t depth) {
  if (depth <= 32) return {.lut = 4.0 * static_cast<double>(ceiling(width, 6))};
  const std::int64_t banks = ceiling(depth, 64);
  const double selectors = static_cast<double>(width * ceiling(banks - 1, 3));
  return {.lut = 4.0 * static_cast<double>(ceiling(width, 3) * banks) + selectors};
}

/// One product in LUTs or DSP blocks, without registers.
Cost product_cost(std::int64_t a, std::int64_t b, std::int64_t multiplier) {
  if (multiplier != 2 && std::min(a, b) >= 2 && a + b >= 9)
    return {.dsp = static_cast<double>(ceiling(a, 25) * ceiling(b, 18))};
  const auto rows = static_cast<double>(ceiling(b, 2));
  // A Booth row, and 3.5 LUTs to decode its digit.
  return {.lut = rows * (static_cast<double>(a + 2) + 3.5),
          .carry = rows * std::ceil(double(a + 2) / 4)};
}

std::int64_t signed_bits(const Instance& instance, const char* width, const char* is_signed) {
  return value(instance, width) + (value(instance, is_signed) != 0 ? 0 : 1);
}

/// What every pipeline ends in: the register of the results, their valid bits, the skid.
Cost output_cost(std::int64_t width, std::int64_t stages) {
  Cost cost = buffer_cost(width);
  cost.ff += static_cast<double>(width + stages);
  cost.lut += 1;
  return cost;
}

}  // namespace

Cost skid_cost(const Design&, const Instance& instance) {
  return buffer_cost(value(instance, "W"));
}

Cost fifo_cost(const Design&, const Instance& instance) {
  const std::int64_t width = value(instance, "W"), depth = value(instance, "DEPTH");
  const int address = std::max(1, log2_ceiling(depth));
  const bool block = depth > 64 && width * depth >= 2048;
  Cost cost = block ? rom_cost(width, depth) : queue_memory(width, depth);
  cost.lut += depth > 15 ? 12 + 4.5 * address : 4 + 4.0 * address;
  cost.ff += 3 * address + 2 + (block ? 0 : static_cast<double>(width));
  cost.carry += 2 * counter_carry(address) + counter_carry(log2_ceiling(depth + 1));
  return cost;
}

Cost fork_cost(const Design&, const Instance& instance) {
  Cost cost = scaled(buffer_cost(value(instance, "W")), static_cast<double>(value(instance, "N")));
  cost.lut += 2;
  return cost;
}

namespace {

/// LUTs of a bit that chooses one of `pieces` and enters a skid: four pieces a LUT6, two a LUT3,
/// and the last two stand in the skid's own LUT.
std::int64_t choice_luts(std::int64_t pieces) {
  std::int64_t luts = 1;
  while (pieces > 2) {
    const std::int64_t groups = pieces / 4 + (pieces % 4 > 1 ? 1 : 0);
    luts += groups;
    pieces = groups + (pieces % 4 == 1 ? 1 : 0);
  }
  return luts;
}

Cost narrow_cost(std::int64_t bits, std::int64_t pieces) {
  const int index = log2_ceiling(pieces);
  return {.lut = static_cast<double>(bits * choice_luts(pieces) + std::max(6, 2 + 2 * index)),
          .ff = static_cast<double>(bits * (pieces + 2) + 3 + index),
          .carry = index > 2 ? 1.0 : 0.0};
}

}  // namespace

Cost resize_cost(const Design&, const Instance& instance) {
  const std::int64_t in = value(instance, "IN_LANES"), out = value(instance, "OUT_LANES");
  const std::int64_t ratio = std::max(in, out) / std::min(in, out);
  const std::int64_t narrow = std::min(in, out) * value(instance, "W");
  if (ratio == 1) return buffer_cost(narrow);
  if (in > out) return narrow_cost(narrow, ratio);
  const int index = log2_ceiling(ratio);
  return {.lut = 4.0 + index,
          .ff = static_cast<double>(narrow * (2 * ratio - 1) + 1 + index),
          .carry = index > 2 ? 1.0 : 0.0};
}

Cost concat_cost(const Design&, const Instance& instance) {
  const int index = log2_ceiling(std::max(value(instance, "A_BEATS"), value(instance, "B_BEATS")));
  Cost cost = buffer_cost(value(instance, "W"));
  cost.lut += 4 + 1.3 * index;
  cost.ff += index + 1;
  cost.carry += index > 2 ? std::ceil(index / 4.0) : 0;
  return cost;
}

Cost slice_cost(const Design&, const Instance& instance) {
  const int index = std::max(1, log2_ceiling(value(instance, "BEATS")));
  Cost cost = buffer_cost(value(instance, "W"));
  cost.lut += std::max(0, 2 * index - 2);
  cost.ff += index;
  cost.carry += index > 2 ? 2 * std::ceil(index / 4.0) : 0;
  return cost;
}

Cost cast_cost(const Design&, const Instance& instance) {
  const std::int64_t lanes = value(instance, "LANES");
  const Width width{static_cast<int>(value(instance, "IW")), value(instance, "ISIGNED") != 0};
  Cost cost = output_cost(lanes * value(instance, "OW"), 1);
  Cost lane = clamp_cost(instance, width);
  lane.lut += clamp_choice(instance, width);
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Cost lookup_cost(const Design& design, const Instance& instance) {
  const std::int64_t lanes = value(instance, "LANES"), out = value(instance, "OW");
  const std::int64_t words = std::int64_t{1} << value(instance, "IW");
  Cost cost = output_cost(lanes * out, 1);
  const auto tables = static_cast<double>(lanes);
  if (words * out < 8192) {
    const Memory* image = image_of(design, instance, "FILE");
    cost.lut += tables * table_cost(out, words, image).lut;
    return cost;
  }
  cost.ff -= tables * static_cast<double>(out);  // the block memory's own register
  cost += scaled(rom_cost(out, words), tables);
  return cost;
}

Cost binary_cost(const Design&, const Instance& instance) {
  const std::int64_t lanes = value(instance, "LANES"), acc = value(instance, "ACCW");
  Cost lane = value(instance, "OP") != 2 ? adder_cost(static_cast<double>(acc))
                                         : product_cost(signed_bits(instance, "AW", "ASIGNED"),
                                                        signed_bits(instance, "BW", "BSIGNED"),
                                                        value(instance, "MULTIPLIER"));
  // A DSP block adds the half itself and takes the operands' registers too.
  Cost clamp = clamp_cost(instance, {static_cast<int>(acc)});
  clamp.lut += clamp_choice(instance, {static_cast<int>(acc)});
  if (lane.dsp != 0) clamp.carry = 0;
  if (lane.dsp == 0)
    lane.ff += static_cast<double>(acc);
  else
    lane.ff -= static_cast<double>(value(instance, "AW") + value(instance, "BW"));
  lane += clamp;
  Cost cost = output_cost(lanes * value(instance, "OW"), 2);
  cost += buffer_cost(lanes * value(instance, "AW"));
  cost += buffer_cost(lanes * value(instance, "BW"));
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Cost scale_shift_cost(const Design& design, const Instance& instance) {
  const std::int64_t lanes = value(instance, "LANES"), acc = value(instance, "ACCW");
  const std::int64_t blocks = value(instance, "BLOCKS"), in = value(instance, "AW");
  const bool shifts = value(instance, "HAS_SHIFT") != 0;
  Cost lane = product_cost(signed_bits(instance, "AW", "ASIGNED"),
                           signed_bits(instance, "SW", "SSIGNED"), value(instance, "MULTIPLIER"));
  Cost clamp = clamp_cost(instance, {static_cast<int>(acc)});
  clamp.lut += clamp_choice(instance, {static_cast<int>(acc)});
  // A DSP block holds operands and product and adds the next constant: the shift, else the half.
  if (lane.dsp == 0) {
    lane.ff += static_cast<double>(acc + in);
    if (shifts) lane += adder_cost(static_cast<double>(acc));
    if (shifts) lane.ff += static_cast<double>(acc);
  } else if (!shifts) {
    clamp.carry = 0;
  }
  lane += clamp;
  Cost cost = output_cost(lanes * value(instance, "OW"), shifts ? 4 : 3);
  cost += scaled(lane, static_cast<double>(lanes));
  Cost words =
      rom_cost(lanes * value(instance, "SW"), blocks, image_of(design, instance, "SCALE_FILE"));
  if (shifts)
    words +=
        rom_cost(lanes * value(instance, "BW"), blocks, image_of(design, instance, "SHIFT_FILE"));
  if (words.ff + words.bram > 0) {  // equal words need no counter
    words += counter_cost(blocks);
    if (shifts) words.ff += log2_ceiling(blocks);
  }
  cost += words;
  return cost;
}

}  // namespace mase::design
