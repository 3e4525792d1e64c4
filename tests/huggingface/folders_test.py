#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders that transformers writes on the spot, with random weights: mase computes what transformers computes, and its
nodes and tensors are those of the same model's trace.

usage: folders_test.py --mase BINARY --source ROOT --python PYTHON [CASE ...]

The interpreter is $MASE_PYTHON, the one that the build was configured with, or the .venv of the source folder: the first
that has torch and transformers, which .venv/zoo may have. Without one the test is skipped (exit status 77).
"""

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

SKIPPED = 77
# Sums are taken in another order where a machine has other vector units.
ROUNDING = 1e-5


def needed(python, environment):
    check = "import sys; sys.modules['torchvision'] = None; import torch, transformers; transformers.BertModel"
    return subprocess.run([python, "-c", check], env=environment, capture_output=True, check=False).returncode == 0


def run_inside(arguments):
    """Runs this script again with a Python that has transformers."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(arguments.source / ".venv/zoo")]))
    environment = dict(os.environ, PYTHONPATH=path, MASE_HAS_TRANSFORMERS="1", OMP_NUM_THREADS="1")
    for python in (os.environ.get("MASE_PYTHON", ""), arguments.python, str(arguments.source / ".venv/bin/python")):
        if python and shutil.which(python) and needed(python, environment):
            return subprocess.run([python, "-B", *sys.argv], env=environment, check=False).returncode
    print("skipped: no Python with torch and transformers; name one in MASE_PYTHON")
    return SKIPPED


