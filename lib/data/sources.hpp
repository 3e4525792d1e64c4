// SPDX-License-Identifier: Apache-2.0
// The loaders behind the table of data sets, one per source.
#pragma once

#include "data/dataset.hpp"

namespace mase::data {

/// 16 jet features, classes g, q, t, w, z. Without data_dir: the shipped rows, already
/// standardised, split as configs/data/jsc/splits.json says. With it: a CSV (feature columns by
/// name and a class column or one-hot columns, or 16 features then the label) or x.npy and y.npy,
/// raw; standardised with the statistics of the train part, seeded random split. x.npy may be
/// [rows, particles, 3] (transverse momentum, relative eta and phi) with classes g, q, w, z, t.
Dataset load_jsc(const DataOptions& options);

/// IDX files, gzipped or not, under their usual names; pixels / 255, N x 1 x 28 x 28. The last
/// twelfth of the train file (5,000 of 60,000 rows) is the validation part, the t10k file the test.
Dataset load_mnist(const DataOptions& options);

/// 10,240 rows per part, each part from its own stream of the generator, uniform in (-1, 1);
/// label = sum > 0.
Dataset load_toy_tiny(const DataOptions& options);

/// 10,240 rows of 32 token ids below 32, each part from its own stream of the generator; label: are
/// there more of 0 to 7 than of 8 to 15? There are never as many.
Dataset load_toy_tokens(const DataOptions& options);

/// Numeric columns and a class column: the one named label, class or target, else the last.
Dataset load_csv(const DataOptions& options);

/// y.npy, [rows] integers or [rows, classes] one-hot, and the model's inputs, [rows, ...] each:
/// x.npy, or x_0.npy, x_1.npy, ... in their order, or files named as the model's arguments; or one
/// .npz archive of such arrays. int64 and int32 inputs stay what they are (token ids, masks).
Dataset load_npy(const DataOptions& options);

/// The bytes of a text, data_dir's or the shipped novel, as token ids: row i has the max_token_len
/// (64) bytes from i * max_token_len on, its labels are the byte after each. The parts follow each
/// other, so that none holds the middle of another's sentence.
Dataset load_text(const DataOptions& options);

/// Whether an input's name is x or x_N, which is no argument's name but a place.
bool is_by_position(const std::string& name);

/// The pair x and y, as float32 and classes, without parts; `classes` 0: one more than the largest
/// label.
Dataset read_npy_pair(const std::string& name, const std::string& x, const std::string& y,
                      std::int64_t classes);

}  // namespace mase::data
