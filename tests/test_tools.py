"""docs/tools.md: every program on the page runs, and prints what stands below it."""

import re

import pytest
import torch

from tests.test_readme import ROOT, same

PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^## (\w+).*?^```python\n(.*?)^```\n\n```text\n(.*?)^```", PAGE, flags=re.M | re.S)


@pytest.mark.parametrize(("code", "printed"), [each[1:] for each in PROGRAMS], ids=[each[0] for each in PROGRAMS])
def test_a_program_prints_what_the_page_says(code, printed, tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # which else wait for each other beside other processes
    exec(compile(code, "docs/tools.md", "exec"), {"__name__": "tools"})
    torch.set_num_threads(threads)
    lines = capsys.readouterr().out.splitlines()
    same(printed, "\n".join(line for line in lines if not line.startswith("{")))  # a trainer's log
    assert len(code.splitlines()) <= 25