BERT = {
    "vocab_size": 100,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
}
DISTILBERT = {
    "vocab_size": 100,
    "dim": 16,
    "n_layers": 2,
    "n_heads": 2,
    "hidden_dim": 32,
    "max_position_embeddings": 40,
}
VISION = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "image_size": 16,
    "patch_size": 4,
}
GPT2 = {
    "vocab_size": 100,
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 2,
    "n_positions": 40,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LLAMA = {**BERT, "num_attention_heads": 4, "num_key_value_heads": 2}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 100.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 100.0,
    "factor": 4.0,
    "original_max_position_embeddings": 100,
    "beta_fast": 8.0,
}
OPT = {
    "vocab_size": 100,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "ffn_dim": 32,
    "max_position_embeddings": 40,
    "word_embed_proj_dim": 16,
}
RESNET = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 2]}
# name: class of the model, class of its settings, settings
CASES = {
    "bert": ("BertModel", "BertConfig", BERT),
    "bert-classes": ("BertForSequenceClassification", "BertConfig", {**BERT, "num_labels": 3, "hidden_act": "relu"}),
    "bert-pairs": ("BertForSequenceClassification", "BertConfig", BERT),
    "bert-gelu-new": ("BertForSequenceClassification", "BertConfig", {**BERT, "hidden_act": "gelu_new"}),
    "roberta": ("RobertaModel", "RobertaConfig", BERT),
    "roberta-classes": ("RobertaForSequenceClassification", "RobertaConfig", {**BERT, "layer_norm_eps": 1e-3}),
    "xlm-roberta": ("XLMRobertaModel", "XLMRobertaConfig", BERT),
    "xlm-roberta-classes": ("XLMRobertaForSequenceClassification", "XLMRobertaConfig", {**BERT, "num_labels": 3}),
    "xlm-roberta-words": ("XLMRobertaForMaskedLM", "XLMRobertaConfig", BERT),
    "xlm-roberta-tokens": ("XLMRobertaForTokenClassification", "XLMRobertaConfig", BERT),
    "camembert-classes": ("CamembertForSequenceClassification", "CamembertConfig", {**BERT, "pad_token_id": 2}),
    "camembert-answers": ("CamembertForQuestionAnswering", "CamembertConfig", BERT),
    "camembert-words": ("CamembertForMaskedLM", "CamembertConfig", BERT),
    "bert-words": ("BertForMaskedLM", "BertConfig", {**BERT, "hidden_act": "relu"}),
    "bert-untied": ("BertForMaskedLM", "BertConfig", {**BERT, "tie_word_embeddings": False}),
    "distilbert-untied": ("DistilBertForMaskedLM", "DistilBertConfig", {**DISTILBERT, "tie_word_embeddings": False}),
    "bert-tokens": ("BertForTokenClassification", "BertConfig", {**BERT, "classifier_dropout": 0.5}),
    "bert-answers": ("BertForQuestionAnswering", "BertConfig", BERT),
    "roberta-words": ("RobertaForMaskedLM", "RobertaConfig", {**BERT, "layer_norm_eps": 1e-3}),
    "roberta-tokens": ("RobertaForTokenClassification", "RobertaConfig", BERT),
    "roberta-answers": ("RobertaForQuestionAnswering", "RobertaConfig", BERT),
    "distilbert-words": ("DistilBertForMaskedLM", "DistilBertConfig", {**DISTILBERT, "activation": "relu"}),
    "distilbert-answers": ("DistilBertForQuestionAnswering", "DistilBertConfig", DISTILBERT),
    "distilbert": ("DistilBertModel", "DistilBertConfig", DISTILBERT),
    "distilbert-classes": ("DistilBertForSequenceClassification", "DistilBertConfig", DISTILBERT),
    "vit": ("ViTForImageClassification", "ViTConfig", VISION),
    "vit-quick-gelu": (
        "ViTForImageClassification",
        "ViTConfig",
        {**VISION, "hidden_act": "quick_gelu", "qkv_bias": False, "num_channels": 1},
    ),
    "bert-poolerless": ("BertModel", "BertConfig", BERT),
    "vit-poolerless": ("ViTModel", "ViTConfig", VISION),
    "vit-base": ("ViTModel", "ViTConfig", {**VISION, "pooler_output_size": 12, "pooler_act": "relu"}),
    "deit-base": ("DeiTModel", "DeiTConfig", VISION),
    "deit": ("DeiTForImageClassification", "DeiTConfig", {**VISION, "hidden_act": "gelu_pytorch_tanh"}),
    "deit-teacher": ("DeiTForImageClassificationWithTeacher", "DeiTConfig", {**VISION, "num_labels": 3}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "gpt2-base": ("GPT2Model", "GPT2Config", {**GPT2, "n_inner": 24, "scale_attn_by_inverse_layer_idx": True}),
    "gpt2-classes": ("GPT2ForSequenceClassification", "GPT2Config", {**GPT2, "pad_token_id": 0, "num_labels": 3}),
    "llama": ("LlamaForCausalLM", "LlamaConfig", LLAMA),
    "llama-yarn": ("LlamaModel", "LlamaConfig", {**LLAMA, "rope_parameters": YARN, "head_dim": 16}),
    "llama-classes": ("LlamaForSequenceClassification", "LlamaConfig", {**LLAMA, "pad_token_id": 0}),
    "mistral-classes": (
        "MistralForSequenceClassification",
        "MistralConfig",
        {
            **LLAMA,
            "pad_token_id": 7,
            "head_dim": 16,
            "rope_parameters": {**YARN, "truncate": False, "mscale": 0.7, "mscale_all_dim": 1.2},
        },
    ),
    "qwen2-classes": ("Qwen2ForSequenceClassification", "Qwen2Config", {**LLAMA, "pad_token_id": 0, "num_labels": 4}),
    "opt-classes": ("OPTForSequenceClassification", "OPTConfig", {**OPT, "word_embed_proj_dim": 8}),
    "llama-base": ("LlamaModel", "LlamaConfig", {**LLAMA, "rope_parameters": LLAMA3, "num_key_value_heads": 4}),
    "llama-biases": (
        "LlamaForCausalLM",
        "LlamaConfig",
        {**LLAMA, "attention_bias": True, "mlp_bias": True, "head_dim": 6, "tie_word_embeddings": True},
    ),
    "bert-older": ("BertModel", "BertConfig", BERT),
    "gpt2-older": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "llama-older": (
        "LlamaForCausalLM",
        "LlamaConfig",
        {**LLAMA, "rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 3.0}},
    ),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**LLAMA, "sliding_window": 3}),
    "mistral-base": ("MistralModel", "MistralConfig", {**LLAMA, "sliding_window": None}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", LLAMA),
    "qwen2-base": (
        "Qwen2Model",
        "Qwen2Config",
        {**LLAMA, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
    ),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**LLAMA, "head_dim": 8, "tie_word_embeddings": True}),
    "qwen3-classes": (
        "Qwen3ForSequenceClassification",
        "Qwen3Config",
        {**LLAMA, "pad_token_id": 0, "head_dim": 6, "attention_bias": True},
    ),
    "opt": ("OPTForCausalLM", "OPTConfig", OPT),
    "opt-norms-after": (
        "OPTModel",
        "OPTConfig",
        {**OPT, "do_layer_norm_before": False, "word_embed_proj_dim": 8, "enable_bias": False},
    ),
    "resnet": ("ResNetForImageClassification", "ResNetConfig", {**RESNET, "layer_type": "basic"}),
    "resnet-base": ("ResNetModel", "ResNetConfig", {**RESNET, "downsample_in_bottleneck": True}),
}


