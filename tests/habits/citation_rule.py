# SPDX-License-Identifier: Apache-2.0
"""The citation rule: files, sections, commands and options that comments and pages name exist."""

import re
import string

from source_tree import TEXT_ROOTS, files_under, read, relative

ROOTS = "lib|apps|tests|scripts|configs|hw_templates|docs|.ci|.github"
# What a citation may leave out in front of a path, and a name behind it.
PREFIXES = ("", "lib/", "apps/", "docs/", "hw_templates/", "tests/", "configs/")
SUFFIXES = ("", ".hpp", ".sv", ".cpp")
ROOTED = re.compile(rf"(?<![\w./<-])((?:{ROOTS})/[\w./*-]*)(?!\w*[<{{])")
SOURCE = re.compile(r"(?<![\w./<>*-])((?:\w+/)*\w+\.(?:hpp|cpp|sv|md))\b(?![\w(])")
SECTION = re.compile(r"(\w+)\.md, (?:sections? (\d+)(?: and (\d+))?|(\w+)(?=[).;,]))")
LINK = re.compile(r"\]\(([\w./-]*)(?:#([\w-]*))?\)")
COMMAND = re.compile(r"\bmase ((?!COMMAND)[a-z][a-z-]*)((?:[^`\n\\]|\\\n)*)")
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
PLACEHOLDER = re.compile("NAME|FAMILY")
COMMANDS_PAGE = "docs/reference/commands.md"
# Made by the program or by tools, named in examples, or written by the reader: not in the tree.
NOT_STORED = re.compile(
    r"bench\.(?:cpp|sv)|Vdut\w*\.h|\w+_axi\.sv|bench_top\.sv|streams\.hpp|report\.hpp|options\.hpp|JscS\w*\.sv|energy\.sv|PAGE\.md"
)


def comments(path, text):
    """The comments of a source, or a whole page, with everything else blank: lines stay where they are."""
    if path.suffix == ".md":
        return text
    mark = "//" if path.suffix in (".cpp", ".hpp", ".sv", ".svh") else "#"
    if path.suffix == ".py":
        text = re.sub(
            r'"""(.*?)"""', lambda match: re.sub(r"^", "# ", match.group(1), flags=re.MULTILINE), text, flags=re.DOTALL
        )
    found = [re.search(rf"(?:^|\s){mark}[/!]?<?(?:\s(.*))?$", line) for line in text.splitlines()]
    return "\n".join(match.group(1) or "" if match else "" for match in found)


def texts(root):
    """(path, text to read) of every file that cites: sources by their comments, pages whole, the history apart."""
    top = [root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    for path in [p for p in top if p.exists()] + files_under(root, (*TEXT_ROOTS, "docs")):
        if (
            path.suffix in (".cpp", ".hpp", ".sv", ".py", ".sh", ".md", ".toml", ".cmake", ".yml", "")
            or path.name == "CMakeLists.txt"
        ):
            yield path, comments(path, read(path))


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Tree:
    """What is there to be cited: paths from the root, and where each file name is used."""

    def __init__(self, root):
        self.root = root
        every = [
            path
            for path in root.rglob("*")
            if not re.match(r"build|\.git$|\.venv|mase_output", path.relative_to(root).parts[0])
        ]
        self.paths = {relative(path, root) for path in every}
        self.ends = {"/".join(path.split("/")[-n:]) for path in self.paths for n in range(1, path.count("/") + 2)}

    def has(self, name):
        """Whether a path, from the root or from a folder that citations leave out, exists; * stands for any name."""
        name = name.rstrip("./-,")
        if "*" in name:
            pattern = re.compile("[^/]*".join(re.escape(part) for part in name.split("*")))
            return any(pattern.match(path) for path in self.paths)
        return any(prefix + name + suffix in self.paths for prefix in PREFIXES for suffix in SUFFIXES)

    def has_source(self, name):
        return name in self.ends


def cited_paths(text, tree):
    """(place, name, whether it exists) of every path and source file that a text names."""
    for match in ROOTED.finditer(text):
        yield match.start(), match.group(1).rstrip("./-,"), tree.has(match.group(1))
    for match in SOURCE.finditer(ROOTED.sub(lambda rooted: " " * len(rooted.group()), text)):
        if not NOT_STORED.fullmatch(match.group(1).split("/")[-1]):
            yield match.start(), match.group(1), tree.has_source(match.group(1))


def file_rule(root):
    """Every path below a folder of the repository, and every source file, that is named exists."""
    tree = Tree(root)
    for path, text in texts(root):
        for place, name, exists in cited_paths(text, tree):
            if not exists and not PLACEHOLDER.search(name):
                yield f"{relative(path, root)}:{line_of(text, place)}: there is no {name}"


def anchor_of(heading):
    """The name that a heading gets in a page, as Python-Markdown makes it."""
    kept = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", kept)


def headings(text):
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.*)$", outside, re.MULTILINE)


