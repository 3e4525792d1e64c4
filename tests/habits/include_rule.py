# SPDX-License-Identifier: Apache-2.0
"""The include rule: data flows down the table of lib/README.md, and foreign headers stay where it says."""

import re

from source_tree import CODE_SUFFIXES, files_under, includes, owner_of, read, read_table, relative

# Header prefixes of the libraries that the third-party column names.
LIBRARIES = {
    "LibTorch": ("torch/", "ATen/", "c10/", "caffe2/"),
    "toml++": ("toml++/", "toml.hpp"),
    "nlohmann/json": ("nlohmann/",),
    "spdlog": ("spdlog/", "fmt/"),
    "OpenSSL": ("openssl/",),
    "zlib": ("zlib.h",),
    "libpng": ("png.h",),
    "libjpeg-turbo": ("jpeglib.h",),
    "libseccomp": ("seccomp.h",),
    "CBC": ("coin/",),
    "Eigen": ("Eigen/",),
    "SQLite": ("sqlite3.h",),
    "libpq": ("libpq-fe.h",),
    "HDF5": ("hdf5.h",),
    "ICU": ("unicode/",),
    "protobuf": ("google/protobuf/", "onnx-ml.pb.h"),
    "CLI11": ("CLI/",),
    "Catch2": ("catch2/",),
}
HEADERS_MAY_INCLUDE = ("LibTorch", "protobuf")
APP_LIBRARIES = ("CLI11",)
TORCHSCRIPT_ROOMS = ("lib/torch/import/", "lib/torch/export/")
TORCHSCRIPT_SOURCES = ("lib/torch/run/scalar_operators.cpp", "lib/torch/run/device_quantizer.cpp")
TORCHSCRIPT_HEADER = re.compile(r"torch/(csrc/jit/|script\.h|jit\.h)")
# Folders inside of rooms whose headers other rooms may include: lib/README.md says so of each.
OPEN_FOLDERS = ("passes/", "search/", "hardware/integer/steps/")
SYSTEM_HEADER = re.compile(
    r"[a-z0-9_]+|linux/\w+\.h|(?:sys|arpa|netinet)/\w+\.h|"
    r"(dlfcn|errno|fcntl|fnmatch|malloc|poll|grp|pwd|signal|spawn|unistd|immintrin|cpuid|link)\.h"
)


def library_of(header):
    """The foreign library a header belongs to; None for the standard library and the system."""
    for name, prefixes in LIBRARIES.items():
        if header.startswith(prefixes):
            return name
    return None if SYSTEM_HEADER.fullmatch(header) else "unknown"


def check_rooms(rows, header, owner):
    """Complaint about an include of another room of lib/, or None."""
    room = owner_of(header, rows)
    if room == owner:
        return None
    if room in rows[owner].uses:
        return check_inside(header, room)
    allowed = ", ".join(rows[owner].uses) or "nothing"
    return f"`{owner}` may not use `{header}`; its row of lib/README.md allows: {allowed}"


def check_inside(header, room):
    """Complaint about an include of a header that is in a folder inside of another room, or None."""
    inside = "/" in header.removeprefix(room + "/")
    if not inside or header.startswith(OPEN_FOLDERS):
        return None
    return f"`{header}` is inside of `{room}`; other rooms include the headers at its top"


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
    """Every #include of lib/ and apps/ obeys the table; the project's own headers are in quotes, others in <>."""
    rows = read_table(root)
    for path in files_under(root, ("lib", "apps"), CODE_SUFFIXES):
        name = relative(path, root)
        owner = "apps" if name.startswith("apps/") else owner_of(name.removeprefix("lib/"), rows)
        if owner is None:
            continue  # the table's own check reports it
        for line, header, own in includes(read(path)):
            complaint = check_own(root, rows, header, owner) if own else check_library(rows, name, header, owner)
            if complaint:
                yield f"{name}:{line}: {complaint}"


