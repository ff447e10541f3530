"""``python -m tests.formats.make REVISION…``: make files of revisions, for the tests to open.

Each revision is unpacked and built in ``out/formats``; its own Python and kernel write the files
and the answers, into one archive. ``--here FILE`` makes that of the package that is imported.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = Path(__file__).with_name("files")


def main() -> int:
    """Make what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.formats.make")
    parser.add_argument("revisions", nargs="*", metavar="REVISION")
    parser.add_argument("--here", type=Path, metavar="FILE", help="with what is imported")
    options = parser.parse_args()
    if options.here is not None:
        make(options.here)
    for revision in options.revisions:
        tree, name = checkout(revision)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tree / "python"), str(ROOT)]),
        }
        command = [
            sys.executable,
            "-m",
            "tests.formats.make",
            "--here",
            str(FILES / f"{name}.tar.gz"),
        ]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return 0


def checkout(revision: str) -> tuple[Path, str]:
    """Return the sources of a revision with its native module, and its short name."""
    said = subprocess.run(
        ["git", "rev-parse", "--short=8", f"{revision}^{{commit}}"],
        **{"cwd": ROOT, "check": True, "capture_output": True, "text": True},
    )
    name = said.stdout.strip()
    tree = ROOT / "out" / "formats" / name
    module = tree / "python" / "penstock" / "_native.abi3.so"
    if not module.exists():
        packed = subprocess.run(
            ["git", "archive", name], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(tree, filter="data")
        build = ["cargo", "build", "--release", "--locked", "--quiet"]
        build += ["--manifest-path", "crates/python/Cargo.toml", "--target-dir", "target"]
        subprocess.run(build, cwd=tree, check=True)
        shutil.copy(tree / "target/release/libpenstock_native.so", module)
    describe(tree)
    return tree, name


def describe(tree: Path) -> None:
    """Write what an installation says of a package: files hold the version that wrote them."""
    project = tomllib.loads((tree / "pyproject.toml").read_text())["project"]["name"]
    workspace = tomllib.loads((tree / "Cargo.toml").read_text())["workspace"]
    version = workspace["package"]["version"]
    info = tree / "python" / f"{project.replace('-', '_')}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    said = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
    (info / "METADATA").write_text(said)


def make(target: Path) -> None:
    """Make all files with the package that is imported, and write what it answers with them."""
    from pyspark.sql import SparkSession

    from tests.formats import moving, samples, streams

    work = ROOT / "out" / "formats" / "work"
    folder = work / "kept"
    shutil.rmtree(work, ignore_errors=True)
    folder.mkdir(parents=True)
    samples.write_lines(folder / "lines.jsonl")
    registry = samples.make_registry(folder / "registry", folder / "lines.jsonl")
    answers = {"registry": samples.answers(registry)}
    registry.publish()
    registry.close()
    answers["lines"] = export(folder)
    answers["views"] = views(folder / "views")
    with (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate() as spark
    ):
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        streams.begin_pipeline(work / "pipeline", spark)
        moving.keep(work / "pipeline", folder / "pipeline")
        answers["pipeline"] = streams.go_on_with_pipeline(work / "pipeline", spark)
        streams.begin_joins(work / "joins", spark)
        moving.keep(work / "joins", folder / "joins")
        answers["joins"] = streams.go_on_with_joins(work / "joins", spark)
    text = json.dumps(answers, indent=1, ensure_ascii=False)
    (folder / "answers.json").write_text(text + "\n")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, "", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def export(folder: Path) -> list[object]:
    """Export the subscriptions of lines in both forms, and return what they answer."""
    import penstock
    from penstock.cli import main as command
    from tests.formats import samples

    work = folder / "work"
    registry = penstock.Registry.open(work)
    registry.load(folder / "lines.jsonl")
    answers = samples.answers(registry)
    registry.close()
    for form in ("jsonl", "csv"):
        output = str(folder / f"lines.{form}")
        assert command(["registry", "export", "--format", form, "--output", output, str(work)]) == 0
    shutil.rmtree(work)
    return answers


def views(folder: Path) -> list[object]:
    """Write a configuration and a header, and return what servers decide from it."""
    from penstock import routing
    from tests.formats import samples

    folder.mkdir()
    config = samples.configuration()
    header = routing.stamp(samples.SHOP.encode(), config)
    (folder / "configuration.json").write_text(config.to_json())
    (folder / "header").write_bytes(header)
    return samples.decisions(config, header)


if __name__ == "__main__":
    sys.exit(main())