def section_rule(root):
    """Sections that are cited by number or word, and links between pages, lead somewhere."""
    pages = {path.stem: path for path in (root / "docs").glob("*.md")}
    for path, text in texts(root):
        here = relative(path, root)
        joined = text.replace("\n", " ")
        for match in SECTION.finditer(
            re.sub(r"  +", lambda gap: " " + "\0" * (len(gap.group()) - 1), joined).replace("\0", "")
        ):
            known = headings(read(pages[match.group(1)])) if match.group(1) in pages else []
            for number in filter(None, match.group(2, 3)):
                if not any(heading.startswith(f"{number}. ") for heading in known):
                    yield f"{here}: {match.group(1)}.md has no section {number}"
            word = match.group(4)
            if (
                known
                and word
                and word not in string.digits
                and not any(word.lower() in heading.lower() for heading in known)
            ):
                yield f"{here}: {match.group(1)}.md has no section '{word}'"
        if path.suffix != ".md":
            continue
        for match in LINK.finditer(text):
            target = (path.parent / match.group(1)).resolve() if match.group(1) else path
            where = f"{here}:{line_of(text, match.start())}"
            if not target.exists():
                yield f"{where}: the link leads to {match.group(1)}, which is not there"
            elif match.group(2) and match.group(2) not in map(anchor_of, headings(read(target))):
                yield f"{where}: {relative(target, root)} has no heading #{match.group(2)}"


def declared_options(root):
    """The options of every command, from the page that the program prints."""
    options, command, settings, takers = {}, None, set(), set()
    for line in read(root / COMMANDS_PAGE).splitlines():
        if line.startswith("## "):
            command = None
        heading = re.match(r"### `mase ([\w-]+)", line)
        if heading:
            command = heading.group(1)
            options[command] = {"--help"}
        elif "also takes the settings below" in line:
            takers.add(command)
        elif line.startswith("- `"):
            names = re.findall(r"--[\w-]+", line.split("`")[1])
            (options[command] if command else settings).update(names)
    for command in takers:
        options[command] |= settings
    return options, settings


def command_rule(root):
    """Every `mase COMMAND --option` in code of a page or comment is one of the program's."""
    if not (root / COMMANDS_PAGE).exists():
        return
    options, settings = declared_options(root)
    everything = set().union(settings, *options.values())
    for path, text in texts(root):
        if relative(path, root) == COMMANDS_PAGE:
            continue
        shell = "\n".join(match.group(1) for match in SHELL.finditer(text)).replace("\\\n", " ")
        code = shell.splitlines() + [match.group(1) for match in CODE.finditer(SHELL.sub("", text))]
        for line in code:
            for match in COMMAND.finditer(line):
                command, rest = match.group(1), match.group(2).split(" | ")[0].split("#")[0]
                if command not in options and command != "emit-verilog":
                    yield f"{relative(path, root)}: there is no command `mase {command}`"
                for option in set(re.findall(r"(?<=\s)--[a-z][\w-]*", rest)) - options.get(command, everything):
                    yield f"{relative(path, root)}: `mase {command}` has no option {option}"
