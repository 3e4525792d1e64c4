// SPDX-License-Identifier: Apache-2.0
// A folded linear whose matrices come in a frame at a time.
#include "hardware/design/modules/matmul.hpp"

#include <algorithm>
#include <array>

#include "hardware/design/building/step_matrix.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/row_passes.hpp"

namespace mase::design {
namespace {

/// Rows of stream 0 move as in LinearHandshake, once stream 1 has delivered the matrices of their
/// frame. There is room for the matrices of two frames.
class MatmulHandshake final : public HandshakeOf<MatmulHandshake> {
 public:
  MatmulHandshake(const MatmulModule& matmul, Stages kept)
      : steps_(matmul.columns, matmul.passes),
        rows_(matmul.sets * matmul.repeat * matmul.rounds),
        beats_(matmul.words() * matmul.banks()),
        pipe_(accumulate_stages(matmul, matmul.simd), kept) {}
  bool ready(int input) const override {
    return input == 1 ? full_ < 2 : pipe_.enable() && full_ > 0 && steps_.waits();
  }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return steps_.quiet(pipe_); }
  void skip(std::int64_t edges) override {
    pipe_.skip(edges);
    steps_.skip(edges);
  }
  void clock(Moves taken, Moves given) override {
    const bool step = pipe_.enable() && (!steps_.waits() || taken[0] != 0);
    pipe_.step(step && steps_.ends_pass(), given[0] != 0);
    if (step && advance()) --full_;
    if (taken[1] == 0 || ++beat_ < beats_) return;
    beat_ = 0;
    ++full_;
  }
  bool operator==(const MatmulHandshake&) const = default;

 private:
  /// Whether a step was the last one of its frame.
  bool advance() {
    if (!steps_.step() || ++row_ < rows_) return false;
    row_ = 0;
    return true;
  }

