# SPDX-License-Identifier: Apache-2.0
"""The transformers and encoders of scripts/zoo --emit, small and with random weights, as ENCODERS: those of
torch.nn and of transformers, each traced as its users do, with gradients on."""

from collections.abc import Callable

import torch
from networks import IMAGES, WORDS, AttentionWithWeights, FirstResult, Network, SelfAttention
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel

ENCODERS: dict[str, Network] = {}

# torch.nn -------------------------------------------------------------------------------------------------


class StepsFirst(nn.Module):
    """A layer that takes [steps, batch, features] in a model of batches."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.transpose(0, 1)).transpose(0, 1)


class CrossAttention(nn.Module):
    def __init__(self, **options: object) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True, **options)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        return x + self.attention(x, memory, memory, need_weights=False)[0]


class MaskedAttention(nn.Module):
    """A model of nn.MultiheadAttention, with the options of its call."""

    def __init__(self, width: int, heads: int, **options: object) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.options = options

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, **self.options)[0]


class PaddedEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        return self.layer(x, src_key_padding_mask=padding == 0)


class Decoder(nn.Module):
    def __init__(self, **options: object) -> None:
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(16, 4, 32, batch_first=True, **options)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(7))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        return self.layer(x, memory, tgt_mask=self.mask)


def add_layers() -> None:
    x, memory, odd = torch.randn(2, 7, 16), torch.randn(2, 5, 16), torch.randn(2, 7, 15)
    padding = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]])
    causal = nn.Transformer.generate_square_subsequent_mask(7)
    norm_first = dict(norm_first=True, activation="gelu")

    def add(name: str, make: Callable[[], nn.Module], *inputs: Tensor) -> None:
        ENCODERS[f"nn_{name}"] = Network(make, inputs, ("trace",))

    def layer(width: int = 16, heads: int = 4, batch_first: bool = True, **options: object) -> nn.Module:
        return nn.TransformerEncoderLayer(width, heads, 32, batch_first=batch_first, **options)

    add("attention", lambda: SelfAttention(True), x)
    add("attention_steps_first", lambda: StepsFirst(SelfAttention(False)), x)
    add("attention_with_weights", AttentionWithWeights, x)
    add("attention_odd_heads", lambda: MaskedAttention(15, 3, need_weights=False), odd)
    add("attention_causal", lambda: MaskedAttention(16, 4, attn_mask=causal, need_weights=False), x)
    add("attention_cross", CrossAttention, x, memory)
    add("attention_cross_widths", lambda: CrossAttention(kdim=12, vdim=12), x, torch.randn(2, 5, 12))
    add("encoder_layer", layer, x)
    add("encoder_layer_norm_first", lambda: layer(**norm_first), x)
    add("encoder_layer_odd_heads", lambda: layer(15, 3), odd)
    add("encoder_layer_padded", PaddedEncoder, x, padding)
    add("encoder", lambda: nn.TransformerEncoder(layer(), 2), x)
    add("encoder_steps_first", lambda: StepsFirst(nn.TransformerEncoder(layer(batch_first=False), 2)), x)
    add("decoder_layer", Decoder, x, memory)
    add("decoder_layer_norm_first", lambda: Decoder(**norm_first), x, memory)
    add("transformer", lambda: nn.Transformer(16, 4, 1, 1, 32, batch_first=True), memory, x)


# transformers ---------------------------------------------------------------------------------------------


def add_transformers() -> None:
    words = torch.randint(2, 90, (2, 9))
    masked = (words, torch.tensor([[1] * 9, [1] * 6 + [0] * 3]))
    images, sound = (torch.randn(2, 3, 32, 32),), (torch.randn(2, 400),)

    def add(name: str, inputs: tuple[Tensor, ...], part: str = "", **sizes: object) -> None:
        """The model of a configuration's name; `part` of it."""

        def make() -> nn.Module:
            model = AutoModel.from_config(AutoConfig.for_model(name, **sizes))
            return FirstResult(model.get_submodule(part))

        ENCODERS[f"hf_{name}"] = Network(make, inputs, ("trace",))

    for name in ("bert", "electra", "albert", "roberta", "xlm-roberta", "camembert", "mpnet", "ernie", "nystromformer"):
        add(name, masked, **WORDS, max_position_embeddings=64)
    add("distilbert", masked, vocab_size=90, dim=16, n_layers=2, n_heads=4, hidden_dim=32)
    add("layoutlm", (words,), **WORDS)
    add("mobilebert", masked, **WORDS, embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16)
    add("roformer", masked, **WORDS, embedding_size=16)
    add("modernbert", masked, **WORDS, pad_token_id=0, bos_token_id=1, eos_token_id=1, cls_token_id=1, sep_token_id=1)
    add("gpt2", (words,), vocab_size=90, n_embd=16, n_layer=2, n_head=4, use_cache=False)
    add("gpt_neox", (words,), **WORDS, use_cache=False)
    for name in ("llama", "mistral", "qwen2", "gemma", "phi"):
        add(name, (words,), **WORDS, num_key_value_heads=2, head_dim=4, use_cache=False, pad_token_id=0)
    opt = dict(vocab_size=90, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, ffn_dim=32)
    add("opt", (words,), **opt, word_embed_proj_dim=16, use_cache=False)
    add("t5", (words,), "encoder", vocab_size=90, num_layers=2, num_heads=4, d_model=16, d_kv=4, d_ff=32)
    bart = dict(d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4)
    add("bart", masked, "encoder", vocab_size=90, encoder_ffn_dim=32, decoder_ffn_dim=32, **bart)
    add(
        "whisper",
        (torch.randn(2, 8, 40),),
        "encoder",
        encoder_ffn_dim=32,
        num_mel_bins=8,
        max_source_positions=20,
        **bart,
    )
    for name in ("vit", "deit", "beit", "dinov2", "data2vec-vision"):
        add(name, images, **IMAGES, **({"use_relative_position_bias": True} if name == "beit" else {}))
    add("yolos", images, **dict(IMAGES, image_size=[32, 32]), num_detection_tokens=3)
    for name in ("clip_vision_model", "siglip_vision_model"):
        add(name, images, **IMAGES)
    add("clip_text_model", (words,), **WORDS, eos_token_id=89)
    add("swin", images, image_size=32, patch_size=4, embed_dim=8, depths=[1, 2], num_heads=[2, 2], window_size=4)
    waves = dict(conv_dim=[8, 8], conv_stride=[5, 4], conv_kernel=[10, 8], num_feat_extract_layers=2)
    waves |= dict(num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2)
    for name in ("wav2vec2", "hubert"):
        sizes = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32)
        add(name, sound, **sizes, **waves)


torch.manual_seed(0)
add_layers()
add_transformers()
