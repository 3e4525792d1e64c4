# SPDX-License-Identifier: Apache-2.0
"""The networks of scripts/zoo: what torchvision, transformers and torch.nn have, small and with random
weights. NETWORKS maps a name to how it is made, its inputs, and how it becomes TorchScript."""

from dataclasses import dataclass
from typing import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# The operators of torchvision's own library, which its PyPI wheel loads with CUDA only: their types are
# enough to import the package; no network here calls them.
vision_operators = torch.library.Library("torchvision", "DEF")
for signature in (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor",
):
    vision_operators.define(signature)

import torchvision  # noqa: E402
import transformers  # noqa: E402
from transformers.models.whisper.modeling_whisper import WhisperEncoder  # noqa: E402


@dataclass
class Network:
    make: Callable[[], nn.Module]
    inputs: tuple[Tensor, ...]
    kinds: tuple[str, ...] = ("script", "trace")


NETWORKS: dict[str, Network] = {}


def images(size: int, channels: int = 3) -> tuple[Tensor, ...]:
    return (torch.randn(1, channels, size, size),)


# torchvision ----------------------------------------------------------------------------------------------

CLASSIFIERS = """alexnet vgg11_bn resnet18 squeezenet1_1 densenet121 googlenet inception_v3 shufflenet_v2_x0_5
mobilenet_v2 mobilenet_v3_small mnasnet0_5 efficientnet_b0 efficientnet_v2_s regnet_y_400mf resnext50_32x4d
convnext_tiny swin_t swin_v2_t""".split()


def add_vision() -> None:
    models = torchvision.models
    for name in CLASSIFIERS:
        options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        size = 96 if name == "inception_v3" else 64
        NETWORKS[name] = Network(lambda name=name, options=options: getattr(models, name)(**options), images(size))
    for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
        make = getattr(models.segmentation, name)
        NETWORKS[name] = Network(lambda make=make: make(weights_backbone=None), images(64))
    NETWORKS["vit_small"] = Network(lambda: models.VisionTransformer(64, 16, 2, 4, 64, 128, num_classes=10), images(64))
    NETWORKS["maxvit"] = Network(
        lambda: models.MaxVit((64, 64), 16, 1, [16, 32], [1, 1], 8, 0.1, num_classes=10), images(64)
    )
    NETWORKS["r3d_18"] = Network(models.video.r3d_18, (torch.randn(1, 3, 4, 32, 32),))


# torch.nn -------------------------------------------------------------------------------------------------


class SelfAttention(nn.Module):
    def __init__(self, batch_first: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=batch_first)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


class AttentionWithWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, weights = self.attention(x, x, x)
        return values, weights


class LastStep(nn.Module):
    """A recurrent layer whose last step is classified."""

    def __init__(self, layer: type[nn.Module], levels: int = 1, directions: int = 1) -> None:
        super().__init__()
        self.layer = layer(16, 8, levels, batch_first=True, bidirectional=directions == 2)
        self.classes = nn.Linear(8 * directions, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.classes(self.layer(x)[0][:, -1])


class PackedSequences(nn.Module):
    """A recurrent layer over sequences of different lengths, whose first step is classified."""

    def __init__(self, layer: type[nn.Module], is_sorted: bool) -> None:
        super().__init__()
        self.layer = layer(16, 8, 2, batch_first=True, bidirectional=True)
        self.classes = nn.Linear(16, 5)
        self.is_sorted = is_sorted

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=self.is_sorted)
        steps, _ = pad_packed_sequence(self.layer(packed)[0], batch_first=True)
        return self.classes(steps[:, 0]), steps


class GruSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(x.size(0), 8)
        for step in range(x.size(1)):
            state = self.cell(x[:, step], state)
        return state


class LstmSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        state, memory = torch.zeros(x.size(0), 8), torch.zeros(x.size(0), 8)
        for step in range(x.size(1)):
            state, memory = self.cell(x[:, step], (state, memory))
        return state


