#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokenizers: `mase tokenize` gives the ids, tokens, types, masks and texts of the package `tokenizers`. The tokenizers
are trained here, on the text of the repository; the lines that are compared mix it with characters of all of Unicode.

usage: tokenizer_test.py --mase BINARY --source ROOT [--count N] [CASE ...]; exits with 77 where `tokenizers` is missing
  --count N    compare so many lines for each tokenizer, and print how many are equal and the ratio of processor
               time to `tokenizers` on one thread
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
MASE = SOURCE = None
COUNT = 500  # for each tokenizer, and each has lines of its own
TIMES = False

# Assigned since Unicode 1.1 to 6.0, so that every library knows them.
ALPHABETS = (
    (0x20, 0x7E), (0x20, 0x7E), (0x61, 0x7A), (0xA0, 0x17F), (0x180, 0x24F), (0x300, 0x36F), (0x370, 0x3FF),
    (0x400, 0x4FF), (0x5D0, 0x5EA), (0x620, 0x652), (0x904, 0x939), (0xE01, 0xE3A), (0x1100, 0x11F9),
    (0x1E00, 0x1EFF), (0x2000, 0x206F), (0x2070, 0x209C), (0x20A0, 0x20B5), (0x2100, 0x214D), (0x2160, 0x2188),
    (0x2190, 0x21FF), (0x2460, 0x24FF), (0x2581, 0x2581), (0x3000, 0x303F), (0x3041, 0x3096), (0x30A1, 0x30FA),
    (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFA2D), (0xFB00, 0xFB06), (0xFE00, 0xFE0F),
    (0xFF01, 0xFF9F), (0xFFFD, 0xFFFD), (0x1D400, 0x1D454), (0x1F300, 0x1F5FF), (0x1F600, 0x1F64F),
    (0x20000, 0x2A6D6), (0x1, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x200B, 0x200F), (0xFEFF, 0xFEFF),
)  # fmt: skip
SNIPPETS = (
    "don't", "WE'LL", "I'm", "you've", "they're", "it's", "'s", "  ", "   ", "\t", "...", "--", "1234567", "3.14", "½",
    "e\u0301", "A\u030a\u0323", "\u0130stanbul", "stra\u00dfe", "\u039f\u03a3", "na\u00efve", "\u212b", "\ufb01n",
    "\u200d", "\U0001f469\u200d\U0001f4bb", "\U0001f1e9\U0001f1ea", "\u0e01\u0e33", "[CLS]", "[MASK]", "<s>", "</s>",
    " [MASK] ", "<extra>", "x<extra>y", "\ud55c\uad6d", "\u6771\u4eac", "\u2581", "\u2581\u2581a", "http://a.b/c?d=e&f",
    "\u00a0", "\u3000", "\u2028", "\x85", "\ufeff", "user@example.com", "C++", "a_b", "\u0301", "\ue000", "\U000e0020",
)  # fmt: skip


def words_of_text():
    return (SOURCE / "configs/data/text/pride_and_prejudice_1.txt").read_text(encoding="utf-8").split()


def random_part(random_numbers, words):
    kind = random_numbers.random()
    if kind < 0.6:
        word = random_numbers.choice(words)
        return random_numbers.choice((word, word, word, word.upper(), word.title()))
    if kind < 0.75:
        return random_numbers.choice(SNIPPETS)
    if kind < 0.752:
        return random_numbers.choice(words) * random_numbers.randint(20, 60)
    low, high = random_numbers.choice(ALPHABETS)
    return "".join(chr(random_numbers.randint(low, high)) for _ in range(random_numbers.randint(1, 6)))


def mixed_lines(count, seed):
    """Texts of one line each, without the line ends that would split a file."""
    random_numbers = random.Random(seed)
    words = words_of_text()
    lines = ["", " ", "a", "\u0301a", "  a  ", "'", "\U0001f600"]
    while len(lines) < count:
        parts = [random_part(random_numbers, words) for _ in range(random_numbers.randint(1, 20))]
        line = "".join(part + random_numbers.choice((" ", " ", " ", "")) for part in parts)
        lines.append(line.replace("\n", " ").replace("\0", ""))
    return lines[:count]


