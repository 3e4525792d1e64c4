// SPDX-License-Identifier: Apache-2.0
// The graph of an exported program as JSON, beside the weights of a small layer.
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"
#include "pt2/import.hpp"
#include "support/make_zip.hpp"

namespace mase::fuzz {
namespace {

constexpr std::string_view weights = R"({"config": {
  "fc.weight": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta":
    {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 3}], "requires_grad": true,
     "strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0}}},
  "fc.bias": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta":
    {"dtype": 7, "sizes": [{"as_int": 3}], "requires_grad": true,
     "strides": [{"as_int": 1}], "storage_offset": {"as_int": 4}}}}})";

}  // namespace

void exported_program(std::string_view bytes) {
  const std::string archive =
      test_zip::zip_of({{"m/archive_format", "pt2"},
                        {"m/models/model.json", std::string(bytes)},
                        {"m/data/weights/model_weights_config.json", std::string(weights)},
                        {"m/data/weights/weight_0", std::string(36, '\x3c')}});
  const std::string path = stored("model.pt2", archive);
  accepts([&] {
    const pt2::Program program = pt2::read_program(path);
    pt2::import_program(program, {.most_nodes = 2000});
  });
}

}  // namespace mase::fuzz
