"""Writes the generated parts of the docs: `python docs/generate.py`. `tests/test_docs.py` compares them.

The list of files in `architecture.md` is the first paragraph of each module's docstring, `commands.md` is made of the
options of the commands and the tables of options in `stages/` of those of the stages, so that they can't say different
things.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from curate.cli import COMMANDS, EXIT_STATUS, cli
from curate.commands.answers import ANSWERS
from curate.config.file import PARTS as CONFIG
from curate.config.file import parse_config
from curate.config.recipes import names, recipe
from curate.output import meanings, schema
from curate.plug_ins.options import options
from curate.plug_ins.registry import installed, stage_class

ROOT = Path(__file__).parents[1]
PACKAGES = ("curate", "stages", "scale")
BEGIN, END = "<!-- {}: written by docs/generate.py -->", "<!-- end of {} -->"
BARE = {"input": "none.jsonl", "output": "none", "stages": ["exact_dedup"]}


def summary(path: Path) -> str:
    """The first paragraph of a module's docstring, as one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not docstring:
        raise SystemExit(f"{path.relative_to(ROOT)} has no docstring; its first line is its entry in the docs")
    return " ".join(docstring.split("\n\n")[0].split())


def modules(root: Path = ROOT) -> list[Path]:
    """All Python files of the three packages, a folder's own `__init__.py` before its files."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def listing() -> str:
    """One heading a folder and one line a file."""
    folders: dict[Path, list[Path]] = {}
    for path in modules():
        folders.setdefault(path.parent.relative_to(ROOT), []).append(path)
    lines = []
    for folder in sorted(folders, key=lambda folder: (PACKAGES.index(folder.parts[0]), folder)):
        lines += ["", f"### `{folder}/`", ""]
        lines += [f"- `{path.relative_to(ROOT)}`: {summary(path)}" for path in folders[folder]]
    return "\n".join(lines).strip()


def with_part(page: Path, name: str, content: str) -> str:
    """A page with one of its generated parts renewed."""
    text, begin, end = page.read_text(encoding="utf-8"), BEGIN.format(name), END.format(name)
    part = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if len(part.findall(text)) != 1:
        raise SystemExit(f"{page.name} needs one '{begin}' and one '{end}' after it")
    return part.sub(lambda _: f"{begin}\n{content}\n{end}", text)


def exit_status() -> str:
    """The table of exit statuses."""
    rows = [f"| {code} | {meaning} |" for code, meaning in EXIT_STATUS.items()]
    return "\n".join(["| status | meaning |", "|---:|---|", *rows])


HEAD = """# Commands

What `--help` tells, for every command. Written by `docs/generate.py` from the code; a test holds it current.

## Exit status

{status}

A mistake is one sentence on standard error that names the place and the way out. Summaries go to standard output,
progress and warnings to standard error.

On a terminal, tables and sentences take its width: names go on in the next line, addresses are cut in the middle (`…`),
numbers never, and columns that still do not fit follow below. What dropped a page, broken limits and alarms are
coloured; `NO_COLOR`, `CLICOLOR=0` or `TERM=dumb` turn that off, `FORCE_COLOR` or `CLICOLOR_FORCE` on, also for a pipe.
A pipe or file gets everything at full width.

`eval "$(curate completion bash)"` in the shell's start-up file makes bash complete commands and options, and what
they want: configs and recipes, folders of finished runs, stages, limits, the reasons for which a run dropped pages,
formats of exports, names of GPUs. zsh and fish have the same.
"""


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command, or the commands of a group, by their full names."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        found = command.get_command(context, word)
        if found is not None:
            yield from leaves(f"{name} {word}", found)


def option_row(option: click.Option) -> str:
    """One row of a command's table of options."""
    names = ", ".join(option.opts)
    if not option.is_flag:
        kind = option.type
        value = "\\|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else kind.name.split()[0].upper()
        names += f" {option.metavar or value}"
    meaning = option.help or ""
    if option.show_default and isinstance(option.default, str | int | float):
        meaning += f" Default: {option.default}."
    return f"| `{names}` | {meaning.strip()}{' Required.' if option.required else ''} |"


def answer_part(name: str) -> list[str]:
    """The keys of what `--json` prints, for a command of `curate`."""
    words = name.split()[1:]
    answer = ANSWERS.get(" ".join(words)) or ANSWERS.get(words[0])
    if answer is None:
        return []
    rows = [f"| `{key}` | {meaning} |" for key, meaning in answer.keys.items()]
    return [f"`--json` prints {answer.of}:", "\n".join(["| key | |", "|---|---|", *rows])]


