// SPDX-License-Identifier: Apache-2.0
// `mase convert`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_onnx_formats(CLI::App& command, const std::string& option,
                      driver::OnnxFileRequest& request) {
  command
      .add_option(option, request.format,
                  "what number formats become in the file: 'float' (nothing) or, for ONNX, 'qdq' "
                  "(QuantizeLinear and DequantizeLinear) or 'qonnx' (Quant) [qdq if it has any]")
      ->check(CLI::IsMember({"float", "qdq", "qonnx"}));
  command.add_flag("--allow-loss", request.allow_loss,
                   "leave out number formats that the file cannot say");
  command
      .add_option("--max-shard-size", request.max_shard_size,
                  "the most bytes of a file of weights in a folder [5GB]")
      ->type_name("SIZE");
  command
      .add_option("--source", request.source,
                  "for a new folder: where the files that the model was read with are now")
      ->type_name("FOLDER");
}

void add_convert(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "convert",
      "write a model as a file of ONNX, torch.export or TorchScript, its weights or a folder");
  auto request = std::make_shared<driver::ConvertRequest>();
  command->add_option("model", request->model, "model file or name")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("output", request->output,
                   "the new file; .onnx, .pt2, .pt or .safetensors says its kind, / a folder")
      ->required()
      ->type_name("FILE");
  add_model_input(*command, request->input);
  command->add_option("--opset", request->onnx.opset, "opset of an ONNX file, 21 to 23 [21]");
  add_onnx_formats(*command, "--format", request->onnx);
  command->add_flag("--overwrite", request->overwrite, "replace an existing file or folder");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Examples:\n"
      "  mase convert jsc-tiny jsc.onnx\n"
      "  mase convert model.pt --input x.npy model.onnx\n"
      "  mase convert mase_output/jsc jsc.onnx --format qonnx\n"
      "  mase convert model.onnx model.pt2\n"
      "  mase convert mase_output/bert bert_int8/");
  command->callback(
      [request, &action] { action = [request] { return driver::convert(*request); }; });
}

}  // namespace mase::cli
