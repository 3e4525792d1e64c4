// SPDX-License-Identifier: Apache-2.0
// Op rows of layers: products with weights, norms, pools, tables, attention, dropout.
#include "ir/op_rows.hpp"

namespace mase::ir {

using enum MaseType;

namespace {

const std::vector<ArgRow> conv_args{{"input", "data_in"}, {"weight", "weight"}, {"bias", "bias"},
                                    {"stride", ""},       {"padding", ""},      {"dilation", ""},
                                    {"groups", ""}};
const std::vector<ArgRow> transposed_conv_args{
    {"input", "data_in"}, {"weight", "weight"},   {"bias", "bias"}, {"stride", ""},
    {"padding", ""},      {"output_padding", ""}, {"groups", ""},   {"dilation", ""}};

OpRow convolution(std::string_view name, CallRow call, LayerRow module, std::string_view doc) {
  return {.name = name,
          .family = OpFamily::convolution,
          .type = module_related_func,
          .calls = {std::move(call)},
          .modules = {module},
          .args = conv_args,
          .quantizable = true,
          .doc = doc};
}

OpRow transposed_convolution(std::string_view name, CallRow call, LayerRow module,
                             std::string_view doc) {
  OpRow row = convolution(name, std::move(call), module, doc);
  row.family = OpFamily::transposed_convolution;
  row.args = transposed_conv_args;
  return row;
}

std::vector<OpRow> product_layers() {
  return {
      {.name = "linear",
       .family = OpFamily::linear,
       .type = module_related_func,
       .calls = {function("aten::linear", "torch._C._nn.linear")},
       .modules = {layer("torch.nn.modules.linear.Linear")},
       .args = {{"input", "data_in"}, {"weight", "weight"}, {"bias", "bias"}},
       .quantizable = true,
       .doc = "Matrix product with a weight, plus a bias."},
      convolution("conv1d", function("aten::conv1d", "torch.conv1d"),
                  layer("torch.nn.modules.conv.Conv1d"), "Convolution over one dimension."),
      convolution("conv2d", function("aten::conv2d", "torch.conv2d"),
                  layer("torch.nn.modules.conv.Conv2d"), "Convolution over two dimensions."),
      transposed_convolution("convtranspose1d",
                             function("aten::conv_transpose1d", "torch.conv_transpose1d"),
                             layer("torch.nn.modules.conv.ConvTranspose1d"),
                             "Transposed convolution over one dimension."),
      transposed_convolution("convtranspose2d",
                             function("aten::conv_transpose2d", "torch.conv_transpose2d"),
                             layer("torch.nn.modules.conv.ConvTranspose2d"),
                             "Transposed convolution over two dimensions."),
  };
}

/// `training` is the name of the argument that asks for the batch's own statistics.
std::vector<ArgRow> batch_norm_args(std::string_view training) {
  return {{"input", "data_in"},
          {"weight", "weight"},
          {"bias", "bias"},
          {"running_mean", "running_mean"},
          {"running_var", "running_var"},
          {training, ""},
          {"momentum", ""},
          {"eps", ""},
          {"cudnn_enabled", ""}};
}

PythonSignature batch_norm_signature() {
  return {required("input", "input"),
          required("running_mean", "running_mean"),
          required("running_var", "running_var"),
          optional("weight", "weight", Value()),
          optional("bias", "bias", Value()),
          optional("training", "training", false),
          optional("momentum", "momentum", 0.1),
          optional("eps", "eps", 1e-5)};
}

PythonSignature instance_norm_signature() {
  return {required("input", "input"),
          optional("running_mean", "running_mean", Value()),
          optional("running_var", "running_var", Value()),
          optional("weight", "weight", Value()),
          optional("bias", "bias", Value()),
          optional("use_input_stats", "use_input_stats", true),
          optional("momentum", "momentum", 0.1),
          optional("eps", "eps", 1e-5)};
}

/// `norm(input, <shape>, weight=None, bias=None, eps=1e-5)`
PythonSignature shaped_norm_signature(std::string_view shape) {
  return {required("input", "input"), required(shape, shape), optional("weight", "weight", Value()),
          optional("bias", "bias", Value()), optional("eps", "eps", 1e-5)};
}

PythonSignature rms_norm_signature() {
  return {required("input", "input"), required("normalized_shape", "normalized_shape"),
          optional("weight", "weight", Value()), optional("eps", "eps", Value())};
}

OpRow batch_norm(std::string_view name, LayerRow module, std::string_view doc) {
  return {.name = name,
          .family = OpFamily::batch_norm,
          .type = MaseType::module,
          .calls = {shared("aten::batch_norm")},
          .modules = {module},
          .args = batch_norm_args("training"),
          .quantizable = true,
          .doc = doc};
}

std::vector<OpRow> norms() {
  return {
      {.name = "batch_norm",
       .family = OpFamily::batch_norm,
       .type = module_related_func,
       .calls = {function("aten::batch_norm", "torch.nn.functional.batch_norm",
                          batch_norm_signature())},
       .args = batch_norm_args("training"),
       .quantizable = true,
       .doc = "Batch normalization called as a function."},
      batch_norm("batch_norm1d", layer("torch.nn.modules.batchnorm.BatchNorm1d", MaseType::module),
                 "Batch normalization of rows or sequences."),
      batch_norm("batch_norm2d", layer("torch.nn.modules.batchnorm.BatchNorm2d", MaseType::module),
                 "Batch normalization of images."),
      {.name = "layer_norm",
       .family = OpFamily::layer_norm,
       .type = module_related_func,
       .calls = {function("aten::layer_norm", "torch.nn.functional.layer_norm",
                          shaped_norm_signature("normalized_shape"))},
       .modules = {layer("torch.nn.modules.normalization.LayerNorm")},
       .args = {{"input", "data_in"},
                {"normalized_shape", ""},
                {"weight", "weight"},
                {"bias", "bias"},
                {"eps", ""},
                {"cudnn_enable", ""}},
       .quantizable = true,
       .doc = "Normalization over the last dimensions."},
      {.name = "group_norm",
       .family = OpFamily::group_norm,
       .type = module_related_func,
       .calls = {function("aten::group_norm", "torch.nn.functional.group_norm",
                          shaped_norm_signature("num_groups"))},
       .modules = {layer("torch.nn.modules.normalization.GroupNorm")},
       .args = {{"input", "data_in"},
                {"num_groups", ""},
                {"weight", "weight"},
                {"bias", "bias"},
                {"eps", ""},
                {"cudnn_enabled", ""}},
       .quantizable = true,
       .doc = "Normalization over groups of channels."},
      {.name = "instance_norm2d",
       .family = OpFamily::instance_norm,
       .type = module_related_func,
       .calls = {function("aten::instance_norm", "torch.nn.functional.instance_norm",
                          instance_norm_signature())},
       .modules = {layer("torch.nn.modules.instancenorm.InstanceNorm2d")},
       .args = batch_norm_args("use_input_stats"),
       .quantizable = true,
       .doc = "Normalization of each channel of each image."},
      {.name = "rms_norm",
       .family = OpFamily::layer_norm,
       .type = module_related_func,
       .calls = {function("aten::rms_norm", "torch.nn.functional.rms_norm", rms_norm_signature())},
       .modules = {layer("torch.nn.modules.normalization.RMSNorm")},
       .args = {{"input", "data_in"}, {"normalized_shape", ""}, {"weight", "weight"}, {"eps", ""}},
       .quantizable = true,
       .doc = "Division by the root mean square over the last dimensions."},
  };
}

PythonSignature max_pool_signature(bool indices) {
  return {required("input", "self"),
          required("kernel_size", "kernel_size"),
          optional("stride", "stride", Value()),
          optional("padding", "padding", 0),
          optional("dilation", "dilation", 1),
          optional("ceil_mode", "ceil_mode", false),
          optional("return_indices", "", indices)};
}

PythonSignature adaptive_max_pool_signature() {
  return {required("input", "self"), required("output_size", "output_size"),
          optional("return_indices", "", false)};
}

OpRow pool(std::string_view name, std::vector<CallRow> calls, LayerRow module,
           std::vector<ArgRow> args, std::string_view doc) {
  return {.name = name,
          .family = OpFamily::pooling,
          .type = module_related_func,
          .calls = std::move(calls),
          .modules = {module},
          .args = std::move(args),
          .quantizable = true,
          .doc = doc};
}

OpRow adaptive_pool(std::string_view name, CallRow call, LayerRow module, bool quantizable,
                    std::string_view doc) {
  return {.name = name,
          .family = OpFamily::adaptive_pooling,
          .type = module_related_func,
          .calls = {std::move(call)},
          .modules = {module},
          .args = self_and({"output_size"}),
          .quantizable = quantizable,
          .doc = doc};
}

std::vector<OpRow> pools() {
  const std::vector<ArgRow> average = self_and(
      {"kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"});
  const std::vector<ArgRow> maximum =
      self_and({"kernel_size", "stride", "padding", "dilation", "ceil_mode"});
  return {
      pool("avg_pool1d", {function("aten::avg_pool1d", "torch.avg_pool1d")},
           layer("torch.nn.modules.pooling.AvgPool1d"), average, "Mean over windows."),
      pool("avg_pool2d", {function("aten::avg_pool2d", "torch._C._nn.avg_pool2d")},
           layer("torch.nn.modules.pooling.AvgPool2d"), average, "Mean over windows of an image."),
      pool("max_pool1d",
           {function("aten::max_pool1d", "torch.nn.functional.max_pool1d",
                     max_pool_signature(false))},
           layer("torch.nn.modules.pooling.MaxPool1d"), maximum, "Maximum over windows."),
      pool("max_pool2d",
           {function("aten::max_pool2d", "torch.nn.functional.max_pool2d",
                     max_pool_signature(false)),
            function("aten::max_pool2d_with_indices", "torch.nn.functional.max_pool2d_with_indices",
                     max_pool_signature(true))},
           layer("torch.nn.modules.pooling.MaxPool2d"), maximum,
           "Maximum over windows of an image."),
      adaptive_pool("adaptive_avg_pool1d",
                    function("aten::adaptive_avg_pool1d", "torch.adaptive_avg_pool1d"),
                    layer("torch.nn.modules.pooling.AdaptiveAvgPool1d"), true,
                    "Mean over as many windows as the output has places."),
      adaptive_pool("adaptive_avg_pool2d",
                    function("aten::adaptive_avg_pool2d", "torch.nn.functional.adaptive_avg_pool2d",
                             {required("input", "self"), required("output_size", "output_size")}),
                    layer("torch.nn.modules.pooling.AdaptiveAvgPool2d"), true,
                    "Mean over windows of an image, given the output size."),
      adaptive_pool("adaptive_max_pool1d",
                    function("aten::adaptive_max_pool1d", "torch.nn.functional.adaptive_max_pool1d",
                             adaptive_max_pool_signature()),
                    layer("torch.nn.modules.pooling.AdaptiveMaxPool1d"), false,
                    "Maximum over windows, given the output size."),
      adaptive_pool("adaptive_max_pool2d",
                    function("aten::adaptive_max_pool2d", "torch.nn.functional.adaptive_max_pool2d",
                             adaptive_max_pool_signature()),
                    layer("torch.nn.modules.pooling.AdaptiveMaxPool2d"), false,
                    "Maximum over windows of an image, given the output size."),
  };
}

PythonSignature interpolate_signature() {
  return {required("input", "input"),
          optional("size", "output_size", Value()),
          optional("scale_factor", "scale_factors", Value()),
          optional("mode", "", "nearest"),
          optional("align_corners", "", Value()),
          optional("recompute_scale_factor", "", Value()),
          optional("antialias", "", false)};
}

PythonSignature embedding_signature() {
  return {required("input", "indices"),
          required("weight", "weight"),
          optional("padding_idx", "padding_idx", Value()),
          optional("max_norm", "", Value()),
          optional("norm_type", "", 2.0),
          optional("scale_grad_by_freq", "scale_grad_by_freq", false),
          optional("sparse", "sparse", false)};
}

PythonSignature dropout_signature(bool training) {
  return {required("input", "input"), optional("p", "p", 0.5),
          optional("training", "train", training), optional("inplace", "", false)};
}

/// Layers that are one operator and one torch.nn class, which torch.fx keeps as a leaf.
std::vector<OpRow> sequence_layers() {
  return {
      {.name = "multi_head_attention",
       .family = OpFamily::attention_layer,
       .type = module_related_func,
       .calls = {function("aten::_native_multi_head_attention",
                          "torch._native_multi_head_attention")},
       .args = {{"query", "data_in"},
                {"key", "data_in"},
                {"value", "data_in"},
                {"embed_dim", ""},
                {"num_head", ""},
                {"qkv_weight", "weight"},
                {"qkv_bias", "bias"},
                {"proj_weight", "weight"},
                {"proj_bias", "bias"},
                {"mask", ""},
                {"need_weights", ""},
                {"average_attn_weights", ""},
                {"mask_type", ""}},
       .doc = "MultiheadAttention in eval mode as one operator; see expand_attention.",
       .expanded_by = "expand_attention"},
      {.name = "transformer_encoder_layer",
       .family = OpFamily::attention_layer,
       .type = module_related_func,
       .calls = {function("aten::_transformer_encoder_layer_fwd",
                          "torch._transformer_encoder_layer_fwd")},
       .args = {{"src", "data_in"},
                {"embed_dim", ""},
                {"num_heads", ""},
                {"qkv_weight", "weight"},
                {"qkv_bias", "bias"},
                {"proj_weight", "weight"},
                {"proj_bias", "bias"},
                {"use_gelu", ""},
                {"norm_first", ""},
                {"eps", ""},
                {"norm_weight_1", "weight"},
                {"norm_bias_1", "bias"},
                {"norm_weight_2", "weight"},
                {"norm_bias_2", "bias"},
                {"ffn_weight_1", "weight"},
                {"ffn_bias_1", "bias"},
                {"ffn_weight_2", "weight"},
                {"ffn_bias_2", "bias"},
                {"mask", ""},
                {"mask_type", ""}},
       .doc = "TransformerEncoderLayer in eval mode as one operator; see expand_attention.",
       .expanded_by = "expand_attention"},
  };
}

std::vector<OpRow> other_layers() {
  return {
      {.name = "upsample",
       .family = OpFamily::resampling,
       .type = module_related_func,
       .calls = {function("aten::upsample_nearest2d", "torch.nn.functional.interpolate",
                          interpolate_signature()),
                 function("aten::upsample_bilinear2d", "torch._C._nn.upsample_bilinear2d")},
       .modules = {layer("torch.nn.modules.upsampling.Upsample")},
       .args = {{"input", "data_in"},
                {"output_size", ""},
                {"align_corners", ""},
                {"scale_factors", ""}},
       .quantizable = true,
       .doc = "A larger image."},
      {.name = "crossentropyloss",
       .family = OpFamily::other,
       .type = module_related_func,
       .calls = {function("aten::cross_entropy_loss", "torch._C._nn.cross_entropy_loss")},
       .modules = {layer("torch.nn.modules.loss.CrossEntropyLoss")},
       .args = {{"self", "data_in"},
                {"target", ""},
                {"weight", "weight"},
                {"reduction", ""},
                {"ignore_index", ""},
                {"label_smoothing", ""}},
       .doc = "Cross entropy of class scores."},
      {.name = "embedding",
       .family = OpFamily::embedding,
       .type = builtin_func,
       .calls = {function("aten::embedding", "torch.nn.functional.embedding",
                          embedding_signature())},
       .modules = {layer("torch.nn.modules.sparse.Embedding", implicit_func)},
       .args = {{"weight", "weight"},
                {"indices", "data_in"},
                {"padding_idx", ""},
                {"scale_grad_by_freq", ""},
                {"sparse", ""}},
       .quantizable = true,
       .doc = "Rows of a table."},
      {.name = "grouped_query_attention",
       .family = OpFamily::attention,
       .type = builtin_func,
       .calls = {function("aten::scaled_dot_product_attention",
                          "torch._C._nn.scaled_dot_product_attention")},
       .args = {{"query", "data_in"},
                {"key", "data_in"},
                {"value", "data_in"},
                {"attn_mask", ""},
                {"dropout_p", ""},
                {"is_causal", ""},
                {"scale", ""},
                {"enable_gqa", ""}},
       .quantizable = true,
       .doc = "softmax(q k^T * scale + mask) v, keys and values shared by groups of query heads.",
       .expanded_by = "expand_attention"},
      {.name = "dropout",
       .family = OpFamily::copy,
       .type = implicit_func,
       .calls = {function("aten::dropout", "torch.nn.functional.dropout", dropout_signature(true)),
                 function("aten::feature_dropout", "torch.nn.functional.dropout2d",
                          dropout_signature(true)),
                 function("aten::alpha_dropout", "torch.nn.functional.alpha_dropout",
                          dropout_signature(false)),
                 function("aten::feature_alpha_dropout",
                          "torch.nn.functional.feature_alpha_dropout", dropout_signature(false))},
       .modules = {layer("torch.nn.modules.dropout.Dropout"),
                   layer("torch.nn.modules.dropout.Dropout1d"),
                   layer("torch.nn.modules.dropout.Dropout2d"),
                   layer("torch.nn.modules.dropout.Dropout3d"),
                   layer("torch.nn.modules.dropout.AlphaDropout"),
                   layer("torch.nn.modules.dropout.FeatureAlphaDropout")},
       .args = {{"input", "data_in"}, {"p", ""}, {"train", ""}},
       .doc = "Random zeros while training, the input itself otherwise."},
  };
}

}  // namespace

std::vector<OpRow> layer_rows() {
  std::vector<OpRow> rows;
  for (const auto& part : {product_layers(), norms(), pools(), sequence_layers(), other_layers()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace mase::ir
