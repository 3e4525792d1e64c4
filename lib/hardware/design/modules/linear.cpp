// SPDX-License-Identifier: Apache-2.0
// Rows of a stream, in passes, in front of a multiply-accumulate.
#include "hardware/design/modules/linear.hpp"

#include "hardware/design/building/shared_exponents.hpp"
#include "hardware/design/building/step_matrix.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/row_passes.hpp"

namespace mase::design {
namespace {

/// Without stalls the first output beat is SF + accumulate_stages cycles after the first input
/// beat, the last one SF * NF + accumulate_stages, and a row takes SF * NF cycles.
class LinearHandshake final : public HandshakeOf<LinearHandshake> {
 public:
  LinearHandshake(const LinearModule& linear, Stages kept)
      : steps_(linear.columns, linear.passes),
        pipe_(accumulate_stages(linear, linear.simd), kept) {}
  bool ready(int) const override { return pipe_.enable() && steps_.waits(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return steps_.quiet(pipe_); }
  void skip(std::int64_t edges) override {
    pipe_.skip(edges);
    steps_.skip(edges);
  }
  void clock(Moves taken, Moves given) override {
    const bool step = pipe_.enable() && (!steps_.waits() || taken[0] != 0);
    pipe_.step(step && steps_.ends_pass(), given[0] != 0);
    if (step) steps_.step();
  }
  bool operator==(const LinearHandshake&) const = default;

 private:
  RowSteps steps_;
  Pipe pipe_;  ///< of the steps that end a row of weights
};

const integer::Linear& linear_of(const Step& step) {
  return std::get<integer::Linear>(step.operation);
}

/// The elements of a beat share an exponent.
FoldRule linear_rule(const Program&, const Step& step, const Fold&) {
  const integer::Linear& linear = linear_of(step);
  return {linear.blocks ? linear.blocks.length : linear.inputs, linear.outputs};
}

/// The second input, of exponents, has one lane.
std::int64_t linear_lanes(const Step&, const Fold& fold, std::size_t port) {
  return port == 0 ? fold.in_lanes : 1;
}

std::int64_t linear_interval(const Program& program, const Step& step, const Fold& fold) {
  return program.value(step.output).elements() / fold.out_lanes *
         (linear_of(step).inputs / fold.in_lanes);
}

/// Later passes over a row read it back while nothing is taken.
bool linear_bursts(const Program&, const Step& step, const Fold& fold) {
  return fold.out_lanes < linear_of(step).outputs;
}

StreamId add_linear_step(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  if (linear_of(builder.step).blocks) return add_linear(builder, with_exponents(builder, inputs));
  return add_matrix(builder, inputs[0]);
}

}  // namespace

StreamId add_linear(StepBuilder& builder, StreamId in) {
  const MatrixShape shape = matrix_of(builder.step).shape;
  const std::int64_t simd = builder.fold.in_lanes, pe = builder.fold.out_lanes;
  const LinearModule module{multiply_accumulate_of(builder, shape, simd, pe),
                            shape.columns / simd,
                            shape.rows / pe,
                            shape.sets,
                            simd,
                            pe};
  return builder.finish(module, {in}, pe);
}

std::unique_ptr<Handshake> LinearModule::handshake(Stages kept) const {
  return std::make_unique<LinearHandshake>(*this, kept);
}

Cost LinearModule::cost(const Design& design) const {
  Cost cost = multiply_accumulate_cost(design, *this, shape());
  cost += row_passes_cost(simd * in_bits + in_scale_bits(), columns, passes);
  cost += skid_cost(pe * out_bits);
  return cost;
}

Paths LinearModule::paths(const Technology& technology) const {
  Paths paths = multiply_accumulate_paths(*this, shape(), technology);
  add_row_paths(paths, *this, shape(), passes, technology);
  return paths;
}

StepRow LinearModule::step() {
  return {"linear",      linear_rule,     linear_lanes,    linear_interval,
          linear_bursts, add_linear_step, shared_products, true};
}

ModuleRow LinearModule::row() {
  return row_of_module<LinearModule>({.folder = "matrix",
                                      .doc = "matrix times rows, folded",
                                      .uses = {"mase_multiply_accumulate", "mase_replay"},
                                      .reloads = true,
                                      .set_stages = set_stages<LinearModule>,
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
