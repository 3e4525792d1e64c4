// SPDX-License-Identifier: Apache-2.0
// The calls, by the kind of their rule; those of elements are in a source of their own.
#include "torch/run/inference_calls.hpp"

namespace mase::test {
namespace {

using Calls = std::vector<std::string>;

Calls products() {
  return {
      "aten::linear(input=%x, weight=%k2)",
      "aten::matmul(self=%x, other=%k)",
      "aten::matmul(self=%x, other=%row)",
      "aten::matmul(self=%row, other=%k)",
      "aten::matmul(self=%row, other=%row)",
      "aten::matmul(self=%row, other=%w)",
      "aten::matmul(self=%q, other=%qt)",
      "aten::bmm(self=%x, mat2=%w)",
      "aten::mm(self=%m, mat2=%k)",
      "aten::outer(self=%row, vec2=%j)",
      "aten::addmm(self=%zero, mat1=%m, mat2=%k)",
      "aten::addmm(self=%col, mat1=%m, mat2=%k, beta=2)",
      "aten::baddbmm(self=%col, batch1=%x, batch2=%w)",
      "aten::einsum(equation=\"bij,bjk->bik\", tensors=[%x, %w])",
      "aten::einsum(equation=\"bij, bjk\", tensors=[%x, %w])",
      "aten::einsum(equation=\"...j,jk->...k\", tensors=[%x, %k])",
      "aten::einsum(equation=\"...j,jk\", tensors=[%x, %k])",
      "aten::einsum(equation=\"ii->i\", tensors=[%square])",
      "aten::einsum(equation=\"...ij,...jk\", tensors=[%q, %qt])",
      "aten::einsum(equation=\"i...->...i\", tensors=[%q])",
      "aten::einsum(equation=\"i...,...j->ij...\", tensors=[%x, %o])",
      "aten::einsum(equation=\"ij,ij->\", tensors=[%m, %m])",
      "aten::einsum(equation=\"ba\", tensors=[%m])",
      "aten::scaled_dot_product_attention(query=%q, key=%z, value=%z)",
      "aten::_native_multi_head_attention(query=%x, key=%x, value=%x, embed_dim=4, num_head=2, "
      "qkv_weight=%qkv, qkv_bias=%qkv_bias, proj_weight=%square, proj_bias=%row, "
      "need_weights=true)",
      "aten::_native_multi_head_attention(query=%x, key=%x, value=%x, embed_dim=4, num_head=2, "
      "qkv_weight=%qkv, qkv_bias=%qkv_bias, proj_weight=%square, proj_bias=%row, "
      "average_attn_weights=false)",
      "aten::_native_multi_head_attention(query=%x, key=%x, value=%x, embed_dim=4, num_head=2, "
      "qkv_weight=%qkv, qkv_bias=%qkv_bias, proj_weight=%square, proj_bias=%row, "
      "need_weights=false)",
      "aten::_transformer_encoder_layer_fwd(src=%x, embed_dim=4, num_heads=2, qkv_weight=%qkv, "
      "qkv_bias=%qkv_bias, proj_weight=%square, proj_bias=%row, use_gelu=false, norm_first=false, "
      "eps=0.1, norm_weight_1=%row, norm_bias_1=%row, norm_weight_2=%row, norm_bias_2=%row, "
      "ffn_weight_1=%square, ffn_bias_1=%row, ffn_weight_2=%square, ffn_bias_2=%row)",
  };
}

Calls windows() {
  return {
      "aten::conv1d(input=%seq, weight=%w1, groups=2)",
      "aten::conv1d.padding(input=%seq, weight=%w1, groups=2, padding=\"same\", dilation=[2])",
      "aten::conv2d(input=%img, weight=%w2, stride=[2, 3], padding=[1, 0], dilation=[2, 1])",
      "aten::conv2d.padding(input=%img, weight=%w2, padding=\"valid\")",
      "aten::conv3d(input=%vol, weight=%w3, stride=[2, 1, 1])",
      "aten::conv_transpose1d(input=%seq, weight=%t1, stride=[2], output_padding=[1])",
      "aten::conv_transpose2d.input(input=%img, weight=%t2, stride=[2, 3], padding=[1, 0], "
      "dilation=[1, 2])",
      "aten::avg_pool1d(self=%seq, kernel_size=[3], ceil_mode=true)",
      "aten::avg_pool2d(self=%img, kernel_size=[3, 2], padding=[1, 1])",
      "aten::avg_pool2d(self=%x, kernel_size=[2, 2], stride=[1, 1])",
      "aten::avg_pool3d(self=%vol, kernel_size=[2, 2, 3])",
      "aten::max_pool1d(self=%seq, kernel_size=[3], stride=[2], dilation=[2])",
      "aten::max_pool2d(self=%img, kernel_size=[3, 3], stride=[2, 2], ceil_mode=true)",
      "aten::max_pool2d_with_indices(self=%img, kernel_size=[2, 2])",
      "aten::max_pool3d(self=%vol, kernel_size=[2, 2, 3], ceil_mode=true)",
      "aten::adaptive_avg_pool1d(self=%seq, output_size=[3])",
      "aten::adaptive_avg_pool2d(self=%img, output_size=[1, 4])",
      "aten::adaptive_avg_pool3d(self=%vol, output_size=[1, 4, 2])",
      "aten::adaptive_max_pool1d(self=%seq, output_size=[3])",
      "aten::adaptive_max_pool2d(self=%img, output_size=[3, 2])",
      "aten::adaptive_max_pool3d(self=%vol, output_size=[3, 2, 1])",
      "aten::upsample_nearest1d.vec(input=%seq, scale_factors=[2.5])",
      "aten::upsample_nearest2d.vec(input=%img, scale_factors=[2.0, 1.7])",
      "aten::upsample_nearest2d.vec(input=%img, output_size=[20, 5])",
      "aten::upsample_nearest2d(self=%img, output_size=[20, 5])",
      "aten::upsample_bilinear2d.vec(input=%img, align_corners=false, scale_factors=[2.0, 3.0])",
      "aten::upsample_bilinear2d(self=%img, output_size=[7, 7], align_corners=true)",
      "aten::upsample_bicubic2d.vec(input=%img, align_corners=false, scale_factors=[2.0, 3.0])",
      "aten::pixel_shuffle(self=%img, upscale_factor=2)",
      "aten::pixel_unshuffle(self=%even, downscale_factor=2)",
  };
}

Calls layers() {
  const std::string settings =
      ", has_biases=false, num_layers=1, dropout=0.0, train=false, "
      "bidirectional=true, batch_first=false)";
  return {
      "aten::batch_norm(input=%img, weight=%row, bias=%row, running_mean=%row, running_var=%row, "
      "training=false, momentum=0.1, eps=0.1, cudnn_enabled=false)",
      "aten::instance_norm(input=%img, use_input_stats=true, momentum=0.1, eps=0.1, "
      "cudnn_enabled=false)",
      "aten::group_norm(input=%img, num_groups=2)",
      "aten::layer_norm(input=%x, normalized_shape=[3, 4])",
      "aten::rms_norm(input=%x, normalized_shape=[4], weight=%row)",
      "aten::embedding(weight=%k, indices=%i)",
      "aten::embedding(weight=%k, indices=%n)",
      "aten::cross_entropy_loss(self=%k, target=%c4)",
      "aten::cross_entropy_loss(self=%k, target=%c4, reduction=0)",
      "aten::cross_entropy_loss(self=%k, target=%k, reduction=0)",
      "aten::cross_entropy_loss(self=%k, target=%c4, reduction=2)",
      "aten::dropout(input=%x, p=0.5, train=false)",
      "aten::feature_dropout(input=%x, p=0.5, train=false)",
      "aten::alpha_dropout(input=%x, p=0.5, train=false)",
      "aten::feature_alpha_dropout(input=%x, p=0.5, train=false)",
      "aten::gru.input(input=%x3, hx=%s2, params=[%g_ih, %g_hh, %g_ih, %g_hh]" + settings,
      "aten::rnn_tanh.input(input=%x3, hx=%s2, params=[%r_ih, %r_hh, %r_ih, %r_hh]" + settings,
      "aten::rnn_relu.input(input=%x3, hx=%s2, params=[%r_ih, %r_hh, %r_ih, %r_hh]" + settings,
      "aten::lstm.input(input=%x3, hx=[%s2, %s2], params=[%l_ih, %l_hh, %l_ih, %l_hh]" + settings,
  };
}

Calls reductions() {
  return {
      "aten::mean(self=%x)",
      "aten::mean.dim(self=%x, dim=[0, -1], keepdim=true)",
      "aten::mean.dim(self=%i, dim=[], dtype=6)",
      "aten::sum(self=%b)",
      "aten::sum.dim_IntList(self=%x, dim=[1], keepdim=false, dtype=7)",
      "aten::sum(self=%zero)",
      "aten::prod(self=%j)",
      "aten::prod.dim_int(self=%x, dim=-2, keepdim=true)",
      "aten::max(self=%i)",
      "aten::max.dim(self=%x, dim=1)",
      "aten::max.dim(self=%zero, dim=0)",
      "aten::max.other(self=%i, other=%j)",
      "aten::amax(self=%x, dim=[0, 2])",
      "aten::amax(self=%x)",
      "aten::min.dim(self=%u, dim=0, keepdim=true)",
      "aten::amin(self=%x, dim=[0, 2], keepdim=true)",
      "aten::argmax(self=%x)",
      "aten::argmax(self=%x, keepdim=true)",
      "aten::argmax(self=%x, dim=1, keepdim=true)",
      "aten::argmin(self=%i, dim=-1)",
      "aten::var(self=%x, unbiased=false)",
      "aten::var.dim(self=%x, dim=[1], unbiased=true, keepdim=true)",
      "aten::std.correction(self=%x, dim=[0, 1], correction=1)",
      "aten::std.correction(self=%x, correction=0)",
      "aten::cumsum(self=%b, dim=0)",
      "aten::cumsum(self=%x, dim=-1, dtype=7)",
      "aten::diff(self=%x)",
      "aten::diff(self=%i, n=5, dim=1)",
      "aten::diff(self=%x, dim=0, prepend=%x, append=%x)",
      "aten::all(self=%x)",
      "aten::any.dim(self=%b, dim=1, keepdim=true)",
      "aten::logsumexp(self=%x, dim=[1])",
      "aten::logsumexp(self=%i, dim=[1])",
      "aten::std_mean(self=%x, unbiased=true)",
      "aten::var_mean.correction(self=%x, dim=[1], correction=0, keepdim=true)",
      "aten::nansum(self=%x, dim=[1])",
      "aten::count_nonzero.dim_IntList(self=%x, dim=[1])",
      "aten::count_nonzero(self=%x)",
      "aten::linalg_vector_norm(self=%x, ord=2, dim=[1], keepdim=true)",
      "aten::norm.ScalarOpt_dim(self=%x, p=2, dim=[1])",
      "aten::cummax(self=%x, dim=1)",
      "aten::cummin(self=%i, dim=1)",
      "aten::cumprod(self=%i, dim=1)",
  };
}

Calls reshapes() {
  return {
      "aten::size.int(self=%x, dim=-1)",
      "aten::size(self=%x)",
      "aten::dim(self=%x)",
      "aten::numel(self=%x)",
      "aten::view(self=%x, size=[2, -1])",
      "aten::view(self=%zero, size=[1, 1])",
      "aten::view.dtype(self=%x, dtype=5)",
      "aten::view.dtype(self=%x, dtype=7)",
      "aten::view.dtype(self=%x, dtype=3)",
      "aten::reshape(self=%x, shape=[-1])",
      "aten::reshape(self=%e, shape=[0, 3])",
      "aten::reshape_as(self=%x, other=%i)",
      "aten::flatten.using_ints(self=%x, start_dim=1)",
      "aten::flatten.using_ints(self=%x, start_dim=0, end_dim=-2)",
      "aten::flatten.using_ints(self=%zero)",
      "aten::unflatten.int(self=%x, dim=-1, sizes=[2, -1])",
      "aten::squeeze(self=%o)",
      "aten::squeeze.dim(self=%o, dim=1)",
      "aten::squeeze.dim(self=%o, dim=0)",
      "aten::squeeze.dims(self=%o, dim=[0, 3])",
      "aten::squeeze.dims(self=%o, dim=[])",
      "aten::unsqueeze(self=%x, dim=-1)",
      "aten::unsqueeze(self=%zero, dim=0)",
      "aten::transpose.int(self=%x, dim0=0, dim1=-1)",
      "aten::t(self=%m)",
      "aten::t(self=%row)",
      "aten::mT(self=%x)",
      "aten::numpy_T(self=%m)",
      "aten::permute(self=%x, dims=[2, 0, -2])",
      "aten::contiguous(self=%x)",
      "aten::clone(self=%x)",
      "aten::detach(self=%x)",
      "aten::expand(self=%col, size=[2, -1, 4])",
      "aten::expand_as(self=%col, other=%x)",
      "aten::broadcast_to(self=%col, size=[2, 3, 4])",
      "aten::repeat(self=%row, repeats=[2, 3])",
      "aten::tile(self=%x, dims=[2])",
      "aten::tile(self=%row, dims=[2, 2])",
      "aten::flip(self=%x, dims=[0, -1])",
      "aten::roll(self=%x, shifts=[1], dims=[1])",
      "aten::pad(self=%x, pad=[1, 2, -1, 0])",
      "aten::pad(self=%img, pad=[1, 2, 3, 0], mode=\"reflect\")",
      "aten::to.dtype(self=%x, dtype=4)",
      "aten::to.other(self=%x, other=%h)",
      "aten::type_as(self=%i, other=%d)",
      "aten::zeros_like(self=%u)",
      "aten::ones_like(self=%x, dtype=11)",
      "aten::full_like(self=%i, fill_value=0.5)",
      "aten::movedim.int(self=%x, source=0, destination=2)",
      "aten::swapaxes(self=%x, axis0=0, axis1=1)",
  };
}

Calls movements() {
  return {
      "mase::getitem(value=%x, index=(slice(none, none, none), -1))",
      "mase::getitem(value=%x, index=(none, slice(-2, none, none), slice(0, 3, 2)))",
      "mase::getitem(value=%x, index=(%n, slice(1, none, none), %j))",
      "mase::getitem(value=%x, index=(slice(none, none, none), %n, %j))",
      "mase::getitem(value=%img, index=(%n, slice(1, none, none), %c4))",
      "mase::getitem(value=%img, index=(slice(1, none, none), %c4, none, %c4))",
      "mase::getitem(value=%img, index=(0, %c4, %c4))",
      "mase::getitem(value=%x, index=%i)",
      "aten::cat(tensors=[%x, %e, %x], dim=-1)",
      "aten::cat(tensors=[%x, %i], dim=0)",
      "aten::concat(tensors=[%x, %x], dim=1)",
      "aten::concatenate(tensors=[%x, %x], dim=1)",
      "aten::stack(tensors=[%x, %x], dim=-1)",
      "aten::chunk(self=%seq, chunks=4, dim=2)",
      "aten::chunk(self=%e, chunks=2)",
      "aten::split.Tensor(self=%seq, split_size=4, dim=-1)",
      "aten::split.sizes(self=%seq, split_size=[1, 10], dim=-1)",
      "aten::split_with_sizes(self=%seq, split_sizes=[5, 6], dim=2)",
      "aten::unbind.int(self=%x, dim=1)",
      "aten::slice.Tensor(self=%seq, dim=2, start=-7, end=9223372036854775807, step=3)",
      "aten::slice.Tensor(self=%seq, dim=2, start=5, end=2)",
      "aten::slice.Tensor(self=%seq, dim=1, end=-1)",
      "aten::select.int(self=%x, dim=1, index=-1)",
      "aten::narrow(self=%x, dim=1, start=1, length=2)",
      "aten::index.Tensor(self=%x, indices=[none, %j])",
      "aten::index.Tensor(self=%img, indices=[%c4, none, %n])",
      "aten::index.Tensor(self=%img, indices=[none, %c4, %c4])",
      "aten::gather(self=%x, dim=1, index=%i)",
      "aten::index_select(self=%x, dim=1, index=%c4)",
      "aten::index_select(self=%x, dim=1, index=%n)",
      "aten::scatter.src(self=%x, dim=0, index=%i, src=%x)",
      "aten::triu(self=%x)",
      "aten::tril(self=%x, diagonal=1)",
      "aten::sort(self=%x, dim=1)",
      "aten::argsort(self=%x)",
      "aten::topk(self=%x, k=2)",
      "aten::repeat_interleave.self_int(self=%x, repeats=3, dim=1)",
      "aten::repeat_interleave.self_int(self=%x, repeats=3)",
      "aten::select_scatter(self=%x, src=%m, dim=0, index=0)",
  };
}

Calls creations() {
  return {
      "aten::arange(end=5)",
      "aten::arange(end=5.5)",
      "aten::arange.start(start=2, end=7, dtype=6)",
      "aten::arange.start_step(start=7, end=-2, step=-2)",
      "aten::range(start=0, end=5)",
      "aten::range.step(start=1.0, end=2.0, step=0.25)",
      "aten::linspace(start=0.0, end=1.0, steps=7)",
      "aten::eye(n=3)",
      "aten::eye.m(n=3, m=4, dtype=4)",
      "aten::zeros(size=[2, 3])",
      "aten::ones(size=[], dtype=4)",
      "aten::full(size=[2], fill_value=2)",
      "aten::full(size=[2], fill_value=true)",
      "aten::full(size=[2], fill_value=0.5, dtype=5)",
      "aten::new_zeros(self=%i, size=[3])",
      "aten::new_ones(self=%i, size=[3], dtype=6)",
      "aten::new_full(self=%h, size=[3], fill_value=2)",
      "aten::scalar_tensor(s=3)",
      "aten::scalar_tensor(s=3, dtype=4)",
      "aten::Int.Tensor(a=%n)",
      "aten::Float.Tensor(a=%zero)",
      "aten::len.Tensor(t=%x)",
      "aten::item(self=%n)",
      "aten::item(self=%zero)",
      "aten::ge.int(a=2, b=1)",
      "aten::div.int(a=3, b=2)",
      "aten::divmod.int(x=7, y=2)",
      "prim::max.int(a=7, b=2)",
      "aten::sqrt.int(a=4)",
      "aten::neg.int(a=4)",
      "aten::__not__(self=true)",
      "aten::pow.int_float(a=4, b=0.5)",
      "aten::floor.float(a=4.5)",
  };
}

/// Operators outside of the op table, which importers use.
Calls outside_table() {
  return {
      "aten::isposinf(self=%x)",
      "aten::isneginf(self=%i)",
      "aten::bitwise_left_shift.Tensor(self=%i, other=%j)",
      "aten::bitwise_right_shift.Tensor_Scalar(self=%u, other=2)",
      "aten::scatter_reduce.two(self=%x, dim=1, index=%i, src=%x, reduce=\"amax\")",
      "aten::grid_sampler(input=%img, grid=%grid, interpolation_mode=0, padding_mode=0, "
      "align_corners=false)",
      "aten::affine_grid_generator(theta=%theta, size=[2, 4, 5, 6], align_corners=true)",
      "aten::col2im(self=%qt, output_size=[2, 8], kernel_size=[2, 2], dilation=[1, 1], "
      "padding=[0, 0], stride=[1, 1])",
      "aten::linalg_det(A=%square)",
      "aten::copysign.Tensor(self=%x, other=%x)",
      "aten::take(self=%x, index=%i)",
      "aten::constant_pad_nd(self=%x, pad=[1, 2])",
      "aten::nll_loss_nd(self=%k2, target=%c5)",
      "aten::nll_loss_nd(self=%k2, target=%c5, reduction=0)",
      "aten::bucketize.Tensor(self=%x, boundaries=%row, out_int32=true)",
      "aten::searchsorted.Tensor(sorted_sequence=%row, self=%x)",
      "aten::searchsorted.Scalar(sorted_sequence=%row, self=2, out_int32=true)",
      "aten::isin.Tensor_Tensor(elements=%i, test_elements=%j)",
      "aten::isin.Scalar_Tensor(element=2, test_elements=%j)",
      "aten::cdist(x1=%x, x2=%m)",
      "aten::cdist(x1=%q, x2=%z, p=1.0)",
      "aten::cosine_similarity(x1=%x, x2=%x)",
      "aten::cosine_similarity(x1=%x, x2=%m, dim=-1)",
      "aten::pairwise_distance(x1=%x, x2=%m)",
      "aten::pairwise_distance(x1=%x, x2=%m, keepdim=true)",
      "aten::linalg_vecdot(x=%x, y=%m)",
      "aten::linalg_vecdot(x=%x, y=%x, dim=0)",
      "aten::linalg_cross(self=%s2, other=%s2, dim=1)",
      "aten::cross(self=%s2, other=%s2, dim=1)",
      "aten::hypot(self=%x, other=%row)",
      "aten::logaddexp(self=%x, other=%row)",
      "aten::dot(self=%row, tensor=%row)",
      "aten::dist(self=%x, other=%row)",
      "aten::trace(self=%m)",
      "aten::angle(self=%i)",
      "aten::deg2rad(self=%x)",
      "aten::rad2deg(self=%i)",
      "aten::digamma(self=%i)",
      "aten::erfinv(self=%h)",
      "aten::i0(self=%u)",
      "aten::sinc(self=%i)",
      "aten::sgn(self=%i)",
      "aten::nan_to_num(self=%x)",
      "aten::signbit(self=%x)",
      "aten::xlogy.Tensor(self=%i, other=%row)",
      "aten::xlogy.Scalar_Other(self=%i, other=2)",
      "aten::linalg_norm(self=%x, dim=[1])",
      "aten::linalg_norm(self=%m)",
      "aten::nanmean(self=%x, dim=[-1], keepdim=true)",
      "aten::median(self=%x)",
      "aten::median.dim(self=%x, dim=1)",
      "aten::nanmedian.dim(self=%i, dim=0, keepdim=true)",
      "aten::mode(self=%x)",
      "aten::mode(self=%n)",
      "aten::kthvalue(self=%x, k=2)",
      "aten::quantile.scalar(self=%x, q=0.5, dim=1)",
      "aten::quantile.scalar(self=%x, q=0.5)",
      "aten::quantile.scalar(self=%x, q=0.5, dim=-1, keepdim=true)",
      "aten::logcumsumexp(self=%x, dim=1)",
  };
}

Calls rearrangements() {
  return {
      "aten::alias(self=%x)",
      "aten::scatter_add(self=%x, dim=1, index=%i, src=%x)",
      "aten::index_add(self=%square, dim=0, index=%c4, source=%square)",
      "aten::index_fill.int_Scalar(self=%x, dim=2, index=%c4, value=2)",
      "aten::channel_shuffle(self=%img, groups=2)",
      "aten::renorm(self=%x, p=2, dim=1, maxnorm=1)",
      "aten::diagonal(self=%x)",
      "aten::diagonal(self=%x, offset=-1, dim1=-1, dim2=0)",
      "aten::diagonal(self=%m, offset=9)",
      "aten::diag(self=%m, diagonal=1)",
      "aten::diag(self=%row, diagonal=-2)",
      "aten::diag_embed(self=%x)",
      "aten::diag_embed(self=%x, offset=2, dim1=0, dim2=2)",
      "aten::unfold(self=%x, dimension=1, size=2, step=1)",
      "aten::unfold(self=%img, dimension=-1, size=3, step=2)",
      "aten::im2col(self=%img, kernel_size=[3, 2], dilation=[2, 1], padding=[1, 0], stride=[1, 3])",
      "aten::im2col(self=%x, kernel_size=[2, 2], dilation=[1, 1], padding=[0, 1], stride=[1, 1])",
      "aten::meshgrid(tensors=[%row, %e, %zero])",
      "aten::meshgrid.indexing(tensors=[%row, %zero], indexing=\"xy\")",
      "aten::atleast_1d(self=%zero)",
      "aten::atleast_2d(self=%row)",
      "aten::atleast_3d(self=%row)",
      "aten::atleast_3d(self=%m)",
      "aten::hstack(tensors=[%row, %j])",
      "aten::hstack(tensors=[%x, %x])",
      "aten::vstack(tensors=[%row, %m])",
      "aten::dstack(tensors=[%m, %m])",
      "aten::dstack(tensors=[%x, %x])",
      "aten::rot90(self=%x)",
      "aten::rot90(self=%x, k=-3, dims=[2, 0])",
      "aten::rot90(self=%x, k=2, dims=[1, 2])",
      "aten::take_along_dim(self=%x, indices=%i)",
      "aten::tensor_split.sections(self=%x, sections=3, dim=-1)",
      "aten::tensor_split.sections(self=%x, sections=2)",
      "aten::as_strided(self=%x, size=[2, 5], stride=[1, 2])",
      "aten::one_hot(self=%n, num_classes=7)",
  };
}

}  // namespace

const std::vector<std::string>& inference_calls() {
  static const Calls all = [] {
    Calls joined;
    for (const Calls& part :
         {products(), windows(), layers(), element_calls(), reductions(), reshapes(), movements(),
          creations(), outside_table(), rearrangements()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

}  // namespace mase::test
