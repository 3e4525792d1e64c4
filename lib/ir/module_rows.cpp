// The torch.nn classes that are leaves, with their MASE op and type.
#include <map>

#include "ir/op_table.hpp"

namespace mase::ir {

const std::vector<ModuleRow>& module_table() {
  using enum MaseType;
  static const std::vector<ModuleRow> rows{
      {"torch.nn.modules.linear.Linear", "linear", module_related_func},
      {"torch.nn.modules.linear.Identity", "identity", module_related_func},
      {"torch.nn.modules.conv.Conv1d", "conv1d", module_related_func},
      {"torch.nn.modules.conv.Conv2d", "conv2d", module_related_func},
      {"torch.nn.modules.conv.ConvTranspose1d", "convtranspose1d", module_related_func},
      {"torch.nn.modules.conv.ConvTranspose2d", "convtranspose2d", module_related_func},
      {"torch.nn.modules.batchnorm.BatchNorm1d", "batch_norm1d", MaseType::module},
      {"torch.nn.modules.batchnorm.BatchNorm2d", "batch_norm2d", MaseType::module},
      {"torch.nn.modules.normalization.LayerNorm", "layer_norm", module_related_func},
      {"torch.nn.modules.normalization.GroupNorm", "group_norm", module_related_func},
      {"torch.nn.modules.normalization.RMSNorm", "rms_norm", module_related_func},
      {"torch.nn.modules.instancenorm.InstanceNorm2d", "instance_norm2d", module_related_func},
      {"torch.nn.modules.activation.ReLU", "relu", module_related_func},
      {"torch.nn.modules.activation.ReLU6", "relu6", module_related_func},
      {"torch.nn.modules.activation.LeakyReLU", "leaky_relu", module_related_func},
      {"torch.nn.modules.activation.PReLU", "prelu", module_related_func},
      {"torch.nn.modules.activation.Mish", "mish", module_related_func},
      {"torch.nn.modules.activation.SELU", "selu", module_related_func},
      {"torch.nn.modules.activation.ELU", "elu", module_related_func},
      {"torch.nn.modules.activation.CELU", "celu", module_related_func},
      {"torch.nn.modules.activation.SiLU", "silu", module_related_func},
      {"torch.nn.modules.activation.GELU", "gelu", module_related_func},
      {"torch.nn.modules.activation.Tanh", "tanh", module_related_func},
      {"torch.nn.modules.activation.Sigmoid", "sigmoid", module_related_func},
      {"torch.nn.modules.activation.LogSigmoid", "logsigmoid", module_related_func},
      {"torch.nn.modules.activation.Softmax", "softmax", module_related_func},
      {"torch.nn.modules.activation.LogSoftmax", "log_softmax", module_related_func},
      {"torch.nn.modules.activation.Softplus", "softplus", module_related_func},
      {"torch.nn.modules.activation.Softsign", "softsign", module_related_func},
      {"torch.nn.modules.activation.Softshrink", "softshrink", module_related_func},
      {"torch.nn.modules.activation.Hardshrink", "hardshrink", module_related_func},
      {"torch.nn.modules.activation.Hardtanh", "hardtanh", module_related_func},
      {"torch.nn.modules.activation.Hardswish", "hardswish", module_related_func},
      {"torch.nn.modules.activation.Hardsigmoid", "hardsigmoid", module_related_func},
      {"torch.nn.modules.pooling.AvgPool1d", "avg_pool1d", module_related_func},
      {"torch.nn.modules.pooling.AvgPool2d", "avg_pool2d", module_related_func},
      {"torch.nn.modules.pooling.MaxPool1d", "max_pool1d", module_related_func},
      {"torch.nn.modules.pooling.MaxPool2d", "max_pool2d", module_related_func},
      {"torch.nn.modules.pooling.AdaptiveAvgPool1d", "adaptive_avg_pool1d", module_related_func},
      {"torch.nn.modules.pooling.AdaptiveAvgPool2d", "adaptive_avg_pool2d", module_related_func},
      {"torch.nn.modules.pooling.AdaptiveMaxPool1d", "adaptive_max_pool1d", module_related_func},
      {"torch.nn.modules.pooling.AdaptiveMaxPool2d", "adaptive_max_pool2d", module_related_func},
      {"torch.nn.modules.upsampling.Upsample", "upsample", module_related_func},
      {"torch.nn.modules.loss.CrossEntropyLoss", "crossentropyloss", module_related_func},
      {"torch.nn.modules.flatten.Flatten", "flatten", module_related_func},
      {"torch.nn.modules.sparse.Embedding", "embedding", implicit_func},
      {"torch.nn.modules.dropout.Dropout", "dropout", module_related_func},
      {"torch.nn.modules.dropout.Dropout1d", "dropout", module_related_func},
      {"torch.nn.modules.dropout.Dropout2d", "dropout", module_related_func},
      {"torch.nn.modules.dropout.AlphaDropout", "dropout", module_related_func},
  };
  return rows;
}

const ModuleRow* find_module_class(std::string_view class_name) {
  static const auto by_class = [] {
    std::map<std::string_view, const ModuleRow*> index;
    for (const ModuleRow& row : module_table()) index.emplace(row.class_name, &row);
    return index;
  }();
  const auto it = by_class.find(class_name);
  return it == by_class.end() ? nullptr : it->second;
}

}  // namespace mase::ir
