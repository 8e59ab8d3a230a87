#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts files into a C++ header as texts, each with the hash that a Content-Security-Policy asks for.

usage: embed.py HEADER FILE...     style.css becomes kStyle and kStyleHash
"""

import base64
import hashlib
import pathlib
import sys

header, files = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
lines = ["// Made by embed.py.", "#pragma once", "#include <string_view>", "namespace course::grader::page {"]
for file in files:
    text = file.read_text(encoding="utf-8")
    if ')"""' in text or ')~~"' in text or "</script" in text or "</style" in text:
        sys.exit(f"{file}: can't stand in a page")
    name = "k" + "".join(part.capitalize() for part in file.stem.split("_"))
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    lines.append(f'inline constexpr std::string_view {name} = R"~~({text})~~";')
    lines.append(f'inline constexpr std::string_view {name}Hash = "sha256-{digest}";')
header.write_text("\n".join([*lines, "}  // namespace course::grader::page", ""]), encoding="utf-8")
