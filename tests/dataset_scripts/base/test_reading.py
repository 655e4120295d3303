"""The one reader: members of archives, lines, tables and records; what is damaged is refused, bad rows are counted."""

import gzip
import lzma
import random

import pytest

from dataset_scripts.base.reading import Dropped, find_release, members, parse_score, read_file

ARCHIVES = ["a.zip", "a.tar", "a.tgz", "a.tar.xz", "a.tar.bz2"]


@pytest.mark.parametrize("name", ARCHIVES)
def test_members_and_an_archive_that_is_cut_off(name, write):
    path = write(name, {"deep/one.txt": "1", "two.txt.gz": "2", ".hidden": "3"})
    assert {member.name: member.text(Dropped()) for member in members([path])} == {"deep/one.txt": "1", "two.txt": "2"}
    assert [member.text(Dropped()) for member in members([path], lambda name: name.endswith("two.txt"))] == ["2"]
    draw = random.Random(1)
    path = write(name, {f"{number}.txt": draw.randbytes(10_000).hex() for number in range(8)})
    whole = path.read_bytes()
    # within a member, at the border of two, and the last byte alone
    for size in (len(whole) // 2, len(whole) // 512 // 2 * 512, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=rf"{name} is cut off.* after \d files .*download it again"):
            for member in members([path]):
                member.text(Dropped())


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress)])
def test_a_compressed_file_that_is_cut_off_is_refused(ending, compress, tmp_path):
    path = tmp_path / f"lines.jsonl.{ending}"
    content = compress(b"".join(b'{"n": %d}\n' % random.Random(n).getrandbits(400) for n in range(500)))
    path.write_bytes(content)
    assert sum(1 for _ in read_file(path).records(Dropped())) == 500
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=rf"lines.jsonl.{ending} is cut off.* after [\d,]+ lines"):
        list(read_file(path).records(Dropped()))
    with pytest.raises(FileNotFoundError):  # an error of the disk stays what it is
        read_file(tmp_path / "none.txt")


def test_lines_in_no_known_encoding_are_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ncaf\xe9\nthree")
    dropped = Dropped()
    assert list(read_file(path).lines(dropped)) == [(1, "one"), (3, "three")]
    assert dropped == {"line: not UTF-8": 1} and dropped.first == {"line: not UTF-8": "a.txt, line 2"}
    assert [line for _, line in read_file(path).lines(Dropped(), otherwise="cp1252")] == ["one", "café", "three"]


def test_tables_with_commas_and_with_tabs_which_know_no_quotes(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n1,"x, ""y""\nz"\n\n1\n1,2,3\n3,4\n')
    dropped = Dropped()
    rows = list(read_file(tmp_path / "a.csv").table(dropped, columns=("a", "b")))
    assert rows == [(3, {"a": "1", "b": 'x, "y"\nz'}), (7, {"a": "3", "b": "4"})]
    assert dropped == {"row: wrong number of columns": 2}
    assert dropped.first == {"row: wrong number of columns": "a.csv, line 5"}
    (tmp_path / "a.tsv").write_text('# a comment\n"x\t1\n')
    rows = read_file(tmp_path / "a.tsv").table(Dropped(), delimiter="\t", header=("t", "n"), comment="#")
    assert list(rows) == [(2, {"t": '"x', "n": "1"})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,label,text\n1,2,3\n", "a.csv, line 1: two columns are named 'text'; rename or remove one of them"),
        ("text,score\n", "a.csv, line 1: no column label; found text, score"),
        ("text\n", "a.csv, line 1: neither a JSON object"),
    ],
)
def test_a_header_that_does_not_do(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        list(read_file(tmp_path / "a.csv").table(Dropped(), columns=("text", "label")))


def test_records_are_json_lines_or_a_table(tmp_path):
    path, dropped = tmp_path / "a.jsonl", Dropped()
    path.write_text('\n{"a": 1}\n[1]\nx\n{"a": 2}\n')
    assert list(read_file(path).records(dropped)) == [(2, {"a": 1}), (5, {"a": 2})]
    assert dropped == {"line: not a JSON object": 2}
    with pytest.raises(ValueError, match=r"a.jsonl, line 3, column \d: not valid JSON"):
        read_file(path).json(list)
    path.write_text("null")
    with pytest.raises(ValueError, match=r"a.jsonl, line 1: expected a list \[...\]"):
        read_file(path).json(list)
    path.write_text("a\tb\n1\t2\n")
    assert list(read_file(path).records(dropped)) == [(2, {"a": "1", "b": "2"})]


def test_find_release(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("b.csv", "deep/a.csv.gz", "deep/b.csv", "c.txt"):
        (tmp_path / name).touch()
    first = [tmp_path / "deep" / "a.csv.gz", tmp_path / "b.csv"]
    assert find_release(tmp_path, [("z.csv", "a.csv"), ("a.csv", "b.csv")], "two files") == first
    with pytest.raises(FileNotFoundError, match=r"lacks y.csv; or z.csv \(plain or .gz\); it needs two files"):
        find_release(tmp_path, [("a.csv", "y.csv"), ("z.csv",)], "two files")


def test_a_score_between_bounds():
    assert [parse_score(text, 1, 5) for text in (" 2.5 ", 5, "0.9", "nan", None)] == [2.5, 5.0, None, None, None]
