"""Sessions: what is proved about the packages, each in an environment of its own."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from typing import NamedTuple

import nox
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"  # uv where it is, for its speed
nox.options.error_on_external_run = True
nox.options.sessions = ["static", "tests"]

os.environ.pop("PYTHONPATH", None)  # sources on the path would stand in for wheels
os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")

ROOT = pathlib.Path(__file__).parent
CACHE = ROOT / ".nox"
GROUPS = nox.project.load_toml(ROOT / "pyproject.toml")["dependency-groups"]
PROJECTS = {
    path.parent.name: nox.project.load_toml(path)
    for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
}
PACKAGES = [
    name for name in PROJECTS if any(ROOT.glob(f"packages/{name}/tests/**/test_*.py"))
]
PARALLEL = ("-n", "auto", "--dist", "worksteal", "-q")  # compiling is most of the time
JAXLIBS = {  # jaxlib's version -> the Pythons to run it on, best first
    "0.10.2": ("3.11",),
    "newest": ("3.13", "3.12"),
}


# What a package declares


def declared(package: str) -> list[Requirement]:
  """The requirements of `package` at run time."""
  return [Requirement(line) for line in PROJECTS[package]["project"]["dependencies"]]


def test_group(package: str) -> list[Requirement]:
  """What the tests of `package` need beyond the package itself."""
  return [Requirement(line) for line in PROJECTS[package]["dependency-groups"]["test"]]


def internal(requirements: Iterable[Requirement]) -> dict[str, Requirement]:
  """Those of `requirements` that this repository provides, by name."""
  return {r.name: r for r in requirements if r.name in PROJECTS}


def external(requirements: Iterable[Requirement]) -> list[str]:
  """Those of `requirements` that come from an index."""
  return [str(r) for r in requirements if r.name not in PROJECTS]


def closure(packages: Iterable[str]) -> set[str]:
  """`packages` and all that they need of this repository, as declared."""
  found: set[str] = set()
  new = set(packages)
  while new:
    found |= new
    new = {name for p in new for name in internal(declared(p))} - found
  return found


def tested_with(package: str) -> set[str]:
  """The packages present while `package` is tested."""
  return closure({package, *internal(test_group(package))})


# Wheels


@functools.cache
def builder() -> pathlib.Path:
  """The interpreter of an environment that holds nothing but the build backend."""
  place = CACHE / "builder"
  subprocess.run(
      [sys.executable, "-m", "virtualenv", "--quiet", "--clear", str(place)], check=True
  )
  python = executable(place)
  subprocess.run(
      [str(python), "-m", "pip", "install", "--quiet", "hatchling>=1.27"], check=True
  )
  return python


@functools.cache
def build(source: pathlib.Path, out: pathlib.Path) -> str:
  """The wheel of the project in `source`, built at most once in a run of nox."""
  shutil.rmtree(out, ignore_errors=True)
  subprocess.run(
      [str(builder()), "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
      cwd=source, check=True, capture_output=True,
  )
  return str(next(out.glob("*.whl")))


def wheels(packages: Iterable[str]) -> list[str]:
  """Wheels of this tree's `packages`."""
  return [
      build(ROOT / "packages" / name, CACHE / "wheels" / name)
      for name in sorted(packages)
  ]


def oldest_release(package: str, pin: Requirement) -> str | None:
  """The wheel of the oldest tagged release of `package` that `pin` admits, if any."""
  tags = subprocess.run(
      ["git", "tag", "--list", f"{package}-v*"],
      cwd=ROOT, check=True, capture_output=True, text=True,
  ).stdout.split()
  versions = [Version(tag.removeprefix(f"{package}-v")) for tag in tags]
  admitted = list(pin.specifier.filter(versions))
  if not admitted:
    return None
  tag = f"{package}-v{min(admitted)}"
  place = CACHE / "released" / tag
  if not place.exists():
    place.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "archive", tag, f"packages/{package}"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive, check=True)
  return build(place / "packages" / package, place / "wheel")