class NumbersOfSizes(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x / (x.size(-1) ** 0.5) + sum(range(2, x.size(1)))


def add_layers() -> None:
    x = torch.randn(2, 7, 16)
    layers: dict[str, Callable[[], nn.Module]] = {
        "attention": lambda: SelfAttention(True),
        "attention_steps_first": lambda: SelfAttention(False),
        "attention_with_weights": AttentionWithWeights,
        "encoder_layer": lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True),
        "encoder_layer_norm_first": lambda: nn.TransformerEncoderLayer(
            16, 4, 32, batch_first=True, norm_first=True, activation="gelu"
        ),
        "encoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2),
        "encoder_steps_first": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2),
        "gru_cell": GruSteps,
        "lstm_cell": LstmSteps,
        "numbers_of_sizes": NumbersOfSizes,
    }
    for name, layer in (("lstm", nn.LSTM), ("gru", nn.GRU), ("rnn", nn.RNN)):
        layers[name] = lambda layer=layer: LastStep(layer)
        layers[f"{name}_bidirectional"] = lambda layer=layer: LastStep(layer, 2, 2)
        for is_sorted, lengths in ((True, [7, 3]), (False, [3, 7])):
            NETWORKS[f"{name}_packed_{'sorted' if is_sorted else 'unsorted'}"] = Network(
                lambda layer=layer, is_sorted=is_sorted: PackedSequences(layer, is_sorted), (x, torch.tensor(lengths))
            )
    for name, make in layers.items():
        NETWORKS[name] = Network(make, (x,))
    NETWORKS["decoder"] = Network(
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 4, 32, batch_first=True), 1), (x, x)
    )
    NETWORKS["transformer"] = Network(lambda: nn.Transformer(16, 4, 1, 1, 32, batch_first=True), (x, x))


# transformers ---------------------------------------------------------------------------------------------


class FirstResult(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.model(*inputs, return_dict=False)[0]


SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32)
WORDS = dict(SIZES, vocab_size=90)
PLAIN_SIZES = dict(vocab_size=90, num_layers=2, num_heads=4)
GROUPED = dict(WORDS, num_key_value_heads=2, use_cache=False)
IMAGES = dict(SIZES, image_size=32, patch_size=8)


def add_transformers() -> None:
    t = transformers
    words = torch.randint(0, 90, (2, 9))
    masked = (words, torch.ones_like(words))
    spectrum = (torch.randn(1, 8, 40),)

    def add(name: str, make: Callable[[], nn.Module], inputs: tuple[Tensor, ...]) -> None:
        NETWORKS[f"hf_{name}"] = Network(lambda: FirstResult(make()), inputs, ("trace",))

    for kind in ("eager", "sdpa"):

        def both(name: str, model: type, config: type, inputs: tuple[Tensor, ...], kind: str = kind, **sizes) -> None:
            add(f"{name}_{kind}", lambda: model(config(**sizes, attn_implementation=kind)), inputs)

        both("bert", t.BertModel, t.BertConfig, masked, **WORDS)
        both("roberta", t.RobertaModel, t.RobertaConfig, masked, **WORDS)
        distil = dict(vocab_size=90, dim=16, n_layers=2, n_heads=4, hidden_dim=32)
        both("distilbert", t.DistilBertModel, t.DistilBertConfig, masked, **distil)
        gpt = dict(vocab_size=90, n_embd=16, n_layer=2, n_head=4, use_cache=False)
        both("gpt2", t.GPT2Model, t.GPT2Config, (words,), **gpt)
        both("llama", t.LlamaModel, t.LlamaConfig, (words,), **GROUPED)
        both("mistral", t.MistralModel, t.MistralConfig, (words,), **GROUPED)
        both("qwen2", t.Qwen2Model, t.Qwen2Config, (words,), **GROUPED)
        opt = dict(vocab_size=90, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, ffn_dim=32)
        both("opt", t.OPTModel, t.OPTConfig, (words,), **opt, word_embed_proj_dim=16, use_cache=False)
        both("vit", t.ViTModel, t.ViTConfig, images(32), **IMAGES)
        whisper = dict(d_model=16, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=32, num_mel_bins=8)
        both("whisper_encoder", WhisperEncoder, t.WhisperConfig, spectrum, **whisper, max_source_positions=20)
    add("t5_encoder", lambda: t.T5EncoderModel(t.T5Config(**PLAIN_SIZES, d_model=16, d_kv=4, d_ff=32)), (words,))
    add("albert", lambda: t.AlbertModel(t.AlbertConfig(**WORDS, embedding_size=8)), masked)
    add("electra", lambda: t.ElectraModel(t.ElectraConfig(**WORDS, embedding_size=8)), masked)
    swin = dict(image_size=32, patch_size=4, embed_dim=8, depths=[1, 1], num_heads=[2, 2], window_size=4)
    add("swin", lambda: t.SwinModel(t.SwinConfig(**swin)), images(32))
    next_sizes = dict(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2)
    add("convnext", lambda: t.ConvNextModel(t.ConvNextConfig(**next_sizes)), images(32))
    add("gpt_neox", lambda: t.GPTNeoXModel(t.GPTNeoXConfig(**WORDS, use_cache=False)), (words,))
    add("deit", lambda: t.DeiTModel(t.DeiTConfig(**IMAGES)), images(32))


torch.manual_seed(0)
add_vision()
add_layers()
add_transformers()
