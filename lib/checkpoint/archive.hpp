// SPDX-License-Identifier: Apache-2.0
// A checkpoint archive is a TorchScript zip file with the metadata of mase as extra files. It is
// read here without LibTorch; LibTorch never sees a file, only contents that passed these checks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/zip_image.hpp"
#include "base/zip_reader.hpp"
#include "ir/graph.hpp"

namespace mase::checkpoint {

/// The newest version. Files of version 1 have all tensors as floats, and files of version 2 have
/// one format for both operands of a sum or a product.
inline constexpr int format_version = 3;

/// Whether the node has a format for its first operand and a second float operand without one.
/// Files before version 3 give the second operand that of the first.
bool has_float_second_operand(const ir::Graph& graph, const ir::Node& node);

/// Reads the file once, checks the structure and sizes of the zip and the CRC-32 of every entry,
/// and refuses code that would run on loading (`__setstate__`). Error(Fault::file) that says what
/// is wrong and what to try.
ZipReader open_model(const std::string& path);

enum class ArchiveKind { torchscript, state_dict };

struct TensorFile {
  ZipReader archive;
  ArchiveKind kind;
};
/// Like open_model, but also accepts pickled tensors without code (torch.save of a state_dict).
TensorFile open_tensors(const std::string& path);

/// A plain zip with the parts of a checked model that LibTorch reads: code, constants and tensors.
/// It refers to the bytes of `archive`, which must outlive it.
ZipImage loadable_image(const ZipReader& archive);

/// Reads the tensors of a state_dict saved by torch.save, or of its entry "state_dict", by name.
/// Runs no code of the file. Error(Fault::file).
std::map<std::string, Array> read_state_dict(const ZipReader& archive);

/// Fills the graph's tensors from a checkpoint. Names, dtypes and shapes must match, and so must
/// the hash of the tensors in the checkpoint. Runs no code of the file, and makes all checks of
/// open_model. Otherwise throws an Error(Fault::file) and leaves the graph unchanged.
void load_tensors(const ZipReader& archive, ir::Graph& graph);

/// The extra files ("mase/graph.txt", ...) of an archive; empty if mase did not write it.
std::map<std::string, std::string> read_extra_files(const std::string& path);

/// The metadata among the extra files of `path`; nothing where there is none.
std::optional<Tree> info_in(const std::map<std::string, std::string>& files,
                            const std::string& path);

/// The contents of a checkpoint in addition to the TorchScript module.
struct Contents {
  ir::Graph graph;    ///< parsed from the text; tensors zero-filled until load_tensors
  Tree info;          ///< tool, versions, hashes, resolved configuration, history, data set
  ZipReader archive;  ///< for load_tensors, so that graph and tensors are from one file
};
/// Reads the contents; nothing if mase did not write the archive. Error(Fault::file) if versions or
/// hashes do not match.
std::optional<Contents> read_contents(const std::string& path);

/// The extra files to store for a graph: the graph as text, metadata as JSON, and the packed
/// integer codes of each quantized tensor. `info` is merged into the metadata.
std::map<std::string, std::string> extra_files(const ir::Graph& graph, const Tree& info);

/// Checks that the archive has the integer codes of every quantized tensor of its graph and that
/// they match the tensors' values. Error(Fault::file) that names node and port otherwise.
void check_codes(const std::string& path, const ir::Graph& graph);

/// The SHA-256 of names, dtypes, shapes and values of the tensors, in tensor_order.
std::string tensor_hash(const ir::Graph& graph);

}  // namespace mase::checkpoint
