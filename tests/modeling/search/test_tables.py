"""Tables for people, and statements from files."""

import pandas as pd
import pytest

from modeling.search.tables import check_output, read_statements, show, write_table

FRAME = pd.DataFrame({"text": ["a | b", "long " * 5], "share": [0.5, float("nan")], "rows": [1200, 3]})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_written_is_read_back(tmp_path, ending):
    path = check_output(tmp_path / "new" / f"a.{ending}")
    write_table(FRAME, path)
    read = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    pd.testing.assert_frame_equal(read, FRAME)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_another_ending_is_refused_before_any_work():
    assert check_output(None) is None
    with pytest.raises(ValueError, match=r"has to end in \.csv or \.parquet"):
        check_output("hits.xlsx")


def test_show():
    assert show(FRAME, width=12).splitlines() == [
        "| text         | share | rows  |",
        "| ------------ | ----- | ----- |",
        "| a \\| b       | 0.500 | 1,200 |",
        "| long long... |       | 3     |",
    ]


def test_statements_from_a_text_file_or_a_table(tmp_path):
    (tmp_path / "a.txt").write_text("Trams should be free.\n\n  Trams cost too much. \n", encoding="utf-8-sig")
    assert read_statements(tmp_path / "a.txt") == [("Trams should be free.", None), ("Trams cost too much.", None)]
    (tmp_path / "a.csv").write_text('statement,target\n"Free trams, now.",G\nNo trams.,\n')
    assert read_statements(tmp_path / "a.csv") == [("Free trams, now.", "G"), ("No trams.", None)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "\n \n", "holds no statement"),
        ("b.txt", None, "cannot be read"),
        ("a.csv", "text\nx\n", "no column 'statement'; it has text"),
        ("a.csv", "statement,target\nFree trams, now.,G\n", "line 2: wrong number of columns"),
    ],
)
def test_files_without_statements_are_errors(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        read_statements(tmp_path / name)