def trained(model, trainer, normalizer=None, pre_tokenizer=None, decoder=None, text=None):
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder
    lines = text or [*mixed_lines(400, 1), *(" ".join(words_of_text()[i : i + 12]) for i in range(0, 12000, 12))]
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def word_piece(normalizer, pre_tokenizer, size=1500):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    model = models.WordPiece(unk_token="[UNK]")
    return trained(model, trainer, normalizer, pre_tokenizer, decoders.WordPiece(cleanup=True))


def bert():
    tokenizer = word_piece(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer())
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def byte_level_bpe(pre_tokenizer, normalizer=None, size=1200, **options):
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=["<s>", "</s>"], show_progress=False
    )
    return trained(models.BPE(**options), trainer, normalizer, pre_tokenizer, decoders.ByteLevel())


def byte_tokens():
    return [f"<0x{byte:02X}>" for byte in range(256)]


# The patterns of well-known models.
PATTERNS = {
    "llama 3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",
    "qwen 2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",
    "o200k": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "deepseek": r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "kimi": r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+|\p{N}{1,3}| ?[[:punct:]]+[\r\n]*|\s+",
    "trinity": r"\p{Nd}{1,510}(?=(?>\p{Nd}{3})*(?:\P{Nd}|$))|\G\p{Nd}{3}|\p{L}+|\s+",
    "behind": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|(?<![\p{L}\p{M}])\p{L}+|(?<=\s|\p{P}+)[^\s\p{L}\p{N}]+",
}


