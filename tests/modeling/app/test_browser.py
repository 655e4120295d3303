"""The page as visitors have it: what is shown is what the library computes, of their own texts alone."""

import os

import pandas as pd
import pytest

from modeling.app.page import PAIRS
from modeling.bipolar.search import CounterIndex
from modeling.search import coded, duplicates
from modeling.search.index import Index
from tests.modeling.app.conftest import wait

pytestmark = pytest.mark.browser
FOR, AGAINST = "I support a cap on rents.", "I oppose a cap on rents."
SCRIPT, IMAGE, FORMULA = "<script>alert(1)</script> rents", "<img src=x onerror=alert(2)>", "=cmd|' /C calc'!A0 rents"


@pytest.fixture(scope="module")
def city(models, root, tmp_path_factory):
    """An index of the comments on rents."""
    folder = tmp_path_factory.mktemp("served") / "city"
    Index.build(root / "docs" / "comments.csv", folder, text="comment", group="camp")
    return Index.open(folder, models["stance-minilm"])


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    """Where the server has its temporary files."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def url(serve, city, root, temporary):
    """Where the page is served by the command line."""
    words = ("-m", "modeling.cli", "serve", city.folder, "--model", "stance-minilm,senticse-minilm", "--max-rows", 2000)
    return serve(*words, cwd=root, env={"TMPDIR": str(temporary)})


def press(page, tab, button):
    """Answers a tab's question."""
    page.get_by_role("tab", name=tab).click()
    page.get_by_role("button", name=button, exact=True).click()


def tables(page):
    """The rows of the tables in sight, without their heads."""
    script = "all => all.map(each => [...each.rows].slice(1).map(row => [...row.cells].map(cell => cell.innerText)))"
    return page.locator(".figures:visible").evaluate_all(script) or [[]]


def columns(page, *numbers):
    """Some columns of the first table in sight."""
    return [[row[number] for number in numbers] for row in tables(page)[0]]


def shown(frame):
    """A table of the library's as the page shows it."""
    return [[f"{value:.3f}" if isinstance(value, float) else str(value) for value in row] for row in frame.to_numpy()]


def hits(index, statement, *names):
    """Columns of what the library finds, near-identical texts as one."""
    return shown(duplicates.ask(index, [statement], 10)[[*names]])


def ask(page, statement, lens="topic and side"):
    """Asks a statement in the tab for it."""
    page.get_by_role("tab", name="Ask").click()
    page.get_by_label("Statement").fill(statement)
    page.get_by_label(lens, exact=True).check()
    page.get_by_role("button", name="Ask", exact=True).click()


def bring(page, path):
    """Uploads a file in the tab for texts."""
    page.get_by_role("tab", name="Texts").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Bring a CSV or TSV").locator("visible=true").click()
    chooser.value.set_files(path)


def brought(page, name):
    """Waits until the columns of a table can be chosen."""
    assert wait(lambda: page.get_by_label("What became of it").input_value().startswith(f"{name} has the columns"))


def embed(page, path, group="(none)"):
    """Uploads a table and embeds it."""
    bring(page, path)
    brought(page, path.name)
    page.get_by_label("Column of groups").click()
    page.get_by_role("option", name=group, exact=True).click()
    page.get_by_role("button", name="Embed", exact=True).click()


def files(folder, *endings):
    """The files below a folder with one of these endings; folders may vanish meanwhile, which rglob would not bear."""
    return [name for _, _, names in os.walk(folder) for name in names if name.endswith(endings)]


def test_figures_are_the_library_s(visit, url, models, city):
    page = visit(url)
    page.get_by_role("button", name="Compare").click()
    cosines = [float(model.similarity(*model.encode(PAIRS[0])[:, :384])) for model in models.values()]
    expected = [[name, f"{cosine:.3f}"] for name, cosine in zip(models, cosines, strict=True)]
    expected[0][0] = "bundled, untrained"
    assert wait(lambda: tables(page) == [expected]), tables(page)
    assert (cosines[0], cosines[1]) == pytest.approx((0.903, 0.391), abs=2e-3)

    ask(page, FOR)
    names = ("rank", "similarity", "topic", "side", "rows", "text")
    assert wait(lambda: columns(page, 0, 1, 2, 3, 4, 6) == hits(city, FOR, *names)), tables(page)
    ask(page, FOR, "side")
    expected = hits(city.through("side"), FOR, "rank", "similarity", "rows", "text")
    assert wait(lambda: columns(page, 0, 1, 2, 4) == expected), tables(page)

    press(page, "Counter", "Find counter-arguments")
    page.get_by_text("a statement is empty").wait_for()
    page.get_by_role("textbox", name="Argument").fill(FOR)
    press(page, "Counter", "Find counter-arguments")
    counters = CounterIndex.open(city.folder, city.model).ask(FOR)[["rank", "similarity", "rows", "text"]]
    assert wait(lambda: tables(page) == [shown(counters)]), tables(page)


