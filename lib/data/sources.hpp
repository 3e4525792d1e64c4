// SPDX-License-Identifier: Apache-2.0
// The loaders behind the table of data sets, one per source.
#pragma once

#include "data/dataset.hpp"

namespace mase::data {

/// 16 jet features, classes g, q, t, w, z. Without data_dir these are the shipped rows, already
/// standardised and split as in configs/data/jsc/splits.json. With data_dir, raw rows of a CSV
/// (feature columns by name and a class column or one-hot columns, or 16 features and the label) or
/// of x.npy and y.npy are split at random by the seed and standardised over the train part. x.npy
/// may be [rows, particles, 3] (transverse momentum, relative eta and phi), classes g, q, w, z, t.
Dataset load_jsc(const DataOptions& options);

/// IDX files under their usual names, gzipped or not; pixels / 255, N x 1 x 28 x 28. The last
/// twelfth of the train file (5,000 of 60,000 rows) is for validation, the t10k file for test.
Dataset load_mnist(const DataOptions& options);

/// CIFAR-10 and CIFAR-100 in their binary version or in that for Python; pixels / 255, N x 3 x 32 x
/// 32, and the fine classes. The last tenth of the training files (5,000 of 50,000 rows) is for
/// validation.
Dataset load_cifar10(const DataOptions& options);
Dataset load_cifar100(const DataOptions& options);

/// 10,240 rows per part, uniform in (-1, 1); each part has its own stream of the generator. The
/// label is sum > 0.
Dataset load_toy_tiny(const DataOptions& options);

/// 10,240 rows of 32 token ids below 32; each part has its own stream of the generator. The label
/// says whether ids 0 to 7 are more frequent than 8 to 15; they are never equally frequent.
Dataset load_toy_tokens(const DataOptions& options);

/// Numeric columns, and those to predict: label_column, or the one named label, class or target,
/// otherwise the last. Missing cells of features become missing_value.
Dataset load_csv(const DataOptions& options);

/// y.npy, [rows] integers or [rows, classes] one-hot, and the model's inputs, [rows, ...] each:
/// x.npy, or x_0.npy, x_1.npy, ... in this order, or files named after the model's arguments; or
/// one .npz archive of such arrays. Without y, the rows have no labels. int64 and int32 inputs keep
/// their type (token ids, masks).
Dataset load_npy(const DataOptions& options);

/// The same from one HDF5 file with arrays of these names (.h5 or .hdf5).
Dataset load_hdf5(const DataOptions& options);

/// Image files, PNG or JPEG, N x channels x height x width, by default / 255; all have the size and
/// channels of the first, or the size image_size. The class is the folder, classes are sorted by
/// name. Folders train, val (or validation) and test with the classes' folders inside are the
/// parts; otherwise rows are divided at random.
Dataset load_images(const DataOptions& options);

/// A .csv or .jsonl file: texts and their classes, as load_labelled_texts reads them. Otherwise a
/// .txt: the tokens of a text (from data_dir, or the shipped novel), which are its bytes or the ids
/// of a tokenizer, without special ones. Row i has the max_token_len (64) tokens from i *
/// max_token_len on; its labels are the token after each. The parts follow each other, so that no
/// part has the middle of another part's sentence. With a tokenizer, an optional attention_mask is
/// 1 everywhere.
Dataset load_text(const DataOptions& options);

inline constexpr int default_tokens = 64;  ///< max_token_len, if it is not given

/// Texts with a class each: columns of a .csv, or keys of the objects in the lines of a .jsonl. x
/// is [rows, max_token_len] bytes as int64 token ids, with zeros after a text that is shorter;
/// attention_mask, which is optional, is 1 where there is a text. With a tokenizer, x and masks are
/// those of `tokenized_columns`.
Dataset load_labelled_texts(const std::string& path, const DataOptions& options);

/// True when an input's name is x or x_N, which stands for a place and not for an argument.
bool is_by_position(const std::string& name);

/// The pair x and y, as float32 and as classes, without parts. `classes` = 0 means one more than
/// the largest label.
Dataset read_npy_pair(const std::string& name, const std::string& x, const std::string& y,
                      std::int64_t classes);

}  // namespace mase::data