def check_own(root, rows, header, owner):
    """Complaint about an include in quotes, or None."""
    if owner == "apps" and (root / "apps" / header).exists():
        return None
    if owner_of(header, rows) is None:
        return f'"{header}" is not a header of lib/; write it with its folder'
    return None if owner == "apps" else check_rooms(rows, header, owner)


def torchscript_headers(root):
    """Headers of import and export that show TorchScript's types: private to those two rooms."""
    for path in files_under(root, TORCHSCRIPT_ROOMS, (".hpp",)):
        if any(TORCHSCRIPT_HEADER.match(header) for _, header, _ in includes(read(path))):
            yield relative(path, root).removeprefix("lib/")


def torchscript_rule(root):
    """torch::jit appears in the rooms torch/import and torch/export, and in the sources that lib/README.md names."""
    private = set(torchscript_headers(root))
    for path in files_under(root, ("lib", "apps"), CODE_SUFFIXES):
        name = relative(path, root)
        if name.startswith(TORCHSCRIPT_ROOMS) or name in TORCHSCRIPT_SOURCES:
            continue
        text = read(path)
        for line, header, _ in includes(text):
            if TORCHSCRIPT_HEADER.match(header) or header in private:
                yield f"{name}:{line}: <{header}> is for TorchScript import and export only"
        for number, line in enumerate(text.splitlines(), 1):
            if "torch::jit" in line.split("//")[0]:
                yield f"{name}:{number}: torch::jit is for TorchScript import and export only"


def order_rule(root):
    """A room uses only rows above its own."""
    seen = []
    for row in read_table(root).values():
        for use in row.uses:
            if use not in seen:
                yield f"lib/README.md: `{row.name}` uses `{use}`, which does not stand above it"
        seen.append(row.name)


def table_rule(root):
    """lib/README.md has a row and a paragraph for every room and for nothing else, in one order; each is a folder."""
    rows = read_table(root)
    for name in rows:
        if not (root / "lib" / name).is_dir():
            yield f"lib/README.md: the row `{name}` is not a folder of lib/"
    for path in files_under(root, ("lib",), CODE_SUFFIXES):
        if owner_of(relative(path, root).removeprefix("lib/"), rows) is None:
            yield f"{relative(path, root)}: its folder has no row in lib/README.md"
    headings = re.findall(r"^## `([\w/]+)`\n\n\S", read(root / "lib/README.md"), re.MULTILINE)
    if headings != list(rows):
        yield f"lib/README.md: paragraphs {headings} differ from the table's rows {list(rows)}"


def linked_rooms(text):
    """What lib/CMakeLists.txt links, by library: the USES of mase_library and the links of mase_torch."""
    linked = {}
    for name, rest in re.findall(r"mase_library\(([\w/]+)([^)]*)\)", text):
        uses = re.search(r"USES([^)]*?)(?:PRIVATE|$)", rest, re.DOTALL)
        linked[name] = set(uses.group(1).split()) if uses else set()
    torch = re.search(r"target_link_libraries\(mase_torch([^)]*)\)", text)
    if torch:
        linked["torch"] = set(re.findall(r"\bmase_(\w+)", torch.group(1)))
    return linked


def link_rule(root):
    """CMake links each room with exactly what the table says; the rooms of torch make one shared object."""
    rows = read_table(root)
    parts = [name for name in rows if name.split("/")[0] == "torch"]
    wanted = {name: set(row.uses) for name, row in rows.items() if name not in parts}
    wanted["torch"] = {use for name in parts for use in rows[name].uses} - set(parts)
    linked = linked_rooms(read(root / "lib/CMakeLists.txt"))
    for name in sorted(set(wanted) | set(linked)):
        if wanted.get(name) != linked.get(name):
            yield (
                f"lib/CMakeLists.txt: {name} links {sorted(linked.get(name, []))},"
                f" the table of lib/README.md says {sorted(wanted.get(name, []))}"
            )
