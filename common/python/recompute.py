#!/usr/bin/env python3
"""Recomputes a lab's run in Python's PyTorch, in one process and from the seed alone, and compares it with what each
rank saved.

    ./lab run a4 --save saved
    python3 common/python/recompute.py a4 saved

Exit code: 0 all is equal; 1 something differs; 2 usage, or files that cannot be used."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

sys.dont_write_bytecode = True  # nothing is left in the source tree

try:
    from read_saved import BadFile
    from saved_run import Case, Rule, Run, Verdict, compare, load_run
except ImportError as error:
    print(f"recompute.py: needs numpy and PyTorch (Debian: python3-numpy python3-torch): {error}", file=sys.stderr)
    sys.exit(2)

MOST_SHOWN = 3  # differences of a case


class Parser(argparse.ArgumentParser):
    """With usage errors of one line."""

    def error(self, message: str) -> NoReturn:
        print(f"recompute.py: {message}; {self.format_usage().strip()}", file=sys.stderr)
        sys.exit(2)


def labs_of_tree() -> dict[str, str]:
    """Short names and folders of the labs next to this program that can be recomputed: {"a4": "a4_data_tensor"}."""
    here = Path(__file__).resolve().parent
    folders = sorted(rubric.parent.name for rubric in here.parents[1].glob("*/rubric.toml"))
    shorts = {folder.partition("_")[0]: folder for folder in folders}
    return {short: folder for short, folder in shorts.items() if (here / "labs" / f"{short.lower()}.py").exists()}


def parsed(arguments: list[str], labs: dict[str, str]) -> argparse.Namespace:
    parser = Parser(usage="recompute.py LAB DIR [CASE...] [--nproc P] [--seed S] [--train-images N]",
                    description="Recomputes what a lab has saved, in one process, and compares.")
    parser.add_argument("lab", metavar="LAB", choices=[*labs, *labs.values()], help=", ".join(labs))
    parser.add_argument("folder", metavar="DIR", help="the folder of the lab's --save")
    parser.add_argument("cases", metavar="CASE", nargs="*", help="only these, such as DataParallel (default: all)")
    parser.add_argument("--nproc", metavar="P", type=int, help="the run's ranks (default: as many as there are files)")
    parser.add_argument("--seed", metavar="S", type=int, help="the run's --seed (default: the lab's)")
    parser.add_argument("--train-images", metavar="N", type=int, default=1536, help="of optC's run (default: 1536)")
    options = parser.parse_intermixed_args(arguments)
    for name, number in (("--nproc", options.nproc), ("--train-images", options.train_images)):
        if number is not None and number < 1:
            parser.error(f"argument {name}: expected 1 or more, got {number}")
    options.lab = options.lab.partition("_")[0]
    return options


def rules_of_cases(run: Run, names: list[str], module: ModuleType) -> dict[str, Rule]:
    """How each case is recomputed. Raises BadFile: one is not saved, or not known."""
    chosen = {}
    for name in names or sorted(run.cases):
        run.case(name)
        rule = next((rule for rule in module.RULES if re.fullmatch(rule.names, name)), None)
        if rule is None:
            raise BadFile(f"'{name}' has no rule in {module.__name__.replace('.', '/')}.py, which knows the cases of a "
                          "plain run of the lab")
        chosen[name] = rule
    if not chosen:
        raise BadFile("the files have no tensors")
    return chosen


def verdict_of(case: Case, rule: Rule) -> Verdict:
    try:
        return compare(case, rule)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return Verdict(0, 0, 0, 0, [f"cannot be recomputed at the sizes that are saved: {str(error).splitlines()[0]}"])


def show(name: str, verdict: Verdict) -> None:
    allowed = f"(allowed {verdict.allowed:.0e})" if verdict.allowed > 0 else "(to the bit)"
    word = "DIFFERS" if verdict.wrong else "equal"
    print(f"{word:8} {name:38} {verdict.num_tensors:4} tensors; drawn: off by {verdict.drawn:.1e}; computed: off by "
          f"{verdict.computed:.1e} {allowed}", flush=True)
    for sentence in verdict.wrong[:MOST_SHOWN]:
        print(f"         {sentence}")
    if len(verdict.wrong) > MOST_SHOWN:
        print(f"         ... and {len(verdict.wrong) - MOST_SHOWN} more")


def main(arguments: list[str]) -> int:
    labs = labs_of_tree()
    options = parsed(arguments, labs)
    lab, module = labs[options.lab], importlib.import_module(f"labs.{options.lab.lower()}")
    seed = module.SEED if options.seed is None else options.seed
    try:
        run = load_run(lab, options.folder, options.nproc, seed, options.train_images)
        verdicts = []
        for name, rule in rules_of_cases(run, options.cases, module).items():
            verdicts.append(verdict_of(run.case(name), rule))
            show(name, verdicts[-1])
    except BadFile as error:
        print(f"recompute.py: {error}", file=sys.stderr)
        return 2
    num_wrong = sum(bool(verdict.wrong) for verdict in verdicts)
    num_tensors = sum(verdict.num_tensors for verdict in verdicts)
    print(f"{lab}, {run.num_ranks} ranks, seed {seed}: {num_tensors} tensors of {len(verdicts)} cases: "
          + (f"{num_wrong} cases differ" if num_wrong else "all equal"))
    return 1 if num_wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # such as of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