def command_section(name: str, command: click.Command) -> str:
    """A command: how it is called, what it does, its options, its examples."""
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    names = [(a.name or "").upper() for a in arguments]
    words = [a.metavar or (f"[{n}]..." if a.nargs < 0 else n) for a, n in zip(arguments, names, strict=True)]
    words = [word if a.required or "[" in word else f"[{word}]" for a, word in zip(arguments, words, strict=True)]
    called = " ".join([name, *words])
    rows = [option_row(option) for option in command.params if isinstance(option, click.Option) and not option.hidden]
    example = (command.epilog or "").partition("Example:")[2].rstrip()
    parts = [f"## `{called}`", inspect.cleandoc(command.help or "").replace("\b\n", "")]
    parts += ["\n".join(["| option | |", "|---|---|", *rows])] if rows else []
    parts += answer_part(name)
    parts += [f"```\n{inspect.cleandoc(example)}\n```"] if example else []
    return "\n\n".join(parts) + "\n"


def command_page() -> str:
    """`commands.md`: exit status, then each command."""
    parts = [HEAD.format(status=exit_status())]
    context = click.Context(cli)
    for word, module in COMMANDS.items():
        command = cli.get_command(context, word) if find_spec(module) else None
        for name, leaf in leaves(f"curate {word}", command) if command else ():
            parts.append(command_section(name, leaf))
    return "\n".join(parts)


def options_table(name: str, cls: type[Any]) -> str:
    """A stage's options as its own class tells them."""
    rows = [
        f"| `{option.name}` | {'required' if option.required else f'`{option.default_text}`'} | {option.allowed} "
        f"| {option.meaning} |".replace("``", "` `")
        for option in options(name, cls)
    ]
    return "\n".join(["| option | default | may be | meaning |", "|---|---|---|---|", *rows])


CONFIG_HEAD = """# The config file

Every key, with its default, what may be given and its meaning. The tables are written by `docs/generate.py` from the
code; `curate stages --config` prints them, and `curate schema` gives them to editors. The options of a stage stand on
its own page, and `curate stages NAME` tells them.

A config is YAML 1.2 (`no` is a text, `1_000` is not a number) or JSON. Relative paths start from the working directory.

```yaml
input: {web: crawl/*.warc.gz, own: {path: texts/*.jsonl.gz, text: body, columns: [score]}}
output: out/
stages: [extract, {language: {keep: [en]}}, gopher, exact_dedup, near_dedup]
write: {order: shuffle}
```

`input` is a path, a list of paths, or names of sources with a path, a list or the keys below each. The order of sources
is that of the crawl: of copies the first stays. `output` is a folder or a URL. `stages` is a list of names, each alone
or with its options: document stages first, then those that compare documents.
"""


def config_page() -> str:
    """`config.md`: every key of a config, by the part that it stands in."""
    parts = [CONFIG_HEAD]
    for title, (cls, about) in CONFIG.items():
        parts.append(f"## {title}\n\n{about}\n\n{options_table('', cls)}\n")
    return "\n".join(parts)


OUTPUT_HEAD = """# What a run writes

The columns of its Parquet files and the keys of its JSON files. Written by `docs/generate.py` from the code.

`shards/` and `ledger/` together hold each document that was read, once: read = kept + dropped. Files are Parquet, and
all files of a folder have the same columns.
"""
OUTPUT_FOLDERS = {
    "shards": "The kept documents. The columns below come first; then each column that a source or a stage adds. WARC "
    "files add `digest_mismatch` (the record's digest contradicts its bytes; null where none had to be checked) and "
    "`length_mismatch` (the record's Content-Length was wrong). Under `write: {by: language}` the files lie in a "
    "folder for each value, which tells that column instead of the files: "
    "[inside.md](inside.md#read-it-with-something-else).",
    "ledger": "The dropped documents, with the reason.",
    "measures": "What the rule stages measured of each document that reached one. After the columns below comes a "
    "column `stage.measure` for each measure, which the pages of the stages explain.",
    "samples": "Some dropped documents with their texts, for each reason.",
    "cuts": "What stages such as `line_dedup` cut out of texts.",
}


