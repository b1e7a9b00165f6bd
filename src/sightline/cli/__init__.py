"""The command line: thin over the Python API, one file per command. `--help` never waits for torch."""

from __future__ import annotations

import io
import os
import sys

import typer

from sightline.cli.bench import bench
from sightline.cli.corpus import corpus
from sightline.cli.demo import demo
from sightline.cli.distill import distill
from sightline.cli.doctor import doctor
from sightline.cli.evaluate import evaluate
from sightline.cli.export import export
from sightline.cli.look import align, look
from sightline.cli.score import score
from sightline.cli.shortlist import shortlist
from sightline.cli.train import train
from sightline.cli.translate import translate
from sightline.errors import UserError

# A line for each paragraph: the help keeps line breaks.
HELP = (
    "Trains attention models for text, runs them fast on ordinary computers, and shows what they look at.\n\n"
    "Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 something to mend (the message "
    "says what), 2 a command that cannot be understood, 130 stopped by you (a training has saved and goes on with the same "
    "command)."
)

app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)
for command in (demo, train, translate, evaluate, score, look, align, shortlist, export, corpus, distill, bench, doctor):
    app.command()(command)


@app.callback(invoke_without_command=True)
def sightline(
    version: bool = typer.Option(False, "--version", help="Say which version this is, and leave."),
) -> None:
    if version:
        from sightline import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command that was typed."""
    # Threads that wait for one another sleep instead of spinning: beside any other program, spinning ones are several times
    # slower. It must be said before torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the terminal's language: files that we write can be read anywhere
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        app()
    except UserError as error:
        sys.exit(f"sightline: {error}")
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written to
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(f"sightline: {where}{error.strerror or error}; mend that and start the same command again")
