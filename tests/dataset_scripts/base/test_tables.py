"""Tables for people: written, shown, and harmless to whoever opens them."""

import pandas as pd
import pytest

from dataset_scripts.base.tables import check_output, markdown, write_table


def test_what_a_spreadsheet_would_compute_is_text(tmp_path):
    texts = ['=HYPERLINK("http://x","y")', "+1", "-1+2", "@SUM(A1)", "fine = fine", None]
    frame = pd.DataFrame({"text": texts, "group": pd.Categorical(texts), "n": [-1.5, -2, 3, 4, 5, 6], "=n": 1})
    write_table(frame, check_output(tmp_path / "new" / "a.csv"))
    read = pd.read_csv(tmp_path / "new" / "a.csv")
    for column in ("text", "group"):
        assert read[column].tolist()[:5] == [f"'{text}" for text in texts[:4]] + ["fine = fine"]
    assert read["n"].tolist() == frame["n"].tolist()  # numbers stay numbers
    assert read.columns[-1] == "'=n"
    write_table(frame, tmp_path / "a.parquet")
    assert pd.read_parquet(tmp_path / "a.parquet")["text"].tolist()[:5] == texts[:5]


def test_a_table_is_aligned():
    frame = pd.DataFrame({"text": ["a | b", "long " * 5], "share": [0.5, float("nan")], "rows": [1200, 3]})
    assert markdown(frame, width=12).splitlines() == [
        "| text         | share | rows  |",
        "| ------------ | ----- | ----- |",
        "| a \\| b       | 0.500 | 1,200 |",
        "| long long... |       | 3     |",
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [("hits.xlsx", r"has to end in \.csv or \.parquet"), ("{file}/a.csv", "file is a file and no folder")],
)
def test_where_nothing_can_be_written_is_said_before_any_work(tmp_path, path, message):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=message):
        check_output(path.format(file=tmp_path / "file"))
