// SPDX-License-Identifier: Apache-2.0
// The list of operators, by subject, and the user's additions. A name is here when models of
// torch.nn, torch.nn.functional and the common libraries need it and no arguments make LibTorch
// read or write outside of tensors, crash or run for ever, except arguments that the program checks
// first. Left out on purpose: gradients, sparse, nested and quantized tensors, other devices,
// optimizers, polynomials (which take as long as their degree is large), text of a chosen width.
#include "ir/allowed_operators.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

constexpr std::string_view names_of_aten[] = {
    // Functions of elements
    "absolute acos acosh addcdiv addcmul angle arccos arccosh arcsin arcsinh arctan arctan2 "
    "arctanh asin asinh atan atan2 atanh bitwise_left_shift "
    "bitwise_right_shift bitwise_xor clip copysign deg2rad digamma divide erfc erfinv exp2 "
    "expm1 fix float_power fmax fmin fmod frac frexp gcd glu greater_equal heaviside hypot i0 "
    "igamma igammac isclose isfinite isin isinf isnan isneginf isposinf isreal lcm ldexp lerp "
    "lgamma log10 log1p log2 logaddexp logaddexp2 logical_xor logit multiply mvlgamma "
    "nan_to_num negative nextafter not_equal polygamma positive rad2deg rrelu sgn signbit "
    "sinc subtract threshold true_divide trunc xlogy",
    // Special functions
    "special_digamma special_entr special_erf special_erfc special_erfcx special_erfinv "
    "special_exp2 special_expit special_expm1 special_gammainc special_gammaincc "
    "special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p "
    "special_log_ndtr special_log_softmax special_logit special_logsumexp "
    "special_multigammaln special_ndtr special_ndtri special_polygamma special_psi "
    "special_round special_sinc special_softmax special_xlog1py special_xlogy special_zeta",
    // Reductions, sorting and counting
    "all allclose aminmax any argsort bincount bucketize corrcoef count_nonzero cov cummax "
    "cummin cumprod cumulative_trapezoid dist equal frobenius_norm histc _is_all_true "
    "_is_any_true kthvalue logcumsumexp logsumexp median mode msort nanmean nanmedian "
    "nanquantile nansum norm norm_except_dim nuclear_norm quantile renorm searchsorted sort "
    "std_mean sum_to_size topk trapezoid trapz _unique _unique2 unique_consecutive unique_dim "
    "var_mean",
    // Softmax, norms and dropout
    "_log_softmax native_dropout native_group_norm native_layer_norm "
    "normalize _safe_softmax _softmax _weight_norm _weight_norm_interface",
    // Products, convolutions and attention
    "addbmm addmv addr bilinear cdist chain_matmul conv3d conv_tbc conv_transpose3d "
    "convolution _convolution _convolution_mode cosine_similarity cross dot _euclidean_dist "
    "ger inner kron matrix_exp matrix_power mv pairwise_distance pdist tensordot "
    "_trilinear vdot",
    // Linear algebra
    "cholesky cholesky_inverse cholesky_solve det geqrf inverse linalg_cholesky "
    "linalg_cholesky_ex linalg_cond linalg_cross linalg_det linalg_diagonal linalg_eigh "
    "linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_ldl_factor "
    "linalg_ldl_solve linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_solve linalg_matmul "
    "linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_matrix_rank "
    "linalg_multi_dot linalg_norm linalg_pinv linalg_qr linalg_slogdet linalg_solve "
    "linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve "
    "linalg_vander linalg_vecdot linalg_vector_norm logdet lu_solve lu_unpack orgqr ormqr "
    "pinverse qr slogdet svd trace triangular_solve vander",
    // Pooling, padding and resampling
    "_adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool3d adaptive_max_pool3d "
    "affine_grid_generator avg_pool3d col2im constant_pad_nd grid_sampler grid_sampler_2d "
    "grid_sampler_3d im2col max_pool1d_with_indices max_pool3d max_pool3d_with_indices "
    "max_unpool2d max_unpool3d _pad_circular _pad_enum reflection_pad1d reflection_pad2d "
    "reflection_pad3d replication_pad1d replication_pad2d replication_pad3d "
    "upsample_bicubic2d _upsample_bicubic2d_aa _upsample_bilinear2d_aa upsample_linear1d "
    "upsample_nearest1d upsample_nearest3d _upsample_nearest_exact1d "
    "_upsample_nearest_exact2d _upsample_nearest_exact3d upsample_trilinear3d",
    // Recurrent layers
    "gru_cell lstm_cell _pack_padded_sequence _pad_packed_sequence pad_sequence rnn_relu_cell "
    "rnn_tanh_cell",
    // Losses
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss "
    "hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss "
    "multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d nll_loss_nd "
    "poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss",
    // Shapes
    "adjoint alias as_strided as_strided_scatter atleast_1d atleast_2d atleast_3d block_diag "
    "broadcast_shapes broadcast_tensors broadcast_to cartesian_prod channel_shuffle "
    "column_stack combinations concatenate diag diag_embed diagflat diagonal diagonal_scatter "
    "dsplit dstack expand_as fliplr flipud hsplit hstack matrix_H meshgrid mH moveaxis "
    "movedim narrow_copy native_channel_shuffle pixel_shuffle pixel_unshuffle "
    "ravel repeat_interleave reshape_as rot90 row_stack select_scatter slice_scatter swapaxes "
    "swapdims tensor_split unfold unsafe_chunk unsafe_split unsafe_split_with_sizes "
    "_unsafe_view view_as vsplit vstack",
    // Indexing
    "argwhere embedding_bag index_add index_copy index_fill index_put index_reduce "
    "masked_scatter masked_select nonzero nonzero_numpy one_hot put scatter_add "
    "scatter_reduce take take_along_dim",
    // New tensors
    "as_tensor bartlett_window blackman_window hamming_window hann_window kaiser_window "
    "logspace scalar_tensor _shape_as_tensor Size tril_indices triu_indices zero",
    // Types and devices
    "_autocast_to_full_precision _autocast_to_reduced_precision _cast_Byte _cast_Char "
    "_cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short cpu "
    "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine lift lift_fresh "
    "lift_fresh_copy requires_grad _to_copy to_dense",
    // Complex numbers and spectra
    "complex conj conj_physical fft_fft fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft "
    "fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 "
    "fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn "
    "imag istft polar real resolve_conj resolve_neg stft view_as_complex view_as_real",
    // Questions about tensors
    "_assert_async _assert_scalar _assert_tensor_metadata can_cast dense_dim device "
    "element_size get_device is_autocast_enabled is_coalesced is_complex is_conj "
    "is_contiguous is_floating_point is_grad_enabled is_inference is_leaf is_neg is_nonzero "
    "is_pinned is_same_size is_scripting is_set_to is_signed item _local_scalar_dense "
    "promote_types result_type storage_offset stride sym_constrain_range "
    "sym_constrain_range_for_size sym_numel sym_size sym_storage_offset sym_stride",
    // Numbers of the host
    "bin chr Complex ComplexImplicit degrees __derive_index divmod fabs FloatImplicit "
    "gamma hash hex _infer_size IntImplicit __is__ __isnot__ __lshift__ mathremainder modf "
    "__not__ oct ord radians __range_length __rshift__ ScalarImplicit "
    "_size_if_not_equal str _unwrap_optional __xor__",
    // Text, lists and dicts of the host
    "append capitalize clear __contains__ Delete dict endswith extend find format get "
    "__getitem__ insert isalnum isalpha isdecimal isdigit isidentifier islower isnumeric "
    "isprintable isspace istitle isupper items join keys list _list_to_tensor lower lstrip "
    "partition percentFormat pop popitem remove replace reverse rfind rindex rpartition "
    "rstrip _set_item setdefault sorted splitlines startswith strip swapcase _tensor_to_list "
    "title update upper values warn",
};

