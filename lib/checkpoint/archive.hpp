// SPDX-License-Identifier: Apache-2.0
// Checkpoint archives: one TorchScript zip per result with our metadata as extra files, read here
// without LibTorch. LibTorch never sees a file, only what passed these checks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/zip_image.hpp"
#include "base/zip_reader.hpp"
#include "ir/graph.hpp"

namespace mase::checkpoint {

/// The newest; files of version 1 hold every tensor in floats.
inline constexpr int format_version = 2;

/// Reads the file once, checks the zip's structure, sizes and every entry's CRC-32, and refuses
/// code that would run on loading (`__setstate__`). Error(Fault::file) saying what is wrong and
/// what to try.
ZipReader open_model(const std::string& path);

enum class ArchiveKind { torchscript, state_dict };

struct TensorFile {
  ZipReader archive;
  ArchiveKind kind;
};
/// As open_model, but accepts pickled tensors without code (torch.save of a state_dict) too.
TensorFile open_tensors(const std::string& path);

/// A plain zip with what LibTorch reads of a checked model: code, constants, tensors. Its bytes are
/// those of `archive`, which must outlive it.
ZipImage loadable_image(const ZipReader& archive);

/// The tensors of a state_dict saved by torch.save, or of the one under "state_dict", by name.
/// Nothing of the file is run. Error(Fault::file).
std::map<std::string, Array> read_state_dict(const ZipReader& archive);

/// Fills the graph's tensors from a checkpoint. Names, dtypes and shapes must be the same, and so
/// must the hash that the checkpoint stores of its tensors. Nothing of the file is run; all checks
/// of open_model are made. Error(Fault::file) otherwise; the graph is then unchanged.
void load_tensors(const ZipReader& archive, ir::Graph& graph);

/// The extra files ("mase/graph.txt", ...) of an archive; empty when it was not written by mase.
std::map<std::string, std::string> read_extra_files(const std::string& path);

/// What a checkpoint says beside the TorchScript module.
struct Contents {
  ir::Graph graph;    ///< parsed from the text; tensors zero-filled until load_tensors
  Tree info;          ///< tool, versions, hashes, resolved configuration, history, data set
  ZipReader archive;  ///< for load_tensors, so that the tensors are those of this graph's file
};
/// Nothing when the archive was not written by mase; Error(Fault::file) when versions or hashes do
/// not fit.
std::optional<Contents> read_contents(const std::string& path);

/// The extra files to store for a graph: graph text, metadata JSON, and for each quantized tensor
/// its packed integer codes. `info` is merged into the metadata.
std::map<std::string, std::string> extra_files(const ir::Graph& graph, const Tree& info);

/// Checks that the archive stores the integer codes of every quantized tensor of its graph and that
/// they are those of the tensors' values. Error(Fault::file) naming node and port otherwise.
void check_codes(const std::string& path, const ir::Graph& graph);

/// SHA-256 over names, dtypes, shapes and values of the tensors, in tensor_order.
std::string tensor_hash(const ir::Graph& graph);

}  // namespace mase::checkpoint
