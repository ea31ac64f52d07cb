"""Adapters without a trainer: importing is cheap, and a missing or old package gives an error of one line."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib import metadata

import hone.adapters.slime
import hone.adapters.trl
import pytest
from hone.adapters._chat import Chat
from hone.adapters._play import Settings
from hone.adapters._record import Record
from hone.adapters._versions import numbers, require
from hone.errors import InvalidArgument
from hone.types import Closed

from servers import ROOT

TRAINERS = {"datasets", "openenv", "ray", "skyrl_gym", "slime", "torch", "transformers", "trl", "verifiers", "verl"}


def test_importing_hone_brings_in_no_adapter_and_an_adapter_no_trainer() -> None:
    program = f"""
import sys, hone
assert not [name for name in sys.modules if name.startswith("hone.adapters")]
import hone.adapters.slime, hone.adapters.trl
print({TRAINERS!r} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "set()", done.stderr


def test_import_takes_less_than_a_fifth_of_a_second_of_processor_time() -> None:
    program = "import time; start = time.process_time(); import hone; print(time.process_time() - start)"
    took = [float(subprocess.check_output([sys.executable, "-c", program], timeout=60)) for _ in range(5)]
    assert min(took) < 0.2


def test_missing_trainer_raises_one_line() -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        hone.adapters.trl.Environments()
    assert str(caught.value) == "hone.adapters.trl supports trl >= 1.16, < 2; found none: pip install 'trl>=1.16,<2'"


@pytest.mark.parametrize(
    ("adapter", "versions"),
    [
        ("nemo_gym", "nemo-gym >= 0.7, < 0.8"),
        ("openenv", "openenv >= 0.10, < 0.11"),
        ("ray", "ray >= 2.40, < 3"),
        ("skyrl", "skyrl-gym >= 0.4, < 0.5"),
        ("verifiers", "verifiers >= 0.4, < 0.5"),
        ("verl", "verl >= 0.9.1, < 0.10"),
    ],
)
def test_adapter_of_a_missing_or_old_trainer_raises_one_line(
    monkeypatch: pytest.MonkeyPatch, adapter: str, versions: str
) -> None:
    name, wanted = f"hone.adapters.{adapter}", versions.replace(" ", "")
    said = f"{name} supports {versions}; found {{}}: pip install '{wanted}'"
    with pytest.raises(ModuleNotFoundError) as missing:
        importlib.import_module(name)
    assert str(missing.value) == said.format("none")
    monkeypatch.setattr(metadata, "version", lambda _: "0.3.9")
    with pytest.raises(ImportError) as old:
        importlib.import_module(name)
    assert str(old.value) == said.format("0.3.9")


def test_page_and_extras_have_the_adapters_versions() -> None:
    page = (ROOT / "docs/trainers/README.md").read_text().partition("## Versions")[2]
    told = dict(re.findall(r"^\| `(hone\.[\w.]+)` \| ([^|]+) \|", page, re.MULTILINE))
    sources = ROOT / "clients/python/src/hone"
    found: dict[str, list[tuple[str, ...]]] = {}
    for file in [sources / "_gym_forms.py", *(sources / "adapters").glob("[a-z]*.py")]:
        for module, *wanted in re.findall(
            r'require\("([\w.]+)", "([\w-]+)", "([\d.]+)", "([\d.]+)"\)', file.read_text()
        ):
            found.setdefault(module, []).append(tuple(wanted))
    assert set(told) == {*found, "hone.adapters.slime"}
    extras = (ROOT / "clients/python/pyproject.toml").read_text()
    for module, all_wanted in found.items():
        names, (_, low, high) = " and ".join(name for name, _, _ in all_wanted), all_wanted[0]
        assert told[module] == f"{names} ≥ {low}, < {high}"
        assert f'["{all_wanted[0][0]}>={low},<{high}"' in extras
    assert told["hone.adapters.slime"].replace("≥", ">=") in hone.adapters.slime._SUPPORTED


@pytest.mark.parametrize("found", ["1.9.0", "0.24.0", "2.0.0rc1"])
def test_other_version_raises_one_line(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: found)
    with pytest.raises(ImportError) as caught:
        hone.adapters.trl.Rollouts()
    said = f"hone.adapters.trl supports trl >= 1.16, < 2; found {found}: pip install 'trl>=1.16,<2'"
    assert str(caught.value) == said


@pytest.mark.parametrize("found", ["1.16", "1.16.0", "1.20.3.dev0", "1.16.0+local"])
def test_a_supported_version_is_nothing(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: found)
    require("hone.adapters.trl", "trl", "1.16", "2")
    assert numbers("1.16.0.dev1+cpu") == (1, 16, 0)


@pytest.mark.parametrize("retries", [-1, 11, "1", 1.0, True])
def test_retries_that_are_no_small_number_raise_at_once(retries: object) -> None:
    with pytest.raises(InvalidArgument, match="retries: found"):
        Settings.of({"retries": retries})


def test_episode_without_a_turn_scores_zero_and_with_a_fault_has_no_score() -> None:
    record = Record()
    record.finish(Closed(turns=0, returns=[], return_to_date=0.0))
    assert record.score == 0.0
    record.fail("turn 1: unavailable")
    record.fail("a second reason")
    assert record.score is None
    assert record.details()["fault"] == "turn 1: unavailable"
    assert record.details()["reward_valid"] is False
    assert set(record.details()) == set(Record().details())


class Rewriting:
    """A tokenizer whose template drops earlier answers, as some do with thoughts."""

    eos_token_id = 0

    def apply_chat_template(self, messages: list[dict[str, str]], **_: object) -> list[int]:
        return [1, 2, 0] if len(messages) == 2 else [1, 3, 0, 4]


def test_a_template_that_rewrites_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="the chat template changes an answer when a later one follows"):
        Chat(Rewriting()).between([5, 0], [{"role": "user", "content": "feedback"}])


def test_a_template_is_found_out_before_a_model_has_answered() -> None:
    with pytest.raises(ValueError, match="expected a template that keeps answers, such as TRL's training templates"):
        Chat(Rewriting()).check()
    keeps = Rewriting()
    keeps.apply_chat_template = lambda messages, **_: [1, 2, 0, *([] if len(messages) == 2 else [4])]  # type: ignore[method-assign]
    Chat(keeps).check()
