// SPDX-License-Identifier: Apache-2.0
// Solves 0/1 programs with COIN-OR CBC through its C interface, set to close the gap completely.
#include <coin/Cbc_C_Interface.h>

#include <array>
#include <memory>
#include <utility>

#include "solver/binary_program.hpp"

namespace mase::solver {
namespace {

/// CBC's settings, for a search without any gap. Its default tolerances, its scaling and its
/// preprocessing can each miss the optimum by up to 1e-7 of the loss. Printing is switched off.
constexpr std::array<std::pair<const char*, const char*>, 12> settings{{
    {"log", "0"},
    {"slog", "0"},
    {"messages", "off"},
    {"timeMode", "elapsed"},
    {"ratioGap", "0"},
    {"allowableGap", "0"},
    {"increment", "1e-12"},
    {"integerTolerance", "1e-9"},
    {"primalTolerance", "1e-9"},
    {"dualTolerance", "1e-9"},
    {"preprocess", "off"},
    {"scaling", "off"},
}};

struct Deleter {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, Deleter>;

Model make_model(const BinaryProgram& program) {
  Model model(Cbc_newModel());
  int number = 0;
  for (const BinaryProgram::Column& column : program.columns)
    Cbc_addCol(model.get(), ("c" + std::to_string(number++)).c_str(), 0, column.most, column.loss,
               1, 0, nullptr, nullptr);
  number = 0;
  for (const BinaryProgram::Row& row : program.rows)
    Cbc_addRow(model.get(), ("r" + std::to_string(number++)).c_str(),
               static_cast<int>(row.columns.size()), row.columns.data(), row.values.data(),
               row.sense, row.bound);
  for (const auto& [name, value] : settings) Cbc_setParameter(model.get(), name, value);
  Cbc_setParameter(model.get(), "seconds", std::to_string(program.limit_seconds).c_str());
  return model;
}

}  // namespace
}  // namespace mase::solver

extern "C" void mase_solve_binary(const mase::solver::BinaryProgram& program,
                                  mase::solver::BinarySolution& solution) {
  using Status = mase::solver::BinarySolution::Status;
  const auto model = mase::solver::make_model(program);
  Cbc_solve(model.get());
  const double* values = Cbc_bestSolution(model.get());
  if (Cbc_isProvenInfeasible(model.get())) {
    solution.status = Status::infeasible;
  } else if (Cbc_isSecondsLimitReached(model.get())) {
    solution.status = Status::out_of_time;
  } else if (Cbc_isProvenOptimal(model.get()) && values) {
    solution.status = Status::optimal;
    solution.values.assign(values, values + program.columns.size());
  } else {
    solution.detail = "status " + std::to_string(Cbc_status(model.get())) + ", " +
                      std::to_string(Cbc_secondaryStatus(model.get()));
  }
}