class Comparison(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def mase(self, *words):
        command = [MASE, "tokenize", self.folder, *map(str, words)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def show_times(self, name, tokenizer, lines):
        """Compares ids only, and times: 10^5 lines of JSON would take long."""
        start = time.process_time()
        encodings = tokenizer.encode_batch_fast(lines)
        seconds = time.process_time() - start
        if tokenizer.padding and tokenizer.padding["length"] is None:  # a batch is padded to its longest text
            encodings = [tokenizer.encode(line) for line in lines]
        theirs = [encoding.ids for encoding in encodings]
        ours = [list(map(int, line.split())) for line in self.mase("--file", self.file).split("\n")[: len(lines)]]
        equal = sum(map(list.__eq__, ours, theirs))
        own = self.processor_time("--file", self.file, "--time") - self.processor_time("a")
        ratio = f"{own:.2f} s, tokenizers {seconds:.2f} s: {seconds / own:.1f} times as fast"
        print(f"{name}: {equal} of {len(lines)} lines are equal; {ratio}", flush=True)
        for line, mine, wanted in zip(lines, ours, theirs):
            self.assertEqual(mine, wanted, repr(line))

    def processor_time(self, *words):
        """Seconds of a processor, which do not depend on what else the machine does."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.mase(*words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def compare(self, name, tokenizer):
        tokenizer.save(str(self.folder / "tokenizer.json"))
        lines = mixed_lines(COUNT, zlib.crc32(name.encode()))
        self.file = self.folder / "lines.txt"
        self.file.write_bytes("".join(line + "\n" for line in lines).encode())
        if TIMES:
            self.show_times(name, tokenizer, lines)
            return
        ours = json.loads(self.mase("--file", self.file, "--json"))["encodings"]
        self.assertEqual(len(ours), len(lines))
        for line, mine in zip(lines, ours):
            wanted = tokenizer.encode(line)
            self.assertEqual(mine, self.fields(wanted), f"{name}: {line!r}")
        self.compare_decoded(name, tokenizer, [entry["ids"] for entry in ours])
        self.compare_pairs(name, tokenizer, lines)

    @staticmethod
    def fields(encoding):
        mask = encoding.attention_mask
        return {"ids": encoding.ids, "tokens": encoding.tokens, "type_ids": encoding.type_ids, "attention_mask": mask}

    def compare_decoded(self, name, tokenizer, ids):
        self.file.write_text("".join(" ".join(map(str, row)) + "\n" for row in ids))
        for words, skip in (((), True), (("--no-special",), False)):
            ours = json.loads(self.mase("--file", self.file, "--decode", "--json", *words))["texts"]
            for row, mine in zip(ids, ours, strict=True):
                self.assertEqual(mine, tokenizer.decode(row, skip_special_tokens=skip), f"{name}: {row}")

    def compare_pairs(self, name, tokenizer, lines):
        lines = [line.replace("\t", " ") for line in lines[:400]]
        pairs = list(zip(lines[::2], lines[1::2]))
        self.file.write_bytes("".join(f"{first}\t{second}\n" for first, second in pairs).encode())
        for words, special in (((), True), (("--no-special",), False)):
            ours = json.loads(self.mase("--file", self.file, "--pair", "--json", *words))["encodings"]
            for pair, mine in zip(pairs, ours, strict=True):
                wanted = tokenizer.encode(*pair, add_special_tokens=special)
                self.assertEqual(mine, self.fields(wanted), f"{name}: {pair!r}")


class WordPieces(Comparison):
    def test_bert(self):
        self.compare("bert", bert())

    def test_bert_with_case(self):
        normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=True, handle_chinese_chars=False)
        tokenizer = word_piece(normalizer, pre_tokenizers.BertPreTokenizer())
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        self.compare("bert with case", tokenizer)

    def test_normalizers(self):
        rows = {
            "NFC": [normalizers.NFC()],
            "NFD, StripAccents": [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()],
            "NFKC, Strip": [normalizers.NFKC(), normalizers.Strip()],
            "NFKD, Nmt": [normalizers.NFKD(), normalizers.Nmt(), normalizers.Strip(left=False, right=True)],
            "Prepend": [normalizers.Prepend("x"), normalizers.BertNormalizer(clean_text=False, lowercase=False)],
        }
        splits = [
            pre_tokenizers.Whitespace(),
            pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous")]),
            pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(True)]),
            pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit("e"), pre_tokenizers.Digits()]),
            pre_tokenizers.Sequence([pre_tokenizers.Punctuation("merged_with_previous"), pre_tokenizers.Whitespace()]),
        ]
        for (name, row), split in zip(rows.items(), splits):
            with self.subTest(name):
                self.compare(name, word_piece(normalizers.Sequence(row), split))

    def test_added_tokens(self):
        tokenizer = bert()
        token = tokenizers.AddedToken
        tokenizer.add_special_tokens([token("[MASK]", lstrip=True, rstrip=True), token("<s>", single_word=True)])
        tokenizer.add_tokens([token("<extra>", normalized=False), token("Elizabeth"), token("ing", single_word=True)])
        self.compare("added tokens", tokenizer)

    def test_lengths(self):
        tokenizer = bert()
        tokenizer.enable_truncation(60, stride=2, direction="left")
        tokenizer.enable_padding(direction="left", pad_id=0, pad_token="[PAD]", length=24, pad_to_multiple_of=7)
        self.compare("from the left", tokenizer)
        tokenizer.enable_truncation(9)
        tokenizer.enable_padding(pad_type_id=5)
        self.compare("to the longest", tokenizer)


class Bpe(Comparison):
    def test_gpt2(self):
        tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False))
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
        self.compare("gpt2", tokenizer)

    def test_roberta(self):
        tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=True))
        tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
        tokenizer.add_special_tokens([tokenizers.AddedToken("[MASK]", lstrip=True)])
        self.compare("roberta", tokenizer)

    def test_patterns(self):
        for name, pattern in PATTERNS.items():
            with self.subTest(name):
                split = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
                parts = [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
                normalizer = normalizers.NFC() if name == "qwen 2" else None
                options = {"ignore_merges": True} if name == "llama 3" else {}
                tokenizer = byte_level_bpe(pre_tokenizers.Sequence(parts), normalizer, **options)
                single = processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 0)])
                tokenizer.post_processor = processors.Sequence([processors.ByteLevel(), single])
                self.compare(name, tokenizer)

    def test_llama(self):
        """Metaspace by normalizers, and bytes for unknown characters."""
        special = ["<unk>", "<s>", "</s>", *byte_tokens()]
        trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=special, limit_alphabet=300, show_progress=False)
        steps = [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
        undo = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        lines = [line[:60] for line in mixed_lines(300, 3)]
        model = models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
        tokenizer = trained(model, trainer, normalizers.Sequence(steps), None, decoders.Sequence(undo), lines)
        file = json.loads(tokenizer.to_str())
        file["added_tokens"] = file["added_tokens"][:3]  # the bytes are tokens of the model
        self.compare("llama", Tokenizer.from_str(json.dumps(file)))

    def test_metaspace(self):
        for scheme, split in (("always", True), ("first", True), ("never", False)):
            with self.subTest(scheme):
                space = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
                decoder = decoders.Metaspace(prepend_scheme=scheme, split=split)
                special = ["<unk>", "<s>", *byte_tokens()]
                trainer = trainers.BpeTrainer(
                    vocab_size=1200, special_tokens=special, limit_alphabet=200, show_progress=False
                )
                model = models.BPE(unk_token="<unk>", byte_fallback=scheme == "first")
                text = [line[:60] for line in mixed_lines(300, 3)]
                self.compare(scheme, trained(model, trainer, normalizers.NFKC(), space, decoder, text))

    def test_suffix(self):
        """As GPT and CLIP have it: the last character of a word is another token."""
        for fuse in (False, True):
            special = ["<unk>"]
            trainer = trainers.BpeTrainer(
                vocab_size=900,
                special_tokens=special,
                limit_alphabet=100,
                end_of_word_suffix="</w>",
                show_progress=False,
            )
            model = models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=fuse)
            steps = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(tokenizers.Regex(r"\s+"), " ")])
            split = pre_tokenizers.Split(tokenizers.Regex(r"'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", True)
            self.compare(f"suffix {fuse}", trained(model, trainer, steps, split, decoders.BPEDecoder("</w>")))

    def test_prefix(self):
        trainer = trainers.BpeTrainer(
            vocab_size=900, special_tokens=["[UNK]"], continuing_subword_prefix="##", show_progress=False
        )
        model = models.BPE(unk_token="[UNK]", continuing_subword_prefix="##")
        split = pre_tokenizers.BertPreTokenizer()
        self.compare("prefix", trained(model, trainer, normalizers.Lowercase(), split, decoders.WordPiece()))


def charsmap(table):
    """The charsmap of SentencePiece for a table of texts: a trie in one array (Darts), and what the texts become. The
    children of a node stand at its offset, xor their bytes; a byte 0 leads to the leaf."""
    units, used, texts = {0: 0}, {0}, b""

    def add(node, keys, depth):
        nonlocal texts
        labels = sorted({key[depth] if depth < len(key) else 0 for key in keys})
        base = next(base for base in range(256, 1 << 20, 256) if not used & {base ^ label for label in labels})
        used.update(base ^ label for label in labels)
        units[node] |= (base ^ node) << 10 | (256 if 0 in labels else 0)
        for label in labels:
            child = base ^ label
            if label == 0:
                units[child] = len(texts) | 1 << 31
                texts += table[next(key for key in keys if len(key) == depth)] + b"\0"
                continue
            units[child] = label
            add(child, [key for key in keys if len(key) > depth and key[depth] == label], depth + 1)

    add(0, list(table), 0)
    trie = b"".join(units.get(i, 0).to_bytes(4, "little") for i in range((max(units) | 255) + 1))
    return len(trie).to_bytes(4, "little") + trie + texts


class Others(Comparison):
    def test_precompiled(self):
        table = {"a": "b", "e\u0301": "\u00e9", "\ufb01": "fi", "\u2460": "1", "\t": " ", "\u3000": " ", "\u0e33": "x"}
        table |= {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
        normalizer = normalizers.Precompiled(charsmap({key.encode(): value.encode() for key, value in table.items()}))
        self.compare("precompiled", word_piece(normalizer, pre_tokenizers.WhitespaceSplit()))

    def test_unigram(self):
        for fallback in (False, True):
            special = ["<unk>", "<s>", *(byte_tokens() if fallback else [])]
            trainer = trainers.UnigramTrainer(
                vocab_size=1500, special_tokens=special, unk_token="<unk>", show_progress=False
            )
            space = pre_tokenizers.Metaspace()
            text = [line for line in mixed_lines(800, 3) if line.isascii()] * 4
            text += [" ".join(words_of_text()[i : i + 12]) for i in range(0, 30000, 12)]
            tokenizer = trained(models.Unigram(), trainer, normalizers.NFKC(), space, decoders.Metaspace(), text)
            file = json.loads(tokenizer.to_str())
            file["model"]["byte_fallback"] = fallback
            file["added_tokens"] = file["added_tokens"][:2]
            self.compare(f"unigram {fallback}", Tokenizer.from_str(json.dumps(file)))

    def test_speech(self):
        """CTC decodes characters, and writes a space as a bar."""
        steps = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(" ", "|")])
        trainer = trainers.WordLevelTrainer(special_tokens=["<pad>", "<unk>", "|"], show_progress=False)
        split = pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
        self.compare("speech", trained(models.WordLevel(unk_token="<unk>"), trainer, steps, split, decoders.CTC()))

    def test_scripts(self):
        split = pre_tokenizers.Split(tokenizers.Regex(r"[\p{Han}]+|[^\s\p{Han}]+|\w"), "isolated")
        parts = [split, pre_tokenizers.FixedLength(length=5), pre_tokenizers.ByteLevel(use_regex=False)]
        self.compare("scripts", byte_level_bpe(pre_tokenizers.Sequence(parts)))

    def test_word_level(self):
        trainer = trainers.WordLevelTrainer(vocab_size=2000, special_tokens=["<unk>"], show_progress=False)
        splits = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split("e", "merged_with_next")]
        model = models.WordLevel(unk_token="<unk>")
        self.compare("word level", trained(model, trainer, None, pre_tokenizers.Sequence(splits)))


class Errors(Comparison):
    def refusal(self, change):
        tokenizer = json.loads(bert().to_str())
        change(tokenizer)
        (self.folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        done = subprocess.run([MASE, "tokenize", self.folder, "a"], capture_output=True, check=False, text=True)
        self.assertEqual(done.returncode, 3)
        return done.stderr

    def test_unknown_kinds(self):
        for part in ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder"):
            message = self.refusal(lambda file, part=part: file[part].update(type="Nonsense"))
            self.assertIn(f'tokenizer.json: {part}.type: "Nonsense" is unknown; known are ', message)

    def test_wrong_values(self):
        message = self.refusal(lambda file: file["model"].pop("vocab"))
        self.assertIn('tokenizer.json: model: has no "vocab"', message)
        message = self.refusal(lambda file: file["normalizer"].update(lowercase=3))
        self.assertIn("tokenizer.json: normalizer.lowercase: must be true or false", message)


def main():
    global MASE, SOURCE, COUNT, TIMES
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--count", type=int)
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    MASE, SOURCE = str(Path(arguments.mase).resolve()), arguments.source.resolve()
    COUNT, TIMES = arguments.count or COUNT, arguments.count is not None
    import_tokenizers()
    unittest.main(argv=[sys.argv[0], *arguments.cases])


def import_tokenizers():
    """Takes `tokenizers` from this Python, or from where scripts/zoo installs it."""
    global tokenizers, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    sys.path.append(str(SOURCE / ".venv/zoo"))
    try:
        import tokenizers
        from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(77)


if __name__ == "__main__":
    main()