def older_bert(tensors, config):
    """As files that were converted from TensorFlow: the names of a model with a head, and norms' own words."""
    norms = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    for key in list(tensors):
        end = next((end for end in norms if key.endswith(end)), None)
        name = key if end is None else key.removesuffix(end) + norms[end]
        tensors[f"bert.{name}"] = tensors.pop(key)
    tensors["bert.embeddings.position_ids"] = tensors["bert.pooler.dense.bias"].long()
    config["position_embedding_type"] = "absolute"


def older_gpt2(tensors, config):
    """As the files of GPT-2 themselves: the names of the model without a head, and a mask for each layer."""
    for key in list(tensors):
        tensors[key.removeprefix("transformer.")] = tensors.pop(key)
    tensors["h.0.attn.bias"] = tensors["ln_f.bias"].reshape(1, 1, 4, 4)
    config["n_ctx"] = config["n_positions"]


def older_llama(tensors, config):
    """As version 4 of transformers wrote it."""
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = tensors["model.norm.weight"][:2].clone()
    rotary = config.pop("rope_parameters")
    config["rope_theta"] = rotary["rope_theta"]
    config["rope_scaling"] = {"type": rotary["rope_type"], "factor": rotary["factor"]}
    config["pretraining_tp"], config["torch_dtype"] = 1, config.pop("dtype")


OLDER = {"bert-older": older_bert, "gpt2-older": older_gpt2, "llama-older": older_llama}
# Cases whose inputs tell which tokens are of a second text.
PAIRS = ("bert-pairs",)
# How some of them are stored: in several files, and as other numbers.
SHARDED, NARROW = ("llama", "gpt2"), {"qwen2": "bfloat16", "bert-gelu-new": "float16"}
# As version 4 of transformers wrote files by default: in so many pickled ones.
PICKLED = {"distilbert": 1, "mistral": 2}
# Cases whose last layer has the weight of an embedding, but other numbers once linear layers are quantized.
TIED = ("bert-words", "gpt2", "llama-biases", "opt")
WEIGHTS8 = """[passes.quantize]
by = "type"
report = false
[passes.quantize.linear.config]
name = "integer"
weight_width = 8
weight_frac_width = 5
bias_width = 8
bias_frac_width = 5
"""
# A tensor of the state_dict that the model does not read.
UNREAD = {"bert-untied": "cls.predictions.bias"}
# Models whose trace holds the tied weight under the name of the last layer, which is registered first.
HEAD_FIRST = ("xlm-roberta-words", "camembert-words")
POOLERLESS = ("bert-poolerless", "vit-poolerless")


