// SPDX-License-Identifier: Apache-2.0
// The matrix family of hardware modules: rows, handshake models and costs.
#include <algorithm>
#include <array>

#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/dot.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/depthwise.hpp"
#include "hardware/design/timing/handshake/linear.hpp"
#include "hardware/design/timing/handshake/matmul.hpp"

namespace mase::design {
namespace {

using List = std::vector<std::string>;

/// hw_templates/matrix/mase_replay.
Cost replay_cost(std::int64_t width, std::int64_t depth) {
  const auto bits = static_cast<double>(width);
  if (depth == 1) return {.lut = 1, .ff = bits};
  if (replay_in_block.holds(width, depth)) {
    Cost cost = block_memory_cost(width, depth);
    cost.lut += bits;
    cost.ff = bits + 1;
    return cost;
  }
  Cost cost = lut_memory_cost(width, depth);
  cost.lut += 1;
  cost.ff = log2_ceiling(depth);
  return cost;
}

Packs packs_of(const ModuleParameters& parameters) {
  if (!parameters.contains("PACK")) return {};
  return {parameters.integer("PACK"), static_cast<int>(parameters.integer("PITCH")),
          static_cast<int>(parameters.integer("KNOWN"))};
}

/// hw_templates/matrix/mase_accumulate: choosing between bias and running sum takes no LUTs of its
/// own.
Cost accumulate_cost(int bits) {
  Cost cost = adder_cost(bits);
  cost.ff = bits;
  return cost;
}

/// A memory of weights or biases: in block memory where the module wants it there.
Cost constants_cost(const Design& design, std::int64_t width, std::int64_t depth,
                    const Memory* image) {
  if (design.reloadable)
    return reload_memory_cost(width, depth, weights_in_block.holds(width, depth));
  return weights_in_block.holds(width, depth) ? block_memory_cost(width, depth)
                                              : table_cost(width, depth, image);
}

/// Registers of one lane's operands, `count` of them one after another; a DSP block holds two of
/// those that it alone reads.
double operand_registers(std::int64_t bits, std::int64_t count, bool in_dsp) {
  return static_cast<double>(bits * (in_dsp ? std::max<std::int64_t>(count - 2, 0) : count));
}

/// The registers of a lane's weights. A multiplier holds a register of one of the weights that
/// share it.
double weight_registers(std::int64_t bits, std::int64_t count, bool in_dsp, const Packs& packs) {
  if (packs.outputs == 1) return operand_registers(bits, count, in_dsp);
  const auto outputs = static_cast<double>(packs.outputs);
  return static_cast<double>(bits) * (static_cast<double>(count) - 1 / outputs);
}

/// Operands and weights in front of the products, with hw_templates/matrix/mase_dot_skew.
Cost operands_cost(const ModuleParameters& parameters, std::int64_t simd, std::int64_t pe,
                   std::int64_t shares, bool in_dsp) {
  const bool booth = parameters.integer("MULTIPLIER") == 2;
  const std::int64_t pairs = std::min<std::int64_t>(4, ceiling(simd, 2)),
                     moved = operand_stages(parameters);
  Cost cost;
  for (std::int64_t lane = 0; lane < simd; ++lane) {
    const std::int64_t chain = std::min<std::int64_t>(8, simd - lane / 8 * 8);
    const std::int64_t late = booth ? 0 : pairs - ceiling(chain, 2) + lane % 8 / 2;
    cost.ff += operand_registers(shares * parameters.integer("AW"), 1 + late + moved,
                                 in_dsp && shares == pe) +
               weight_registers(pe * parameters.integer("WW"), 1 + late + weight_stages(parameters),
                                in_dsp, packs_of(parameters));
  }
  return cost;
}

/// hw_templates/matrix/mase_products without biases and skid, rows of `columns` steps. `two_words`:
/// of weights, half of whose bits are constants.
Cost products_cost(const ModuleParameters& parameters, std::int64_t columns, std::int64_t simd,
                   std::int64_t pe, std::int64_t shares, bool two_words) {
  const auto acc = static_cast<int>(parameters.integer("ACCW"));
  const bool booth = parameters.integer("MULTIPLIER") == 2;
  const DotShape dot{simd, signed_bits(parameters, "AW", "ASIGNED"),
                     signed_bits(parameters, "WW", "WSIGNED"), acc, product_stages(parameters)};
  const Cost product = dot_cost(dot, booth);
  const Packs packs = packs_of(parameters);
  Cost cost = packs.outputs == 1
                  ? scaled(product, static_cast<double>(pe))
                  : scaled(dots_packed_cost(dot, pe / shares, packs), static_cast<double>(shares));
  if (two_words && cost.dsp == 0) cost.lut *= booth ? 0.74 : 0.52;
  Cost each = accumulate_cost(acc);
  each += requantise_stage_cost(parameters, {acc});
  cost += scaled(each, static_cast<double>(pe));
  cost += operands_cost(parameters, simd, pe, shares, cost.dsp > 0);
  const int stages = accumulate_stages(parameters, simd) - 2;
  // Rows of one step have no marks of first and last.
  cost += Cost{.lut = columns > 1 ? 7.0 : 0.0, .ff = 3.0 * stages + 2};
  return cost;
}

/// hw_templates/matrix/mase_multiply_accumulate without its skid: `columns` words for each of
/// `rows`.
Cost datapath_cost(const Design& design, const Instance& instance, std::int64_t columns,
                   std::int64_t rows, std::int64_t simd, std::int64_t pe, std::int64_t shares) {
  const ModuleParameters& parameters = instance.parameters;
  const bool bias = parameters.integer("HAS_BIAS") != 0;
  Cost cost = products_cost(parameters, columns, simd, pe, shares,
                            columns * rows == 2 && !design.reloadable);
  if (bias) cost.ff += static_cast<double>(pe * parameters.integer("BW"));
  cost += constants_cost(design, pe * simd * parameters.integer("WW"), columns * rows,
                         image_of(design, instance, "WEIGHT_FILE"));
  if (bias)
    cost += constants_cost(design, pe * parameters.integer("BW"), rows,
                           image_of(design, instance, "BIAS_FILE"));
  cost += counter_cost(columns);
  if (rows == 1)
    cost.ff += static_cast<double>((operand_stages(parameters) - weight_stages(parameters)) *
                                   log2_ceiling(columns));
  if (rows > 1) cost += counter_cost(columns * rows);
  if (bias) cost += counter_cost(rows);
  return cost;
}

/// What gives the operands of steps: a row of `columns` beats, again in each of `passes`.
Cost row_cost(std::int64_t beat, std::int64_t columns, std::int64_t passes) {
  if (passes == 1) return {.ff = static_cast<double>(beat)};
  Cost cost = replay_cost(beat, columns);
  cost += counter_cost(passes);
  if (columns > 1) cost.lut += 3;
  return cost;
}

Cost linear_cost(const Design& design, const Instance& instance) {
  const ModuleParameters& parameters = instance.parameters;
  const std::int64_t sf = parameters.integer("SF"), nf = parameters.integer("NF"),
                     simd = parameters.integer("SIMD"), pe = parameters.integer("PE"),
                     beat = simd * parameters.integer("AW");
  Cost cost = datapath_cost(design, instance, sf, nf * parameters.integer("SETS"), simd, pe, 1);
  cost += row_cost(beat, sf, nf);
  cost += skid_cost(pe * parameters.integer("OW"));
  return cost;
}

Cost depthwise_cost(const Design& design, const Instance& instance) {
  const ModuleParameters& parameters = instance.parameters;
  const std::int64_t groups = parameters.integer("GROUPS"),
                     simd = parameters.integer("TAPS") * parameters.integer("CHANNELS"),
                     pe = groups * parameters.integer("OUTPUTS");
  Cost cost = datapath_cost(design, instance, parameters.integer("N"), parameters.integer("BLOCKS"),
                            simd, pe, groups);
  cost.ff += static_cast<double>(groups * simd * parameters.integer("AW"));
  cost += skid_cost(pe * parameters.integer("OW"));
  return cost;
}

/// hw_templates/matrix/mase_matrix_memory: two frames in as many banks as rows that a word has
/// parts of, and the writer's counters.
Cost matrix_memory_cost(const ModuleParameters& p) {
  const std::int64_t words = p.integer("SETS") * p.integer("NF") * p.integer("SF");
  const bool transposed = p.integer("TRANSPOSED") != 0;
  const std::int64_t banks = p.integer(transposed ? "SIMD" : "PE"),
                     width = p.integer(transposed ? "PE" : "SIMD") * p.integer("WW");
  const std::int64_t blocks = p.integer(transposed ? "NF" : "SF"),
                     rows = p.integer(transposed ? "SF" : "NF");
  Cost bank = window_in_block.holds(width, 2 * words) ? block_memory_cost(width, 2 * words)
                                                      : lut_memory_cost(width, 2 * words);
  if (bank.bram == 0) bank.ff += static_cast<double>(width);
  bank.lut += banks > 1 ? 1 : 0;
  Cost cost = scaled(bank, static_cast<double>(banks));
  cost += counters_cost(std::array{blocks, rows, banks, p.integer("SETS")});
  if (words > 1) {  // the place of a beat, which is written a cycle later
    cost += adder_cost(log2_ceiling(words));
    cost.lut += 2.0 * log2_ceiling(words);
    cost.ff += static_cast<double>(2 * log2_ceiling(words) + log2_ceiling(banks) + 2 + width);
  }
  cost.lut += 6;
  cost.ff += 4;
  return cost;
}

Cost matmul_cost(const Design&, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t sf = p.integer("SF"), nf = p.integer("NF"), sets = p.integer("SETS"),
                     simd = p.integer("SIMD"), pe = p.integer("PE");
  Cost cost = products_cost(p, sf, simd, pe, 1, false);
  cost += matrix_memory_cost(p);
  cost += row_cost(simd * p.integer("AW"), sf, nf);
  cost += counters_cost(std::array{sf, sets * nf * sf, p.integer("REPEAT"), p.integer("ROUNDS")});
  if (p.integer("REPEAT") > 1 && sets > 1) cost.ff += log2_ceiling(sets * nf * sf);
  cost += skid_cost(pe * p.integer("OW"));
  return cost;
}

std::unique_ptr<Handshake> make_linear(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<LinearHandshake>(parameters, kept);
}

std::unique_ptr<Handshake> make_depthwise(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<DepthwiseHandshake>(parameters, kept);
}

std::unique_ptr<Handshake> make_matmul(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<MatmulHandshake>(parameters, kept);
}

ModuleRow part(std::string name, std::string doc, List uses = {}) {
  return {
      .name = std::move(name), .folder = "matrix", .doc = std::move(doc), .uses = std::move(uses)};
}

/// A part that has a file of its own for ECP5, whose tools use neither registers nor adders of DSP
/// blocks by themselves.
ModuleRow own_part(std::string name, std::string doc, List uses = {}) {
  ModuleRow row = part(std::move(name), std::move(doc), std::move(uses));
  row.families = {"ecp5"};
  return row;
}

ModuleRow reloading(ModuleRow row) {
  row.reloads = true;
  return row;
}

}  // namespace

std::vector<ModuleRow> matrix_modules() {
  const List in{"in"}, out{"out"};
  return {
      part("mase_rom", "memory image, a word per cycle"),
      part("mase_reload_memory", "the same, which a host may write"),
      part("mase_replay", "keeps the beats of a row"),
      part("mase_delay", "registers one after another"),
      part("mase_booth_row", "one digit times one operand, added"),
      part("mase_booth_column", "one digit of all lanes, added", {"mase_booth_row"}),
      part("mase_dot_booth", "dot product in LUTs", {"mase_booth_column"}),
      part("mase_multiply", "product of two operands", {"mase_booth_row"}),
      part("mase_pack", "weights of several outputs in one operand"),
      own_part("mase_operands", "operands of a step"),
      own_part("mase_multiply_stage", "product with its registers", {"mase_multiply", "mase_pack"}),
      part("mase_dot_chain", "products added one after another", {"mase_multiply_stage"}),
      own_part("mase_dot_multiply", "dot product by multipliers", {"mase_dot_chain", "mase_delay"}),
      own_part("mase_dot_skew", "operands in the order of a dot product's pairs",
               {"mase_operands"}),
      part("mase_dot", "dot product", {"mase_dot_booth", "mase_dot_multiply"}),
      part("mase_dot_packed", "dot products of outputs that share multipliers",
           {"mase_dot_multiply"}),
      own_part("mase_ready", "a skid's ready for what stands far from it"),
      part("mase_accumulate", "accumulator that starts from the bias"),
      reloading(part("mase_products", "sums of products, requantised",
                     {"mase_rom", "mase_operands", "mase_dot", "mase_dot_packed", "mase_dot_skew",
                      "mase_ready", "mase_accumulate", "mase_requantise_stage", "mase_skid"})),
      reloading(part("mase_multiply_accumulate", "datapath of linear and depthwise",
                     {"mase_rom", "mase_delay", "mase_operands", "mase_products"})),
      part("mase_matrix_memory", "matrices of a stream, kept whole", {"mase_window_memory"}),
      {.name = "mase_linear",
       .folder = "matrix",
       .doc = "matrix times rows, folded",
       .uses = {"mase_multiply_accumulate", "mase_replay"},
       .reloads = true,
       .pipelined = true,
       .inputs = in,
       .outputs = out,
       .handshake = make_linear,
       .cost = linear_cost,
       .paths = linear_paths},
      {.name = "mase_matmul",
       .folder = "matrix",
       .doc = "rows of a stream times the matrices of another, folded",
       .uses = {"mase_products", "mase_replay", "mase_matrix_memory"},
       .reloads = true,
       .inputs = {"a", "b"},
       .outputs = out,
       .handshake = make_matmul,
       .cost = matmul_cost,
       .paths = matmul_paths},
      part("mase_constant_add", "adder or subtractor of constant_linear"),
      {.name = "mase_constant_linear",
       .folder = "matrix",
       .doc = "matrix of constants, a row per cycle",
       .uses = {"mase_constant_add", "mase_requantise_stage", "mase_skid"},
       .inputs = in,
       .outputs = out,
       .handshake = make_constant_linear_handshake,
       .cost = constant_linear_cost,
       .paths = constant_linear_paths},
      {.name = "mase_depthwise",
       .folder = "matrix",
       .doc = "own weights for every group of channels",
       .uses = {"mase_multiply_accumulate"},
       .reloads = true,
       .pipelined = true,
       .inputs = in,
       .outputs = out,
       .handshake = make_depthwise,
       .cost = depthwise_cost,
       .paths = depthwise_paths},
  };
}

}  // namespace mase::design