def floors(requirements: Iterable[Requirement]) -> list[str]:
  """Pins of every external requirement at the lowest version that it admits."""
  lowest: dict[str, Version] = {}
  for requirement in requirements:
    bounds = [
        Version(s.version) for s in requirement.specifier if s.operator in (">=", "~=")
    ]
    if requirement.name not in PROJECTS:
      name = canonicalize_name(requirement.name)
      lowest[name] = max(bounds + ([lowest[name]] if name in lowest else []))
  return [f"{name}=={version}" for name, version in sorted(lowest.items())]


# Environments


def executable(environment: pathlib.Path, name: str = "python") -> pathlib.Path:
  """The program `name` of a virtual environment."""
  if os.name == "nt":
    return environment / "Scripts" / f"{name}.exe"
  return environment / "bin" / name


def interpreter(versions: Iterable[str]) -> str | None:
  """A working Python of the first of `versions` that this machine has.

  A program's name proves nothing: version managers put scripts named `python3.13` on
  the path for interpreters that are not selected, so that each candidate is asked.
  """
  for version in versions:
    name = f"python{version}"
    managed = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    candidates = [
        sys.executable, shutil.which(name),
        *map(str, sorted(managed.glob(f"versions/{version}*/bin/{name}"))),
        f"/usr/bin/{name}", f"/usr/local/bin/{name}",
    ]
    for candidate in filter(None, candidates):
      if python_version(candidate) == version:
        return candidate
  return None


def python_version(program: str) -> str | None:
  """The version, such as 3.12, that `program` gives for itself."""
  ask = "import sys; print('%d.%d' % sys.version_info[:2])"
  try:
    answer = subprocess.run(
        [program, "-c", ask], capture_output=True, text=True, check=False, timeout=60
    )
  except OSError:
    return None
  return answer.stdout.strip() if answer.returncode == 0 else None


def install(session: nox.Session, files: list[str], *requirements: str) -> None:
  """Installs wheel files and what they require.

  The files go in once more by themselves, because a reused environment keeps an
  earlier wheel of the same version.
  """
  session.install(*files, *requirements)
  session.install("--force-reinstall", "--no-deps", *files)


def pytest(session: nox.Session, *arguments: str) -> None:
  """Runs tests under the repository's settings, a process a core.

  A selection behind `--` may leave one of several runs without a test; only then is
  that no failure.
  """
  session.run(
      "pytest", "-c", "pyproject.toml", *PARALLEL, *arguments, *session.posargs,
      success_codes=[0, 5] if session.posargs else [0],
  )


# Sessions


@nox.session(tags=["ci"])
@nox.parametrize("package", [*PACKAGES, "all"], ids=[*PACKAGES, "all"])
def tests(session: nox.Session, package: str) -> None:
  """Each package with only what it declares; `all`: what needs several of them."""
  if package == "all":
    install(session, wheels(PROJECTS), *GROUPS["test"])
    pytest(session, "tests")
    pytest(session, "--doctest-modules", "--pyargs", "gnomon")
  else:
    present = wheels(tested_with(package))
    install(session, present, *external(test_group(package)))
    pytest(session, f"packages/{package}/tests")


@nox.session
@nox.parametrize("package", PACKAGES, ids=PACKAGES)
def oldest(session: nox.Session, package: str) -> None:
  """Each package against the oldest of everything that it admits."""
  present = tested_with(package)
  files = wheels({package, *(present - internal(declared(package)).keys())})
  for name, pin in internal(declared(package)).items():
    release = oldest_release(name, pin)
    if release is None:
      session.log(f"{name}: no release that '{pin}' admits, taking this tree's")
    files += [release] if release else wheels({name})
  requirements = [r for name in sorted(present) for r in declared(name)]
  install(session, files, *floors([*requirements, *test_group(package)]))
  pytest(session, f"packages/{package}/tests")


@nox.session(venv_backend="none")
@nox.parametrize("version", list(JAXLIBS), ids=list(JAXLIBS))
def jaxlib(session: nox.Session, version: str) -> None:
  """The core at one end of the range of jaxlib that it supports."""
  python = interpreter(JAXLIBS[version])
  if python is None:
    wanted = " or ".join(JAXLIBS[version])
    session.skip(f"{version} is tested on Python {wanted}, which is not found here")
  place = CACHE / f"jaxlib-{version.replace('.', '-')}"
  own = str(executable(place))
  pins = [] if version == "newest" else [f"jaxlib=={version}"]
  needed = external(test_group("gnomon-core"))
  session.run(
      sys.executable, "-m", "virtualenv", "--quiet", "--clear", "-p", python, str(place)
  )
  session.run(
      own, "-m", "pip", "install", "--quiet",
      *wheels(tested_with("gnomon-core")), *needed, *pins,
  )
  session.run(own, "-m", "pip", "list")
  session.run(
      own, "-m", "pytest", "-c", "pyproject.toml", *PARALLEL,
      "packages/gnomon-core/tests", *session.posargs,
  )


