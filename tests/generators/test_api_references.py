"""API references, each built by its generator: every entry is one passage, with its signature and its own address."""

import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from conftest import ROOT
from generators.test_generators import FOLDER, TOOLS, program, script
from passage.indexing.chunks import cut
from passage.sites import html
from passage.sites.model import Page
from passage.sites.source import SiteOptions, open_site

SAMPLES = ROOT / "samples" / "api"
SITE = "https://lamp.example/"


def doxygen(source: Path, out: Path) -> Path:
    (source / "out").write_text((source / "Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {out}\n")
    program("doxygen", "out", cwd=source)
    return out / "html"


def javadoc(source: Path, out: Path) -> Path:
    program("javadoc", "-quiet", "-d", out, "-sourcepath", source, "com.lamp", cwd=source)
    return out


def cargo(source: Path, out: Path) -> Path:
    program("cargo", "doc", "--quiet", "--offline", "--workspace", "--no-deps", "--target-dir", out, cwd=source)
    return out / "doc"


def pdoc(source: Path, out: Path) -> Path:
    program(TOOLS / "pdoc", "-o", out, "lamp.py", cwd=source)
    return out


def sphinx(source: Path, out: Path) -> Path:
    program(TOOLS / "sphinx-build", "-q", "-b", "html", ".", out, cwd=source, PYTHONPATH=".")
    return out


def typedoc(source: Path, out: Path) -> Path:
    (source / "node_modules").symlink_to(FOLDER / "node_modules")
    script(
        "node_modules/typedoc/bin/typedoc", "--logLevel", "Warn", "--name", "Lamp", "--out", out, "lamp.ts", cwd=source
    )
    return out


def asciidoctor(source: Path, out: Path) -> Path:
    program("asciidoctor", "-o", out / "index.html", "lamp.adoc", cwd=source)
    return out


DEBIAN = {doxygen: "doxygen", javadoc: "default-jdk-headless", cargo: "cargo", asciidoctor: "asciidoctor"}
"""The packages of programs; the other generators come with `make test-tools`."""

REFERENCES: dict[Callable[[Path, Path], Path], tuple[str, list[str], list[str]]] = {
    doxygen: (
        "cpp",
        [
            "Lamp::Lamp(int oil)",
            "void Lamp::ignite(int seconds)",
            "void Lamp::ignite(int seconds, Flame flame)",
            "double Lamp::reach() const",
            "void Lamp::snuff()",
            "virtual double Light::reach() const",
            "template<typename T > std::size_t Rack< T >::hang(const T & thing)",
            "#define LAMP_LONGEST_WICK 80",
            "enum class Flame",
            "std::string trim(int millimetres)",
        ],
        ["/", "classLamp.html", "classLight.html", "classRack.html", "lamp_8h.html"],
    ),
    javadoc: (
        "java",
        [
            "package com.lamp",
            "public enum Flame extends Enum<Flame>",
            "public static final Flame LOW",
            "public static final Flame HIGH",
            "public static Flame[] values()",
            "public static Flame valueOf(String name)",
            "public class Lamp extends Light",
            "public Lamp(int oil)",
            "public void ignite(int seconds)",
            "public void ignite(int seconds, Flame flame)",
            "public double reach()",
            "public String engrave(String name)",
            "@Deprecated public void snuff()",
            "public abstract class Light extends Object",
            "public static final int BRIGHTEST",
            "protected Light()",
            "public abstract double reach()",
            "public interface Rack<T extends Light>",
            "int hang(T thing)",
            "List<T> take(List<? extends Number> passed)",
        ],
        [],
    ),
    cargo: (
        "rust",
        [
            "pub const LONGEST_WICK: u32 = 80;",
            "pub enum Flame {",
            "pub fn polish(lamps: &mut [Lamp]) -> Result<(), String>",
            "pub struct Lamp {",
            "oil: u32",
            "pub fn new(oil: u32) -> Self",
            "pub fn ignite(&self, seconds: u32, flame: Flame) -> f64",
            "pub fn snuff(&self)",
            "fn reach(&self) -> f64",
            "fn reach(&self) -> f64",
            "pub struct Rack<T: Light> {",
            "things: Vec<T>",
            "pub fn hang(&mut self, thing: T) -> usize",
            "pub trait Light {",
            "pub fn trim(millimetres: u32) -> u32",
        ],
        ["lamp/enum.Flame.html#variant.Low", "lamp/enum.Flame.html#variant.High", "lamp/index.html", "wick/index.html"],
    ),
    pdoc: (
        "python",
        [
            "LONGEST_WICK: int = 80",
            "class Flame(enum.Enum)",
            "LOW = <Flame.LOW: 'low'>",
            "HIGH = <Flame.HIGH: 'high'>",
            "class Light",
            "def reach(self) -> float",
            "def reach(self) -> float",
            "class Lamp(Light)",
            "Lamp(oil: int)",
            "oil",
            "def ignite(self, seconds: int, flame: Flame = <Flame.LOW: 'low'>) -> float",
            "is_empty: bool",
            "class Rack(typing.Generic[~T])",
            "def hang(self, thing: ~T) -> int",
            "def trim(millimetres: int) -> str",
        ],
        ["lamp.html"],
    ),
    sphinx: (
        "python",
        [
            "lamp.LONGEST_WICK: int = 80",
            "class lamp.Flame(value)",
            "LOW = 'low'",
            "HIGH = 'high'",
            "class lamp.Light",
            "reach() \u2192 float",
            "reach() \u2192 float",
            "class lamp.Lamp(oil: int)",
            "ignite(seconds: int, flame: Flame = Flame.LOW) \u2192 float",
            "property is_empty: bool",
            "class lamp.Rack",
            "hang(thing: T) \u2192 int",
            "lamp.trim(millimetres: int) \u2192 str",
        ],
        ["index.html#module-lamp"],
    ),
    typedoc: (
        "typescript",
        [
            "new Lamp(oil: number): Lamp",
            "oil: number",
            "ignite(seconds: number): number",
            "ignite(seconds: number, flame: Flame): number",
            "reach(): number",
            "reach(): number",
            "new Light(): Light",
            'name: string = ""',
            "engrave(name: string): this",
            "new Rack<T extends Light>(options?: RackOptions<T>): Rack<T>",
            "hang(thing: T): number",
            'High: "high"',
            'Low: "low"',
            "trim(length: Wick): string",
            "interface RackOptions<T extends Light> {",
            "first?: T[]",
            'Wick: number | "whole"',
            "LONGEST_WICK: Wick = 80",
        ],
        ["classes/Lamp.html", "classes/Light.html", "classes/Rack.html", "enums/Flame.html", "index.html"],
    ),
    asciidoctor: (
        "asciidoc",
        ["void ignite(int seconds)", "void snuff()", "String trim(int millimetres)", "void dry()"],
        ["/", "/#flame", "/#lamp"],
    ),
}
"""The folder of each generator's source, the signatures, and the addresses of passages about a page or its type."""


@pytest.mark.parametrize("build", REFERENCES, ids=lambda build: build.__name__)
def test_entries_are_passages(build: Callable[[Path, Path], Path], tmp_path: Path) -> None:
    if build in DEBIAN and shutil.which(build.__name__) is None:
        pytest.skip(f"needs {build.__name__}: `apt-get install {DEBIAN[build]}`")
    name, signatures, others = REFERENCES[build]
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(SAMPLES / name, source)
    out.mkdir()
    folder = build(source, out)
    pages = [each for each in open_site(folder, SiteOptions(SITE)).read() if isinstance(each, Page)]
    chunks = list(cut(pages))
    told = [[line for line in chunk.text.splitlines() if line.strip("`") in signatures] for chunk in chunks]
    assert Counter(line.strip("`") for lines in told for line in lines) == Counter(signatures)
    assert sorted(chunk.url for chunk, lines in zip(chunks, told, strict=True) if not lines) == sorted(
        SITE + path.removeprefix("/") for path in others
    )
    for chunk in chunks:
        _, sign, anchor = chunk.url.partition("#")
        assert re.fullmatch(r"[^\s\"<>]*", anchor)
        file = next(each for each in (f"{chunk.path}.html", f"{chunk.path}/index.html") if (folder / each).exists())
        ids = html.select(html.parse((folder / file).read_bytes()), "[id], [name]")
        named = {html.attribute(node, each) for node in ids for each in ("id", "name")}
        assert not sign or unquote(anchor) in named
    lit = next(chunk.text for chunk in chunks if "ignite" in chunk.headings[-1])
    assert "after a delay" in lit
    assert ("has no oil" in lit) == (build in (doxygen, javadoc, cargo, typedoc))
    assert len({chunk.url for chunk in chunks}) == len(chunks)
