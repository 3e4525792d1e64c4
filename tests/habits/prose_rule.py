# SPDX-License-Identifier: Apache-2.0
"""The prose rules: pages are 120 columns wide, and no sentence of a page, comment or message has a form that
docs/style.md names."""

import re

from citation_rule import line_of, texts
from source_tree import files_under, read, relative

WIDTH = 120
PAGES = ("README.md", "CONTRIBUTING.md", "lib/README.md", "hw_templates/README.md")
# Printed by the program, not yet rewritten, or full of examples of how not to write.
EXEMPT = ("docs/reference/", "docs/style.md")
FENCE = re.compile(r"^\s*```")
# A string of C++, or what may have quotes of another meaning.
TOKEN = re.compile(r'"(?P<text>(?:[^"\\\n]|\\.)*)"|//[^\n]*|/\*.*?\*/|\'(?:[^\'\\\n]|\\.){1,4}\'', re.DOTALL)
# A form, and what to do instead. Spaces stand for any white space: a sentence goes on in the next line.
FORMS = [
    (r"\bOf [a-z]", "a sentence that begins with 'Of': begin with its subject"),
    (
        r"\bWhich (?:is|are|has|have|it|they|makes?|costs?)\b(?![^.!?]*\?)",
        "a clause without its noun: name what it is about",
    ),
    (r"\bnone where\b", "'none where': say what there is and when"),
    (
        r"(?<![Tt]here\s)\bis (?:none|no [a-z]+) of\b",
        "'is none of', 'is no ... of': say what it is, or that it is not one",
    ),
]
# What the program is made of and says. The names of tests are not held to this.
SPOKEN = ("lib/", "apps/", "hw_templates/", "scripts/")
SPOKEN_FORMS = [
    *FORMS,
    (
        r"(?<![Tt]here\s)\b(?:is|are) no (?!longer\b|more\b|less\b|larger\b)[a-z]+(?!\w| of\b)",
        "'is no ...': say 'is not a ...'",
    ),
]
# In comments "none: the default" is how a member says what nullopt means.
PAGE_FORMS = [
    *SPOKEN_FORMS,
    (
        r"(?<=[;,]) none\b(?! where\b| of (?:them|these|those|the|its|which)\b)",
        "'; none': write a sentence with a verb",
    ),
]


def outside_code(text):
    """The lines of a page with blocks of code blank: (number, line) of every other."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def pages(root):
    found = [root / name for name in PAGES if (root / name).exists()] + files_under(root, ("docs",), (".md",))
    return [path for path in found if not relative(path, root).startswith(EXEMPT)]


def width_rule(root):
    """Pages have at most 120 columns, but for tables, code and HTML, where a line cannot be broken."""
    for path in pages(root):
        for number, line in outside_code(read(path)):
            if len(line) > WIDTH and not line.startswith(("|", "<")):
                yield f"{relative(path, root)}:{number}: {len(line)} columns; pages have at most {WIDTH}"


def prose(text):
    """What a text says in words: without blocks of code and quoted code, lines where they were."""
    kept = dict(outside_code(text))
    text = "\n".join(kept.get(number, "") for number in range(1, text.count("\n") + 2))
    return re.sub(r"`[^`\n]+`|\"[^\"\n]+\"", lambda code: "_" * len(code.group()), text)


def messages(text):
    """The strings of a C++ source, lines where they were. Only spaces are between the strings of one message."""
    words, end = "", 0
    for token in TOKEN.finditer(text):
        code = text[end : token.start()] + ("" if token["text"] else token.group())
        words += re.sub(r"\S", "|", code) + (f" {token['text']} " if token["text"] else "")
        end = token.end()
    return words


def forms_in(words, forms):
    for form, advice in forms:
        for match in re.finditer(form.replace(" ", r"\s+"), words):
            yield f"{line_of(words, match.start())}: {advice}"


def form_rule(root):
    """No sentence has one of the forms."""
    found = set(pages(root))
    for path, text in texts(root):
        name = relative(path, root)
        if path.suffix == ".md" and path not in found:
            continue
        spoken = SPOKEN_FORMS if name.startswith(SPOKEN) else FORMS
        complaints = list(forms_in(prose(text), PAGE_FORMS if path in found else spoken))
        if spoken is SPOKEN_FORMS and path.suffix in (".cpp", ".hpp"):
            complaints += forms_in(messages(read(path)), spoken)
        yield from (f"{name}:{complaint}" for complaint in complaints)