  RowSteps steps_;
  std::int64_t rows_, beats_;  ///< of a frame
  std::int64_t row_ = 0, beat_ = 0;
  int full_ = 0;  ///< frames of matrices that are there as a whole
  Pipe pipe_;     ///< of the steps that end a row of weights
};

const integer::Matmul& matmul_of(const Step& step) {
  return std::get<integer::Matmul>(step.operation);
}

FoldRule matmul_rule(const Program&, const Step& step, const Fold&) {
  return {matmul_of(step).inputs, matmul_of(step).outputs};
}

/// Whether beats of the second stream have several outputs of one input.
bool is_transposed(const integer::Matmul& matmul) { return matmul.output_step == 1; }

std::int64_t matmul_lanes(const Step& step, const Fold& fold, std::size_t port) {
  return port == 1 && is_transposed(matmul_of(step)) ? fold.out_lanes : fold.in_lanes;
}

std::int64_t matmul_interval(const Program& program, const Step& step, const Fold& fold) {
  const std::int64_t results = program.value(step.output).elements(),
                     matrices = program.value(step.inputs.at(1)).elements();
  return std::max(results / fold.out_lanes * (matmul_of(step).inputs / fold.in_lanes),
                  matrices / matmul_lanes(step, fold, 1));
}

StreamId add_matmul(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::Matmul& matmul = matmul_of(builder.step);
  const std::int64_t simd = builder.fold.in_lanes, pe = builder.fold.out_lanes,
                     rows = builder.input().elements() / matmul.inputs,
                     row_step = is_transposed(matmul) ? matmul.input_step : matmul.output_step;
  const Requantisation requantisation = requantisation_of(builder);
  const Wide half = rounding_half(requantisation);
  SumsOfProducts sums{operands_of(builder, builder.input(1).type, half, builder.input(1).code),
                      requantisation,
                      multiplication_of(builder, half),
                      {}};
  if (decoders_pay(sums, {matmul.inputs / simd, matmul.outputs / pe, simd, pe})) sums.set_decode();
  const MatmulModule module{sums,
                            matmul.inputs / simd,
                            matmul.outputs / pe,
                            matmul.sets,
                            matmul.repeat,
                            rows / (matmul.sets * matmul.repeat),
                            simd,
                            pe,
                            is_transposed(matmul),
                            matmul.sets > 1 && matmul.set_step < row_step};
  return builder.finish(module, inputs, pe);
}

/// hw_templates/matrix/mase_matrix_memory: two frames in as many banks as rows that a word has
/// parts of, and the writer's counters.
Cost matrix_memory_cost(const MatmulModule& matmul) {
  const std::int64_t words = matmul.words(), banks = matmul.banks(), width = matmul.width();
  const std::int64_t blocks = matmul.transposed ? matmul.passes : matmul.columns,
                     rows = matmul.transposed ? matmul.columns : matmul.passes;
  Cost bank = window_in_block.holds(width, 2 * words) ? block_memory_cost(width, 2 * words)
                                                      : lut_memory_cost(width, 2 * words);
  if (bank.bram == 0) bank.ff += static_cast<double>(width);
  bank.lut += banks > 1 ? 1 : 0;
  Cost cost = scaled(bank, static_cast<double>(banks));
  cost += counters_cost(std::array{blocks, rows, banks, matmul.sets});
  if (words > 1) {  // the place of a beat, which is written a cycle later
    cost += adder_cost(log2_ceiling(words));
    cost.lut += fitted.matrix_address_bit * log2_ceiling(words);
    cost.ff += static_cast<double>(2 * log2_ceiling(words) + log2_ceiling(banks) + 2 + width);
  }
  cost.lut += 6;
  cost.ff += 4;
  return cost;
}

/// The paths of its writer, into memories in blocks or not.
void add_writer_paths(Paths& paths, const MatmulModule& matmul, bool block,
                      const Technology& technology) {
  // The ends of the writer's four counters choose how far the next beat lies from this one; its
  // place and its bank are written to from registers.
  const auto lines = static_cast<double>(log2_ceiling(2 * matmul.words()));
  const std::int64_t all = matmul.words() * matmul.banks();
  paths.push_back({.what = "matrix writer",
                   .luts = 2 + tree_luts(log2_ceiling(all) + 1, technology),
                   .readers = lines});
  paths.push_back({.what = "matrix address", .luts = 1, .chains = 1, .carry = lines});
  paths.push_back({.what = "written words",
                   .luts = block ? 2.0 : 3.0,
                   .readers = static_cast<double>(matmul.width() * matmul.banks())});
}

}  // namespace

std::unique_ptr<Handshake> MatmulModule::handshake(Stages kept) const {
  return std::make_unique<MatmulHandshake>(*this, kept);
}

Cost MatmulModule::cost(const Design&) const {
  Cost cost = products_cost(*this, shape(), false);
  cost += matrix_memory_cost(*this);
  cost += row_passes_cost(simd * in_bits, columns, passes);
  cost += counters_cost(std::array{columns, words(), repeat, rounds});
  if (repeat > 1 && sets > 1) cost.ff += log2_ceiling(words());
  cost += skid_cost(pe * out_bits);
  return cost;
}

Paths MatmulModule::paths(const Technology& technology) const {
  const bool block = window_in_block.holds(width(), 2 * words());
  Blocks blocks = block ? blocks_of(width(), 2 * words(), technology) : Blocks{};
  blocks.count *= banks();
  Paths paths = products_paths(*this, shape(), blocks, technology);
  Path read = memory_path(width() * banks(), 2 * words(), block, technology);
  read.what = "words of the matrices";
  paths.push_back(read);
  add_writer_paths(paths, *this, block, technology);
  add_row_paths(paths, *this, shape(), passes, technology);
  return paths;
}

StepRow MatmulModule::step() {
  return {"matmul", matmul_rule, matmul_lanes,    matmul_interval,
          nullptr,  add_matmul,  shared_products, true};
}

ModuleRow MatmulModule::row() {
  return row_of_module<MatmulModule>(
      {.folder = "matrix",
       .doc = "rows of a stream times the matrices of another, folded",
       .uses = {"mase_products", "mase_replay", "mase_matrix_memory"},
       .reloads = true,
       .inputs = {"a", "b"},
       .outputs = {"out"}});
}

}  // namespace mase::design
