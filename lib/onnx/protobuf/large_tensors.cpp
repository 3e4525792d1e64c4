// SPDX-License-Identifier: Apache-2.0
// The generated parser copies every byte of a message, so it gets the stretches of the file that
// lie between large tensors; protobuf merges them into one message.
#include "onnx/protobuf/large_tensors.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace mase::onnx {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

/// Smaller tensors are copied with their messages.
constexpr std::size_t large = std::size_t{64} << 10;

const auto* data_of(std::string_view bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

bool merge(std::string_view bytes, MessageLite& message) {
  CodedInputStream stream(data_of(bytes), static_cast<int>(bytes.size()));
  return message.MergePartialFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

/// Walks over the fields of a message. Those for which take(field number, content) is true are
/// taken; the others are merged into `message` in their order.
template <class Take>
bool merge_others(std::string_view bytes, MessageLite& message, Take&& take) {
  CodedInputStream stream(data_of(bytes), static_cast<int>(bytes.size()));
  const auto here = [&] { return static_cast<std::size_t>(stream.CurrentPosition()); };
  std::size_t merged = 0;  // everything before it is in `message` or was taken
  while (here() < bytes.size()) {
    const std::size_t begin = here();
    const std::uint32_t tag = stream.ReadTag();
    if (tag == 0) return false;
    std::uint32_t size = 0;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&stream, tag)) return false;
      continue;
    }
    if (!stream.ReadVarint32(&size) || size > bytes.size() - here()) return false;
    const std::string_view content = bytes.substr(here(), size);
    stream.Skip(static_cast<int>(size));
    if (content.size() < large) continue;
    // What is taken has its place after all that comes before it.
    if (!merge(bytes.substr(merged, begin - merged), message)) return false;
    merged = begin;
    const auto taken = take(WireFormatLite::GetTagFieldNumber(tag), content);
    if (!taken) return false;
    if (*taken) merged = here();
  }
  return merge(bytes.substr(merged), message);
}

class Parser {
 public:
  Parser(std::string_view file, proto::ModelProto& model, RawPlaces& places)
      : file_(file), model_(model), places_(places) {}

  bool parse() {
    const bool whole = merge_others(
        file_, model_, [this](int field, std::string_view content) -> std::optional<bool> {
          if (field != proto::ModelProto::kGraphFieldNumber) return false;
          if (!graph(content)) return std::nullopt;
          return true;
        });
    places_.resize(static_cast<std::size_t>(model_.graph().initializer_size()));
    return whole;
  }

 private:
  bool graph(std::string_view bytes) {
    proto::GraphProto& graph = *model_.mutable_graph();
    return merge_others(bytes, graph,
                        [&](int field, std::string_view content) -> std::optional<bool> {
                          if (field != proto::GraphProto::kInitializerFieldNumber) return false;
                          places_.resize(static_cast<std::size_t>(graph.initializer_size()));
                          places_.emplace_back();
                          if (!tensor(content, *graph.add_initializer())) return std::nullopt;
                          return true;
                        });
  }

  bool tensor(std::string_view bytes, proto::TensorProto& tensor) {
    return merge_others(bytes, tensor,
                        [&](int field, std::string_view content) -> std::optional<bool> {
                          if (field != proto::TensorProto::kRawDataFieldNumber) return false;
                          places_.back() = {static_cast<std::size_t>(content.data() - file_.data()),
                                            content.size()};
                          return true;
                        });
  }

  std::string_view file_;
  proto::ModelProto& model_;
  RawPlaces& places_;
};

}  // namespace

bool parse_model(std::string_view bytes, proto::ModelProto& model, RawPlaces& places) {
  return Parser(bytes, model, places).parse();
}

}  // namespace mase::onnx
