"""What a visitor brings: asked by the model that is chosen, and gone when the visitor is."""

import pytest

from modeling.app.visitors import Visitor
from modeling.base.models import load_model
from modeling.search.index import Index
from tests.tiny import TOPICS, arguments, save_encoder


def test_a_visitor_s_texts(tmp_path, tiny_base):
    (tmp_path / "a.csv").write_text("\n".join(["text", *arguments(TOPICS[0], "pro"), *arguments(TOPICS[0], "con")]))
    served = Index.build(tmp_path / "a.csv", tmp_path / "served", model=str(tiny_base))
    other = load_model(save_encoder(tmp_path / "other", seed=1))
    (folder := tmp_path / "visitor").mkdir()
    visitor = Visitor(folder, served.folder)
    with pytest.raises(ValueError, match="served has more than 11 rows"):
        visitor.embed(other, "other", 11)
    assert (visitor.index, visitor.name) == (served.folder, "served")
    assert "12 rows read, 12 kept" in visitor.embed(other, "other", 12)
    own = Index.open(visitor.index, other)
    assert own.folder.parent == folder and own.facts["model"] == "other"
    assert own.ask("we love the trams")["text"].tolist() != served.ask("we love the trams")["text"].tolist()
    visitor.embed(load_model(tiny_base), str(tiny_base), 1)  # nothing is embedded
    assert visitor.index == served.folder
    table = visitor.bring(tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists() and table.is_file()
    with pytest.raises(ValueError, match="no_such_column"):
        visitor.embed(other, "other", 12, (table, "no_such_column", None))
    visitor.embed(other, "other", 12)  # of what is asked still, the served one
    assert visitor.name == "served" and len(Index.open(visitor.index)) == 12

    class Leaving(type(other)):
        """A model that is at work when the visitor leaves."""

        def encode_document(self, *arguments, **options):
            visitor.leave()
            return super().encode_document(*arguments, **options)

    other.__class__ = Leaving
    with pytest.raises(OSError):
        visitor.embed(other, "another", 12, (table, "text", None))
    assert not folder.exists() and served.folder.is_dir()