class Case:
    def __init__(self, name, mase, folder):
        import torch
        import transformers

        self.name, self.mase, self.folder = name, mase, folder
        model_class, config_class, settings = CASES[name]
        torch.manual_seed(0)
        config = getattr(transformers, config_class)(**settings, attn_implementation="eager", use_cache=False)
        options = {"add_pooling_layer": False} if name in POOLERLESS else {}
        self.model = getattr(transformers, model_class)(config, **options).eval()
        with torch.no_grad():
            for parameter in self.model.parameters():  # larger than the usual ones, so that faults show
                parameter.mul_(3).add_(torch.randn_like(parameter) * 0.05)
            if self.model.config.model_type == "resnet":  # norms with statistics of their own
                self.model.train()(**self.inputs(4, 0))
                self.model.eval()
        self.model.to(getattr(torch, NARROW.get(name, "float32")))
        self.model.save_pretrained(folder, max_shard_size="20KB" if name in SHARDED else "1GB")
        if name in NARROW:  # buffers, which no file has, have become narrow, too
            kind = getattr(transformers, model_class)
            self.model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        if name in OLDER:
            self.rewrite(OLDER[name])
        if name in PICKLED:
            self.pickle(PICKLED[name])

    def pickle(self, count):
        import torch

        (self.folder / "model.safetensors").unlink()
        tensors = self.model.state_dict()
        files = {f"pytorch_model-{i + 1:05}-of-{count:05}.bin": list(tensors)[i::count] for i in range(count)}
        if count == 1:
            files = {"pytorch_model.bin": list(tensors)}
        for file, keys in files.items():
            torch.save({key: tensors[key].clone() for key in keys}, self.folder / file)
        if count > 1:
            index = {"weight_map": {key: file for file, keys in files.items() for key in keys}}
            (self.folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))

    def rewrite(self, change):
        from safetensors.torch import load_file, save_file

        weights, settings = self.folder / "model.safetensors", self.folder / "config.json"
        tensors, config = load_file(weights), json.loads(settings.read_text())
        change(tensors, config)
        save_file({key: tensor.clone() for key, tensor in tensors.items()}, weights)
        settings.write_text(json.dumps(config))

    def inputs(self, rows, tokens):
        """Some tokens of the second row are padding, and so are some of the padding's own number."""
        import torch

        if self.model.main_input_name == "pixel_values":
            config = self.model.config
            side = getattr(config, "image_size", 32)
            return {"pixel_values": torch.randn(rows, config.num_channels, side, side)}
        ids = torch.randint(3, self.model.config.vocab_size, (rows, tokens))
        mask = torch.ones_like(ids)
        mask[1, tokens - 2 :] = 0
        if self.model.config.pad_token_id is not None:
            ids[1, tokens - 2 :] = self.model.config.pad_token_id
        inputs = {"input_ids": ids, "attention_mask": mask}
        if self.name in PAIRS:
            inputs["token_type_ids"] = (torch.arange(tokens) >= tokens // 2).long().expand(rows, tokens).contiguous()
        return inputs

    def written(self, inputs):
        import numpy

        words = []
        for key, value in inputs.items():
            numpy.save(self.folder / f"{key}.npy", value.numpy())
            words += ["--input", f"{key}={self.folder / key}.npy"]
        return words

    def run(self, *words):
        result = subprocess.run([self.mase, *map(str, words)], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{self.name}: mase {' '.join(map(str, words))}\n{result.stderr}")
        if "config.json" in result.stderr:  # a setting that nothing uses
            raise RuntimeError(f"{self.name}: {result.stderr}")
        return result.stdout

    def difference(self):
        """The largest one of all results, over the largest result where that is above 1."""
        import numpy
        import torch

        inputs = self.inputs(3, 9)
        with torch.no_grad():
            results = [value for value in self.model(**inputs).to_tuple() if isinstance(value, torch.Tensor)]
        output = self.folder / "y.npy"
        self.run("run", self.folder, *self.written(inputs), "--output", output)
        files = [output] if len(results) == 1 else [self.folder / f"y_{i}.npy" for i in range(len(results))]
        return max(
            float(numpy.abs(numpy.load(file) - result.numpy()).max() / max(1, result.abs().max()))
            for file, result in zip(files, results, strict=True)
        )

    def maskless_difference(self):
        """That of a graph without attention_mask, which sees all tokens."""
        import numpy
        import torch

        inputs = self.inputs(3, 9)
        if inputs.pop("attention_mask", None) is None:
            return 0
        with torch.no_grad():
            result = self.model(**inputs).to_tuple()[0].numpy()
        output = self.folder / "all.npy"
        several = len(self.model(**inputs).to_tuple()) > 1
        self.run("run", self.folder, *self.written(inputs), "--fix", "attention_mask=none", "--output", output)
        found = numpy.load(self.folder / "all_0.npy" if several else output)
        return float(numpy.abs(found - result).max() / max(1, numpy.abs(result).max()))

    def quantized_difference(self):
        """That of transformers and mase on the folder with quantized weights that mase writes."""
        import numpy
        import torch

        inputs = self.inputs(3, 9)
        config, out, output = (self.folder / name for name in ("weights8.toml", "out", "quantized.npy"))
        config.write_text(WEIGHTS8)
        project = ("--project-dir", self.folder / "projects", "--project", "p")
        self.run("transform", self.folder, "--config", config, *project, "-q", "--export", f"{out}/")
        self.run("run", out, *self.written(inputs), "--output", output)
        model = type(self.model).from_pretrained(out, attn_implementation="eager").eval()
        with torch.no_grad():
            result, before = (each(**inputs).to_tuple()[0].numpy() for each in (model, self.model))
        if numpy.array_equal(result, before):
            raise RuntimeError(f"{self.name}: the weights in {out} are not quantized")
        return float(numpy.abs(numpy.load(output) - result).max() / max(1, numpy.abs(result).max()))

    def weight_faults(self):
        """Keys whose weights `mase convert` writes otherwise, or a file whose bytes are not those of the package."""
        import torch
        from safetensors.torch import load_file, save_file

        written, again = self.folder / "weights.safetensors", self.folder / "again.safetensors"
        self.run("convert", self.folder, written)
        found = load_file(written)
        save_file(found, again, metadata={"format": "pt"})
        state = {key: tensor for key, tensor in self.model.state_dict().items() if key != UNREAD.get(self.name)}
        keys = [k for k, v in state.items() if k not in found or not torch.equal(found[k], v)]
        return keys + ([] if written.read_bytes() == again.read_bytes() else ["bytes of the file"])

    def trace(self, inputs):
        import torch

        kind = type(self.model)
        names = list(inputs)

        def texts(self, input_ids, attention_mask):
            return kind.forward(self, input_ids=input_ids, attention_mask=attention_mask).to_tuple()

        def pairs(self, input_ids, attention_mask, token_type_ids):
            return kind.forward(
                self, input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).to_tuple()

        def images(self, pixel_values):
            return kind.forward(self, pixel_values=pixel_values).to_tuple()

        forward = images if names == ["pixel_values"] else pairs if self.name in PAIRS else texts
        self.model.__class__ = type(kind.__name__, (kind,), {"forward": forward})
        path = self.folder / "trace.pt"
        with torch.no_grad():
            torch.jit.trace(self.model, tuple(inputs.values()), check_trace=False).save(path)
        self.model.__class__ = kind
        return path

    def graph_differences(self):
        inputs = self.inputs(2, 7)
        words = self.written(inputs)
        lines = self.run("show", self.trace(inputs), *words).splitlines()
        traced = "\n".join(line for line in lines if f"  tensor {UNREAD.get(self.name)} " not in line)
        if self.name in HEAD_FIRST:
            names = {"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight"}
            names |= {other: name for name, other in names.items()}
            traced = re.sub("|".join(map(re.escape, names)), lambda found: names[found.group()], traced)
        built = self.run("show", self.folder, *words)
        return [
            line
            for part in (nodes, tensors, modules)
            for line in difflib.unified_diff(part(traced), part(built), "trace", "folder", "", "", 0, "")
        ]


def without_training(text):
    """A trace has the values of eval mode; a folder can be trained."""
    text = re.sub(r"(train|training)=(false|\$training)", r"\1", text)
    return re.sub(r"(aten::dropout\(input=%\w+, )p=[\d.e-]+", r"\1p", text)


def nodes(text):
    """Computing nodes in order. A trace reads tensors in another order, and has a tuple of one result."""
    lines = [without_training(line) for line in text.splitlines() if line.startswith("  %")]
    return [line for line in lines if " get_attr " not in line and " = output " not in line]


def tensors(text):
    return sorted(line for line in text.splitlines() if line.startswith("  tensor "))


def modules(text):
    lines = [line for line in text.splitlines() if line.startswith(("  module ", "  container "))]
    return sorted(without_training(line) for line in lines if not line.startswith('  container "" '))


def check(name, mase):
    with tempfile.TemporaryDirectory() as folder:
        case = Case(name, mase, Path(folder))
        difference = max(case.difference(), case.maskless_difference())
        if name in TIED:
            difference = max(difference, case.quantized_difference())
        lines = case.graph_differences() + case.weight_faults()
    good = difference <= ROUNDING and not lines
    print(f"{name}: largest difference {difference:.2e}, {'the graph of the trace' if not lines else 'another graph'}")
    print("".join(f"  {line}\n" for line in lines[:20]), end="", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True, type=Path)
    parser.add_argument("--python", default="", help="an interpreter with torch and transformers")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    if not os.environ.get("MASE_HAS_TRANSFORMERS"):
        return run_inside(arguments)
    sys.modules["torchvision"] = None  # these models need none, and it must fit torch
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    warnings.simplefilter("ignore")  # of traces, about values that become constants
    results = [check(name, arguments.mase) for name in arguments.cases or CASES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