/// Operators of scripts and traces that work on values but are not in aten.
constexpr std::string_view names_of_prim =
    "AutogradAnyNonZero NumToTensor TupleSlice Uninitialized abs data device dtype is_cpu is_cuda "
    "is_meta is_mkldnn is_nested is_quantized is_sparse itemsize layout max min ndim requires_grad "
    "shape type";

using Names = std::set<std::string, std::less<>>;

const Names& listed() {
  static const Names names = [] {
    Names all;
    for (const std::string_view line : names_of_aten)
      for (const std::string& name : split(line, ' ')) all.insert("aten::" + name);
    for (const std::string& name : split(names_of_prim, ' ')) all.insert("prim::" + name);
    return all;
  }();
  return names;
}

const Names& in_op_table() {
  static const Names names = [] {
    Names all;
    for (const OpRow& row : op_table())
      for (const CallRow& call : row.calls) all.emplace(call.aten);
    return all;
  }();
  return names;
}

Names& allowed_by_user() {
  static Names names;
  return names;
}

std::string full_name(const std::string& name) {
  return name.find("::") == std::string::npos ? "aten::" + name : std::string(base_op(name));
}

void collect(const Graph& graph, std::string& problems) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.op.empty() && !is_allowed(node.op))
      problems += "\n  node '" + node.name + "': " + not_allowed(node.op);
    if (node.body) collect(*node.body, problems);
  }
}

}  // namespace

bool is_allowed(std::string_view op) {
  const std::string_view base = plain_op(op);
  return base.starts_with("mase::") || listed().contains(base) || in_op_table().contains(base) ||
         allowed_by_user().contains(base);
}

void allow_operators(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string full = full_name(name);
    const std::string_view own = std::string_view(full).substr(full.find("::") + 2);
    if (own.empty() || !std::ranges::all_of(own, is_identifier_char) ||
        !(full.starts_with("aten::") || full.starts_with("prim::")))
      config_error("--allow-op " + name +
                   ": expected the name of an operator, such as --allow-op " + "aten::bincount");
    allowed_by_user().insert(full);
  }
}

std::string not_allowed(std::string_view op) {
  const std::string base(base_op(op));
  if (base.starts_with("aten::_nested_tensor_from_mask"))
    return base +
           " packs padded rows, as nn.TransformerEncoder does it without gradients; make the "
           "encoder with enable_nested_tensor=False, which gives the same";
  return base +
         " is not among the operators that models may run, because LibTorch does not check " +
         "its arguments; if you trust the file, allow it with --allow-op " + base;
}

void require_allowed(const Graph& graph, const std::string& file) {
  std::string problems;
  collect(graph, problems);
  if (!problems.empty()) unsupported_error(file + ": operators that are not allowed:" + problems);
}

std::vector<std::string> allowed_operators() {
  Names all = listed();
  all.insert(in_op_table().begin(), in_op_table().end());
  return {all.begin(), all.end()};
}

std::vector<std::string> listed_operators() {
  std::vector<std::string> names;
  for (const std::string_view line : names_of_aten)
    for (const std::string& name : split(line, ' ')) names.push_back("aten::" + name);
  return names;
}

}  // namespace mase::ir