@nox.session(tags=["ci"])
def static(session: nox.Session) -> None:
  """Types, layers, style and the repository's own rules, on installed wheels."""
  install(session, wheels(PROJECTS), *GROUPS["static"])
  cache = ("--cache-dir", str(CACHE / "mypy"))  # not the one of editable environments
  checks = (
      ("ruff", "check"),
      ("mypy", *cache, "-p", "gnomon"),
      ("mypy", *cache, "noxfile.py", "tools"),
      ("lint-imports", "--no-cache", "importlinter.toml"),
      ("python", "tools/check_packages.py"),
      ("python", "tools/check_sizes.py"),
      ("python", "tools/check_changelog.py"),
      ("python", "tools/check_exports.py"),
      ("python", "tools/write_doors.py", "--check"),
  )
  failed = []
  for check in checks:  # all of them, so that one run shows everything
    try:
      session.run(*check)
    except nox.command.CommandFailed:
      failed.append(" ".join(check))
  if failed:
    session.error(f"failed: {'; '.join(failed)}")


@nox.session(tags=["ci"])
def digits(session: nox.Session) -> None:
  """Trains a network on handwritten digits: `nox -s digits -- --help` for its options."""
  install(session, wheels(closure({"gnomon"})), *GROUPS["digits"])
  session.run("python", "examples/digits.py", *session.posargs)


@nox.session
def array_api(session: nox.Session) -> None:
  """The array API standard's own suite: `nox -s array_api -- DIR`, a clone of it.

  DIR is a clone of data-apis/array-api-tests with its submodule. What follows it goes to
  pytest, as `--max-examples 100`. What may fail, and why, stands in the file of
  exceptions; a test that is listed there and passes is shown.
  """
  if not session.posargs:
    session.error("give the folder of the suite: nox -s array_api -- DIR")
  suite = pathlib.Path(session.posargs[0]).expanduser().resolve()
  if not any(suite.glob("array-api/src/array_api_stubs")):
    session.error(f"{suite} is no clone of data-apis/array-api-tests with its submodule")
  needed = str(suite / "requirements.txt")
  install(session, wheels(closure({"gnomon-numpy"})), "-r", needed)
  exceptions = ROOT / "packages/gnomon-numpy/tests/data/array_api_exceptions.txt"
  session.chdir(suite)
  session.run(
      "pytest", "array_api_tests", "-q", "-rX", "--derandomize", "--disable-deadline",
      "--xfails-file", str(exceptions), *session.posargs[1:],
      env={"ARRAY_API_TESTS_MODULE": "gnomon.numpy", "GNOMON_ENABLE_X64": "1",
           "ARRAY_API_TESTS_VERSION": "2024.12"},
  )


class Library(NamedTuple):
  """What `ecosystem` does with a library that is written for JAX."""

  programs: tuple[str, ...]  # of examples/ecosystem
  pinned: tuple[str, ...]  # installed without what they require, which is JAX
  needed: tuple[str, ...]  # the rest of what they require, and what the tests import
  package: str  # whose modules are all imported
  suite: bool = True  # whether examples/ecosystem/suite.py has its tests


EQUINOX = ("equinox==0.13.8", "jaxtyping==0.3.11")
FLAX = ("flax==0.12.8", "optax==0.2.8", "orbax-checkpoint==0.12.8")
FLAX_NEEDS = (
    "absl-py", "etils[epath,epy]", "msgpack", "rich", "treescope", "pyyaml",
    "tensorstore", "humanize", "simplejson", "psutil", "aiofiles",
    "prometheus_client", "uvloop", "protobuf", "typing-extensions")
HAIKU = ("dm-haiku==0.0.17", "jmp==0.0.4")
HAIKU_NEEDS = ("absl-py", "tabulate")

