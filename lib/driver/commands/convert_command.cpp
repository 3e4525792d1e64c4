// SPDX-License-Identifier: Apache-2.0
// `mase convert` writes a model as a file of another kind.
#include "driver/commands/commands.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/model_files.hpp"
#include "driver/output.hpp"
#include "driver/save_checkpoint.hpp"

namespace mase::driver {

int convert(const ConvertRequest& request) {
  const ModelWriter& writer = writer_of(request.output, request.onnx, request.overwrite);
  keep_inputs({request.output}, files_read(request.model, request.input), "");
  will_write(writer, request.output);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  const LoadedModel model = load_model(wanted);
  Output output(request.json);
  const Tree info = model.info.is_null() ? checkpoint_info("", nullptr) : model.info;
  output.document() = writer.write({model.graph, info, request.output, request.onnx});
  output.document()["file"] = request.output;
  output.text(file_text(request.output, output.document()));
  output.finish();
  return 0;
}

}  // namespace mase::driver
