// SPDX-License-Identifier: Apache-2.0
// The generated messages of onnx.proto, and what reading and writing share.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <onnx-ml.pb.h>
#pragma GCC diagnostic pop

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_map.hpp"
#include "onnx/model.hpp"

// Our structures have the names of the messages, which protoc puts into the namespace "onnx".
namespace mase::onnx {

namespace proto = ::onnx;

/// The bytes of a large tensor, which stay in the file.
struct RawBytes {
  std::size_t offset = 0, size = 0;  ///< in the mapped file
};

/// Reads tensors of one model file, with the files of external data beside it.
class TensorReader {
 public:
  explicit TensorReader(std::shared_ptr<const FileMap> file) : file_(std::move(file)) {}

  /// `raw`, if given, stands for the message's raw_data. Error(Fault::file) names the tensor.
  Tensor read(const proto::TensorProto& message, const RawBytes* raw = nullptr);
  /// The files of external data that have been read.
  std::vector<std::string> external_files() const;

 private:
  struct Source;
  Source source_of(const proto::TensorProto& message, const RawBytes* raw);
  Source external(const proto::TensorProto& message);
  [[noreturn]] void refuse(const proto::TensorProto& message, const std::string& reason) const;
  Array values(const proto::TensorProto& message, const RawBytes* raw);
  Array unpacked(const Source& source, const ElementRow& row, Shape shape) const;

  std::shared_ptr<const FileMap> file_;
  std::map<std::string, std::shared_ptr<const FileMap>> external_;  ///< by location
};

/// Writes the values of a tensor as raw_data.
void write_tensor(const Tensor& tensor, proto::TensorProto& message);

}  // namespace mase::onnx
