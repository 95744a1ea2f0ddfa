"""``docs/configuration.md`` from the definition: ``python -m findling.config.docs > docs/configuration.md``."""

from __future__ import annotations

import sys
from typing import Final

from findling.config.files import CONFIG_VARIABLE, PROJECT_FILES, USER_FILES
from findling.config.option import ANY, Option, in_snake_case
from findling.config.table import EMBEDDING_KEY, GROUPS, OPTIONS, RERANK_KEY
from findling.config.values import allowed, shown

_USER_FOLDER: Final = "~/.config/findling/"

_BEGINNING: Final = """\
# Configuration

<!-- Made by `python -m findling.config.docs`; a test compares. Change src/findling/config/options.py instead. -->

findling needs no configuration. What can be decided is listed here, with its default.

    findling config [PATH]          every option, its value, and where it came from
    findling config --json [PATH]   the same for programs

## Where it is read

The first of these that sets an option decides it:

{order}

Every file may be TOML or JSON, by the end of its name, and need not exist. Rebuilding an index never changes one. A
server reads them when it is first asked something: start it anew after a change.

    # findling.toml
    [semantic]
    mode = "hybrid"

    [index]
    exclude = ["vendor/", "*.min.js"]

- An unknown option is reported, with the nearest name, and ignored.
- A value of the wrong type, or out of its bounds, is an error that names the key, the file and the line. Where
  "clamped" stands below, the nearest bound is used instead, with a warning.
- Each name may be written in `snake_case` or `camelCase`; further names of an option are listed with it.

## What a project's own file may not decide

A repository that you cloned must not decide where your code goes. What its files say beyond this is reported and
ignored; your own file, `--config`, the environment and the command line may say anything.

| option | a project's own file |
|---|---|
{held_back}

## Which embedder is used

The first that applies:

1. the provider that is named (`semantic.embedding.provider`);
2. Ollama, if a file says `semantic.model`, `semantic.ollamaUrl` or `semantic.ollama_url`: in that file they stand for
   naming it. In the environment and on the command line they do so only where no provider is named;
3. the model that the index was made with;
4. the bundled model;
5. an Ollama that answers on this machine.

The one that applies computes the vectors. Where it cannot, that is reported, and search goes on by text and names.

So starting or stopping Ollama never changes what an index was made with. A model that is named and not there is
reported, and never replaced by another. `semantic.embedding.model` without a provider is a local model's name.

External services need both gates, `semantic.external_provider_enabled` and
`semantic.allow_code_payload_to_external`; until then a local model is used, nothing is sent and no connection is
opened. Documents are never sent.

## Which files are indexed

In a git repository those that git tracks, and those that it neither tracks nor ignores; elsewhere all that no
`.gitignore` names. The options are below (`index`); `findling why FILE` names the rule that leaves a file out.

`.findlingignore` and `.ignore` are written like a `.gitignore` and may stand in any folder; of two that disagree in
one folder `.findlingignore` decides.

- What they name is left out, even where git tracks it. At a commit (`--ref`) its own files of these names count.
- A line with `!` takes back what one of the two says. In a git repository it does not take back what git itself
  ignores; `git add -f` does. Outside of git it takes back lines of a `.gitignore` too.
- They bring in neither hidden files, nor folders of installed packages such as `node_modules`, nor secrets. The first
  two are indexed where git tracks them.

Generated and vendored files are indexed, and `findling why` shows the mark. A file whose first lines say that it is
generated stands a little lower in the order, unless the question asks for generated code; that a path looks generated
or vendored (`gen/`, `vendor/`) changes nothing. To leave such files out, name them in `.findlingignore`.

Secrets are known by the names of files (`.env`, `id_rsa`, `*.pem`) and by two kinds of content: private keys (in code
and documents only where they are most of the file), and tokens or passwords in files that are known for them, such as
`.npmrc` and `.pypirc`. A password in other code or configuration is not recognised: such a file is indexed.

`--ref` with the name of the branch that is checked out means the folder on disk, with what is not committed yet.
`HEAD`, a tag, a commit id or another branch means what git has under it.

## Keys

The keys of external services are read from the environment alone, and are shown nowhere:

| variable | for |
|---|---|
| `{embedding_key}` | the external embedder (Voyage, OpenAI) |
| `{rerank_key}` | the external reranker (Cohere, Voyage) |

## Environment variables

An empty variable is not set.

| variable | option |
|---|---|
{variables}
"""


def configuration_page() -> str:
    """The text of the page."""
    order = [
        "options of the command line",
        "environment variables (below)",
        f"the file that `--config FILE` names, else `{CONFIG_VARIABLE}`",
        *(f"`{name}` in the project" for name in PROJECT_FILES),
        *(f"`{_USER_FOLDER}{name}` (or below `XDG_CONFIG_HOME`)" for name in USER_FILES),
        "the default",
    ]
    variables = [(CONFIG_VARIABLE, "a configuration file")]
    variables += [(option.environment, f"`{option.key}`") for option in OPTIONS.values() if option.environment]
    held_back = [
        f"| `{option.key}` | {option.project.words} |" for option in OPTIONS.values() if option.project is not ANY
    ]
    beginning = _BEGINNING.format(
        order="\n".join(f"{number}. {words}" for number, words in enumerate(order, 1)),
        held_back="\n".join(held_back),
        embedding_key=EMBEDDING_KEY,
        rerank_key=RERANK_KEY,
        variables="\n".join(f"| `{name}` | {what} |" for name, what in variables),
    )
    return "\n".join([beginning, *(_section(group.name, group.section) for group in GROUPS)])


def _section(name: str, section: str) -> str:
    about = next(group.made.__doc__ or "" for group in GROUPS if group.name == name)
    first = about.split("\n\n")[0].strip().replace("``", "`")
    lines = [f"## `{section}`", "", first, "", "| option | default | values | what it does |", "|---|---|---|---|"]
    lines += [_row(option, section) for option in OPTIONS.values() if option.attribute[0] == name]
    return "\n".join([*lines, ""])


def _row(option: Option, section: str) -> str:
    name = f"`{option.key.removeprefix(f'{section}.')}`"
    others = [
        spelling for spelling in option.spellings if in_snake_case(spelling) != spelling or spelling != option.key
    ]
    default = f"`{shown(option.default)}`" if option.default is not None else option.unset
    values = allowed(option) + (", clamped" if option.clamped else "")
    values = values if not option.choices else f"`{values}`"
    help = option.help + (f" Not used: {option.unused}." if option.unused else "")
    if others:
        help += f" Also: {', '.join(f'`{spelling}`' for spelling in others)}."
    return f"| {name} | {default} | {values} | {help} |"


if __name__ == "__main__":
    sys.stdout.write(configuration_page())