ALIAS = ("gnomon-as-jax", "gnomon-testing")  # as the extra `as-jax` brings them
ECOSYSTEM = {
    "optax": Library(
        ("optax_digits",), FLAX, (*FLAX_NEEDS, "scikit-learn", "scipy"), "optax"),
    "chex": Library(
        ("chex_fit",), ("chex==0.1.92",),
        ("absl-py", "toolz", "typing-extensions", "cloudpickle", "dm-tree"), "chex"),
    "equinox": Library(
        ("equinox_mlp",), EQUINOX, ("wadler-lindig", "typing-extensions", "beartype"),
        "equinox"),
    "jaxtyping": Library(
        ("jaxtyping_solve",), EQUINOX,
        ("wadler-lindig", "beartype", "typeguard==2.13.3", "pytest-asyncio",
         "cloudpickle"), "jaxtyping"),
    "haiku": Library(("haiku_rnn",), HAIKU, HAIKU_NEEDS, "haiku"),
    "flax": Library(
        ("flax_transformer", "nnx_conv"), FLAX, (*FLAX_NEEDS, "scikit-learn"), "flax",
        suite=False),
    "jraph": Library(("jraph_net",), ("jraph==0.0.6.dev0", *HAIKU), HAIKU_NEEDS, "jraph"),
}


@nox.session
@nox.parametrize("library", list(ECOSYSTEM), ids=list(ECOSYSTEM))
def ecosystem(session: nox.Session, library: str) -> None:
  """A library written for JAX, unmodified: `-- --source CLONE` where its tests need one.

  Its programs reach the numbers of JAX, all its public modules are imported, and its own
  tests run, counted beside those that pass on JAX. Other arguments go to
  `examples/ecosystem/suite.py`, as `-- -n 2`; `-- --no-suite` leaves the tests out.
  """
  wanted = ECOSYSTEM[library]
  arguments = [a for a in session.posargs if a != "--no-suite"]
  install(session, wheels(closure({"gnomon", *ALIAS})), "jaxlib==0.10.2")
  session.install("--no-deps", *wanted.pinned)
  session.install("pytest", "pytest-xdist", *wanted.needed)
  place = "examples/ecosystem"
  session.run("python", "-c", "import importlib.util as u; assert not u.find_spec('jax')")
  for program in wanted.programs:
    session.run("python", f"{place}/check.py", program)
  session.run("python", f"{place}/modules.py", wanted.package)
  if not wanted.suite or "--no-suite" in session.posargs:
    return
  session.run("python", f"{place}/suite.py", library, *arguments)


@nox.session
def bench(session: nox.Session) -> None:
  """Compares gnomon's speed with JAX's and writes `docs/benchmarks`; `-- --help`."""
  install(
      session, wheels(closure({"gnomon"})), "jaxlib==0.10.2",  # as JAX has it
      *(line for line in GROUPS["docs"] if line.startswith("matplotlib")))
  python = executable(pathlib.Path(session.virtualenv.location))
  place = "docs/benchmarks/ratios"
  session.run(
      "python", "benchmarks/run.py", "--gnomon-python", str(python), "--json",
      f"{place}.json", "--markdown", f"{place}.md", "--picture", f"{place}.svg",
      *session.posargs)


@nox.session(tags=["ci"])
def docs(session: nox.Session) -> None:
  """The manual, where a warning is an error."""
  install(session, wheels(closure({"gnomon"})), *GROUPS["docs"])  # it draws with them
  session.run("sphinx-build", "-W", "--keep-going", "-j", "auto", "-b", "html", "docs",
              "docs/_build")


@nox.session(venv_backend="none")
def dev(session: nox.Session) -> None:
  """Makes `.venv`, where every package is installed from its sources, editable."""
  place = ROOT / ".venv"
  own = str(executable(place))
  editable = [
      argument for name in PROJECTS if name != "gnomon"
      for argument in ("--editable", f"packages/{name}")
  ]
  groups = {line for group in GROUPS.values() for line in group}
  session.run(sys.executable, "-m", "virtualenv", "--quiet", str(place))
  session.run(own, "-m", "pip", "install", *editable, *sorted(groups))