def test_an_axis_says_first_whether_it_may_be_used(visit, url, city, root):
    page, texts = visit(url), coded.read_coded(city, root / "docs" / "coded.csv")
    page.get_by_role("tab", name="Axis").click()
    page.get_by_label("The side for").fill(AGAINST)
    page.get_by_label("The side against").fill(FOR)
    verdict = page.locator(".verdict")
    press(page, "Axis", "Draw")
    verdict.get_by_text("not measured").wait_for()
    page.get_by_role("button", name="Texts coded by hand").click()
    page.get_by_role("button", name="Take the example: docs/coded.csv").click()
    page.get_by_label("Measure by coded.csv").wait_for()
    for sides, colour in (((AGAINST, FOR), "rgb(179, 0, 27)"), ((FOR, AGAINST), "rgb(17, 119, 51)")):
        page.get_by_label("The side for").fill(sides[0])
        page.get_by_label("The side against").fill(sides[1])
        press(page, "Axis", "Draw")
        result = city.axis(*sides, 0.3, texts)
        assert wait(lambda said=result.verdict: verdict.inner_text() == said), verdict.inner_text()
        assert result.verdict.startswith("DO NOT USE THIS AXIS") == (sides[0] == AGAINST)
        assert verdict.evaluate("element => getComputedStyle(element).color") == colour
        assert tables(page)[0] == shown(result.groups)
        assert page.get_by_alt_text("Where the texts lie").evaluate("image => image.naturalWidth") > 1000


def test_tables_that_visitors_bring(visit, url, temporary, tmp_path):
    empty, large, long, hostile = (tmp_path / f"{name}.csv" for name in ("empty", "large", "long", "hostile"))
    empty.touch()
    large.write_text("text\n" + "rents are too high in this city of ours\n" * 600_000)
    rows = [(SCRIPT, IMAGE), (FORMULA, "-x"), (f"{IMAGE} rents", "-x")]
    pd.DataFrame(rows, columns=["text", IMAGE]).to_csv(hostile, index=False)
    page = visit(url)
    for path, said in (
        (empty, "empty.csv, line 1: there is no header with the names of the columns"),
        (large, "exceed the maximum allowed size of 20.0 Mb"),
    ):
        bring(page, path)
        page.get_by_text(said).wait_for()
    assert page.request.post(f"{url}gradio_api/upload", multipart={"files": large}).status == 413
    long.write_text("text\n" + "rents are high\n" * 2001)
    embed(page, long)
    page.get_by_text("long.csv has more than 2,000 rows").wait_for()
    embed(page, hostile, IMAGE)
    page.get_by_text("hostile.csv: 3 texts").wait_for()
    ask(page, "rents")
    assert wait(lambda: {row[-1] for row in tables(page)[0]} == {text for text, _ in rows}), tables(page)
    assert f"{IMAGE} 1" in {row[-2] for row in tables(page)[0]}
    with page.expect_download() as download:
        page.get_by_role("link", name="hits.csv").click()
    assert f"'{FORMULA}" in set(pd.read_csv(download.value.path())["text"])
    assert len(files(temporary, "hostile.csv")) == 1 and files(temporary, "vectors.npy")
    page.context.close()
    assert wait(lambda: not files(temporary, ".csv", ".npy", ".arrow"))


def test_two_visitors_have_their_own_texts_and_models(visit, url, models, temporary, tmp_path, city):
    topics, pages, indexes = ("trams", "parks"), [visit(url), visit(url)], []
    for topic, name, page in zip(topics, list(models)[1:], pages, strict=True):
        texts = [f"{start} the {topic} {when}" for start in ("we love", "we hate") for when in ("", "now", "at night")]
        pd.DataFrame({"text": texts}).to_csv(path := tmp_path / f"{topic}.csv", index=False)
        indexes.append(Index.build(path, tmp_path / topic, models[name]))
        if name != "stance-minilm":
            page.get_by_label("Model").click()
            page.get_by_role("option", name=name).click()
            page.get_by_text(f"city: 34 texts, by {name}").wait_for()
        embed(page, path)
        page.get_by_text(f"{topic}.csv: 6 texts, by {name}").wait_for()
    for statement in ("we love it", "we hate it at night"):
        for page in pages:  # the second asks before the first has an answer
            ask(page, statement)
        for page, index in zip(pages, indexes, strict=True):
            expected = hits(index, statement, "rank", "similarity", "text")
            assert wait(lambda page=page, to=expected: columns(page, 0, 1, -1) == to), tables(page)
    pages[0].context.close()
    assert wait(lambda: not files(temporary, "trams.csv")) and files(temporary, "parks.csv")
    third = visit(url)
    ask(third, FOR)
    assert wait(lambda: columns(third, 6) == hits(city, FOR, "text")), tables(third)