OUTPUT_REASONS = """## Reasons of the program itself

Those of `caps` are in [config.md](config.md#caps), those of a stage on its page. A page on which a stage raised an
error is entered as `failed`.
"""
OUTPUT_KEYS = """## `stats.json`, `manifest.json`, `timings.json`

The three files are `Stats`, `Manifest` and `Timings`; the others are parts of them. Numbers are whole unless said
otherwise.
"""


def columns_table(folder: str) -> str:
    """The columns of one kind of file, with their types and meanings. KeyError for one without a meaning."""
    fields = {
        "shards": {**schema.FINEWEB, **schema.PLACE},
        "ledger": {column.name: column.type for column in schema.LEDGER},
        "measures": {column.name: column.type for column in schema.measures_schema(parse_config(BARE))},
        "samples": {column.name: column.type for column in schema.SAMPLES},
        "cuts": {column.name: column.type for column in schema.CUTS},
    }[folder]
    descriptions = meanings.COLUMNS
    rows = [
        f"| `{name}` | {kind} | {descriptions.get(f'{folder}.{name}') or descriptions[name]} |"
        for name, kind in fields.items()
    ]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])


def facts() -> str:
    """The classes of `curate/output/facts.py`: what each says of itself, and its keys with what stands beside them."""
    source = (ROOT / "curate" / "output" / "facts.py").read_text(encoding="utf-8")
    lines, parts = source.splitlines(), []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        keys = [
            (line, ast.unparse(line.target), ast.unparse(line.annotation))
            for line in node.body
            if isinstance(line, ast.AnnAssign)
        ]
        beside = [lines[line.lineno - 1].partition("  # ")[2] for line, _, _ in keys]
        rows = [
            f"| `{key}` | `{kind}` | {note} |".replace("|  |", "| |")
            for (_, key, kind), note in zip(keys, beside, strict=True)
        ]
        table = "\n".join(["| key | value | |", "|---|---|---|", *rows]).replace(" | None`", " or None`")
        base = ast.unparse(node.bases[0])
        also = "" if base == "TypedDict" else f" It has the keys of `{base}`, too."
        parts.append(f"### `{node.name}`\n\n{' '.join((ast.get_docstring(node) or '').split())}{also}\n\n{table}\n")
    return "\n".join(parts)


def output_page() -> str:
    """`output.md`: columns, reasons of the program itself, keys."""
    parts = [OUTPUT_HEAD]
    parts += [f"## `{name}/`\n\n{about}\n\n{columns_table(name)}\n" for name, about in OUTPUT_FOLDERS.items()]
    rows = [f"| `read` | `{reason}` | {meaning} |" for reason, meaning in meanings.READ.items()]
    rows += [f"| `guard` | `{reason}` | {meaning} |" for reason, meaning in meanings.GUARD.items()]
    parts += [OUTPUT_REASONS, "\n".join(["| stage | reason | when |", "|---|---|---|", *rows]) + "\n", OUTPUT_KEYS]
    return "\n".join([*parts, facts()])


def stage_pages() -> dict[Path, str]:
    """The page of each stage that has options, with their table."""
    found = {}
    for name in installed():
        page, cls = ROOT / "docs" / "stages" / f"{name}.md", stage_class(name)
        if page.exists() and options(name, cls):
            found[page] = with_part(page, "options", options_table(name, cls))
    return found


def recipes_table() -> str:
    """One row a recipe: what it is, its stages, what it needs and does not bring."""
    rows = []
    for name in names():
        one = recipe(name)
        needs = "; ".join(f"`{need.stage}`: {need.comment}" for need in one.needs).replace("|", "\\|")
        rows.append(f"| `{name}` | {one.about} | {', '.join(f'`{stage}`' for stage in one.stages)} | {needs} |")
    return "\n".join(["| recipe | what it is | stages | needs |", "|---|---|---|---|", *rows])


def generated() -> dict[Path, str]:
    """Every page with a generated part, as it should be."""
    docs = ROOT / "docs"
    return {
        docs / "architecture.md": with_part(docs / "architecture.md", "files", listing()),
        docs / "reliability.md": with_part(docs / "reliability.md", "exit status", exit_status()),
        docs / "commands.md": command_page(),
        docs / "config.md": config_page(),
        docs / "output.md": output_page(),
        docs / "recipes.md": with_part(docs / "recipes.md", "recipes", recipes_table()),
        **stage_pages(),
    }


if __name__ == "__main__":
    for page, text in generated().items():
        page.write_text(text, encoding="utf-8", newline="\n")
