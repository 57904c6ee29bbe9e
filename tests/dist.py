"""Build the sdist and the wheel, install each in a clean environment, and use what was installed: ``make dist``.

The wheel is built from the sdist, so that the sdist is complete.  Each environment has only what the package asks for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from tests.support.paths import ROOT

PROGRAM = ROOT / "tests" / "consumer" / "program.py"
# Neither the checkout nor a cache of the user is to be found from inside.
CLEAN = {
    name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "SYMLAYOUT_CACHE")
}


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in *folder* with a home of its own; return what it prints."""
    environment = {**CLEAN, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / ".cache")}
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Build into *folder*; return the sdist and the wheel."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, stdout=subprocess.DEVNULL)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_contents(sdist: Path, wheel: Path) -> None:
    """Compare the modules and templates of both with those of the checkout."""
    sources = [ROOT / "symlayout", ROOT / "codegen" / "symlayout_codegen"]
    kept = {f for s in sources for f in s.rglob("*.*") if f.suffix != ".pyc"}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for file in kept:
        inside = file.relative_to(ROOT / "codegen" if "codegen" in file.relative_to(ROOT).parts[0] else ROOT).as_posix()
        if inside not in names:
            raise SystemExit(f"{wheel.name} has no {inside}")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    missing = {f.relative_to(ROOT).as_posix() for f in kept} - packed
    if missing or "LICENSE" not in packed:
        raise SystemExit(f"{sdist.name} lacks {sorted(missing) or 'LICENSE'}")


def use(archive: Path, folder: Path) -> None:
    """Install *archive* in an environment of its own, and use it from an empty folder."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", archive, folder=folder)
    run(python, "-W", "error", PROGRAM, folder=folder)
    where = run(python, "-c", "import symlayout; print(symlayout.__file__)", folder=folder).strip()
    if not Path(where).is_relative_to(folder):
        raise SystemExit(f"what ran is {where}, not what was installed")
    for words in (["--help"], ["ops"], ["doctor"], ["infer", "N, 2*h", "transpose()"]):
        run(python.parent / "symlayout", *words, folder=folder)
    run(
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--python-executable",
        python,
        PROGRAM,
        folder=folder,
    )


def main() -> None:
    """Build, check and use."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist, wheel = build(folder / "dist")
        check_contents(sdist, wheel)
        for archive in (wheel, sdist):
            place = folder / archive.suffix.strip(".")
            place.mkdir()
            use(archive, place)
            print(f"{archive.name}: installs and runs, and is typed")
        (ROOT / "dist").mkdir(exist_ok=True)
        for archive in (sdist, wheel):
            (ROOT / "dist" / archive.name).write_bytes(archive.read_bytes())
            print(f"wrote dist/{archive.name}")


if __name__ == "__main__":
    main()
