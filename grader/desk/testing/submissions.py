# SPDX-License-Identifier: MIT
"""The made-up term of make_term.py as files that students submit, in the folders that an instructor exports:
one after every deadline and every resubmission. testing/fake_labcli.py of grader/batch grades them: each file
holds what its grading comes to."""

import io
import json
import os
import shutil
import tarfile
import zipfile

import make_term

REFUSED = {"a": "// one\n", "b": "// another\n"}  # two different files for one lab


class SubmittedTerm(make_term.Term):
    def write(self):
        """Rosters and class.toml alone: the rest is what ./lab grade-all makes."""
        shutil.rmtree(self.folder / "sources")
        self.write_rosters()
        self.write_settings()
        self.exports = []  # (lab, {name of the entry: (time, kind, text)}), in the order in which they are graded
        by_name = {}
        for when, submission, made in sorted(self.records, key=lambda record: record[0]):
            by_name.setdefault((submission["lab"], submission["student"]), []).append((when, made))
        number = 0
        for lab in make_term.LABS:
            versions = {name: made for (of, name), made in by_name.items() if of == lab}
            for at in range(max(map(len, versions.values()))):
                entries = {}
                for name in sorted(versions):
                    if at < len(versions[name]):
                        number += 1
                        when, made = versions[name][at]
                        made["number"] = number
                        last = at == len(versions[name]) - 1
                        entries[name] = (
                            when.timestamp(),
                            made["kind"],
                            self.text(name, lab, made, last),
                            number,
                        )
                self.exports.append((lab, entries))

    def text(self, name, lab, made, last):
        def result():
            labs = make_term.result_of(lab, made["evidence"], self.table)["labs"]
            for task in labs[0]["tasks"]:
                del task["cases"]
            return json.dumps(labs)

        lines = [f"// {name} {lab} {made['number']}"]
        if made["kind"] == "infra":
            return "\n".join([*lines, "// infra 99"]) + "\n"
        lines.append(f"// result {result()}")
        if lab == make_term.NEW_CASE_LAB and last:
            self.new_case_finds_a_fault(made["number"], made)
            lines.append(f"// new result {result()}")
        return "\n".join(lines) + "\n"

    def export(self, folder, lab, entries):
        """Brings the folder up to date; a student's newer submission takes the place of the one before."""
        folder.mkdir(exist_ok=True)
        for name, (time, kind, text, number) in entries.items():
            for ending in ("", ".zip", ".tar.gz", ".cu"):
                old = folder / (name + ending)
                shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
            form = (
                number % 4 if kind in ("graded", "infra") and "(" not in name else 0
            )  # "x (1).zip" is a copy of x.zip
            if form == 0:
                files = {} if kind == "missing" else {f"{lab}.cu": text}
                if kind == "refused":
                    files = {f"{number}/{where}/{lab}.cu": content for where, content in REFUSED.items()}
                (folder / name).mkdir()
                for inside, content in files.items():
                    (folder / name / inside).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name / inside).write_text(content, encoding="utf-8")
                    os.utime(folder / name / inside, (time, time))
            elif form == 1:
                with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
                    archive.writestr(f"labs/{lab}/{lab}.cu", text)
            elif form == 2:
                with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
                    info = tarfile.TarInfo(f"{lab} (2).cu")
                    info.size = len(text.encode())
                    archive.addfile(info, io.BytesIO(text.encode()))
            else:
                (folder / f"{name}.cu").write_text(f'#include "{lab}/lab.hpp"\n{text}', encoding="utf-8")
            for ending in (".zip", ".tar.gz", ".cu"):
                if (path := folder / (name + ending)).is_file():
                    os.utime(path, (time, time))
