"""The include rule: data flows down the table of lib/README.md, and foreign headers stay where it says."""

import re

from source_tree import CODE_SUFFIXES, files_under, includes, read, read_table, real_folders, relative

# Header prefixes of the libraries that the third-party column names.
LIBRARIES = {
    "LibTorch": ("torch/", "ATen/", "c10/", "caffe2/"),
    "toml++": ("toml++/", "toml.hpp"),
    "nlohmann/json": ("nlohmann/",),
    "spdlog": ("spdlog/", "fmt/"),
    "OpenSSL": ("openssl/",),
    "zlib": ("zlib.h",),
    "libzip": ("zip.h",),
    "CBC": ("coin/",),
    "Eigen": ("Eigen/",),
    "SQLite": ("sqlite3.h",),
    "libpq": ("libpq-fe.h",),
    "CLI11": ("CLI/",),
    "Catch2": ("catch2/",),
}
HEADERS_MAY_INCLUDE = ("LibTorch",)
APP_LIBRARIES = ("CLI11",)
TORCHSCRIPT_FILE = re.compile(r"lib/torch_frontend/(import|export)_\w+\.(cpp|hpp)")
TORCHSCRIPT_HEADER = re.compile(r"torch/(csrc/jit/|script\.h|jit\.h)")
SYSTEM_HEADER = re.compile(
    r"[a-z0-9_]+|sys/\w+\.h|(dlfcn|errno|fcntl|malloc|poll|signal|spawn|unistd|immintrin|cpuid|link)\.h"
)


def library_of(header):
    """The foreign library a header belongs to; None for the standard library and the system."""
    for name, prefixes in LIBRARIES.items():
        if header.startswith(prefixes):
            return name
    return None if SYSTEM_HEADER.fullmatch(header) else "unknown"


def check_folders(root, rows, name, header, owner):
    """Complaint about an include of another folder of lib/, or None."""
    folder = header.split("/")[0]
    allowed = rows[owner].uses if owner in rows else []
    if folder == owner or folder in allowed or header in allowed:
        return None
    return f"`{owner}` may not use `{header}`; its row of lib/README.md allows: {', '.join(allowed) or 'nothing'}"


def check_library(rows, name, header, owner):
    """Complaint about an include of a foreign header, or None."""
    library = library_of(header)
    if library is None:
        return None
    if library == "unknown":
        return f"<{header}> belongs to no library that tests/habits/include_rule.py knows"
    if owner == "apps":
        return None if library in APP_LIBRARIES else f"{library} is not for apps/"
    if library not in rows[owner].third_party:
        return f"{library} is not for `{owner}`; see the third-party column of lib/README.md"
    if name.endswith(".hpp") and library not in HEADERS_MAY_INCLUDE:
        return f"{library} may be included by sources only, not by headers"
    return None


def include_rule(root):
    """Every #include of lib/ and apps/ obeys the table."""
    rows = read_table(root)
    folders = real_folders(root)
    for path in files_under(root, ("lib", "apps"), CODE_SUFFIXES):
        name = relative(path, root)
        owner = "apps" if name.startswith("apps/") else name.split("/")[1]
        if owner != "apps" and owner not in rows:
            continue  # the table's own check reports it
        for line, header in includes(read(path)):
            if header.split("/")[0] in folders and "/" in header:
                complaint = None if owner == "apps" else check_folders(root, rows, name, header, owner)
            elif owner == "apps" and (root / "apps" / header).exists():
                complaint = None
            elif (path.parent / header).exists():
                complaint = f'write "{header}" with its folder'
            else:
                complaint = check_library(rows, name, header, owner)
            if complaint:
                yield f"{name}:{line}: {complaint}"


def torchscript_headers(root):
    """Headers of import and export that show TorchScript's types: private to those two parts."""
    for path in files_under(root, ("lib/torch_frontend",), (".hpp",)):
        if any(TORCHSCRIPT_HEADER.match(header) for _, header in includes(read(path))):
            yield relative(path, root).removeprefix("lib/")


def torchscript_rule(root):
    """torch::jit appears in the files import_* and export_* of torch_frontend only."""
    private = set(torchscript_headers(root))
    for path in files_under(root, ("lib", "apps"), CODE_SUFFIXES):
        name = relative(path, root)
        if TORCHSCRIPT_FILE.fullmatch(name):
            continue
        text = read(path)
        for line, header in includes(text):
            if TORCHSCRIPT_HEADER.match(header) or header in private:
                yield f"{name}:{line}: <{header}> is for TorchScript import and export only"
        for number, line in enumerate(text.splitlines(), 1):
            if "torch::jit" in line.split("//")[0]:
                yield f"{name}:{number}: torch::jit is for TorchScript import and export only"


def order_rule(root):
    """A folder uses only rows above its own; single headers are excepted and must exist."""
    seen = []
    for row in read_table(root).values():
        for use in row.used_folders():
            if use not in seen:
                yield f"lib/README.md: `{row.name}` uses `{use}`, which does not stand above it"
        for header in (use for use in row.uses if "/" in use):
            if not (root / "lib" / header).is_file():
                yield f"lib/README.md: `{row.name}` uses `{header}`, which does not exist"
        seen.append(row.name)


def table_rule(root):
    """lib/README.md has a row and a paragraph for every folder and for nothing else, in one order."""
    rows = list(read_table(root))
    for name in sorted(set(real_folders(root)) ^ set(rows)):
        yield f"lib/README.md: folder `{name}` and the table's rows differ"
    headings = re.findall(r"^## `(\w+)`\n\n\S", read(root / "lib/README.md"), re.MULTILINE)
    if headings != rows:
        yield f"lib/README.md: paragraphs {headings} differ from the table's rows {rows}"


def linked_folders(text):
    """What lib/CMakeLists.txt links, by library: the USES of mase_library and the links of mase_torch."""
    linked = {}
    for name, rest in re.findall(r"mase_library\((\w+)([^)]*)\)", text):
        uses = re.search(r"USES([^)]*?)(?:PRIVATE|$)", rest, re.DOTALL)
        linked[name] = set(uses.group(1).split()) if uses else set()
    torch = re.search(r"target_link_libraries\(mase_torch([^)]*)\)", text)
    if torch:
        linked["torch"] = set(re.findall(r"\bmase_(\w+)", torch.group(1)))
    return linked


def link_rule(root):
    """CMake links each folder with exactly what the table says; two folders make the LibTorch object."""
    rows = read_table(root)
    pair = ("torch_frontend", "train")
    wanted = {name: set(row.used_folders()) for name, row in rows.items() if name not in pair}
    wanted["torch"] = {use for name in pair if name in rows for use in rows[name].used_folders()} - set(pair)
    linked = linked_folders(read(root / "lib/CMakeLists.txt"))
    for name in sorted(set(wanted) | set(linked)):
        if wanted.get(name) != linked.get(name):
            yield (
                f"lib/CMakeLists.txt: {name} links {sorted(linked.get(name, []))},"
                f" the table of lib/README.md says {sorted(wanted.get(name, []))}"
            )
