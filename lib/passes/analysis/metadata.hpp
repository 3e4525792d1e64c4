// SPDX-License-Identifier: Apache-2.0
// The passes that attach metadata to every node in the schema of the reference system.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Clears the metadata of every node.
struct InitMetadata {
  static constexpr PassDoc doc{"init_metadata", PassKind::analysis,
                               "Give every node empty metadata."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

/// Fills `common`: MASE type and op, arguments and results with shape, dtype, type and precision.
struct AddCommonMetadata {
  static constexpr PassDoc doc{"add_common_metadata", PassKind::analysis,
                               "Record type, op, arguments and results of every node."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

/// Fills `software`: a place for statistics per argument and result.
struct AddSoftwareMetadata {
  static constexpr PassDoc doc{"add_software_metadata", PassKind::analysis,
                               "Make room for statistics of every argument and result."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
