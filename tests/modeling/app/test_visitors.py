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

    class Leaving(type(other)):
        """A model that is at work when the visitor leaves."""

        def encode_document(self, *arguments, **options):
            visitor.leave()
            return super().encode_document(*arguments, **options)

    other.__class__ = Leaving
    visitor.texts, visitor.columns = visitor.bring(tmp_path / "a.csv"), ("text", None)
    assert not (tmp_path / "a.csv").exists() and visitor.texts.is_file()
    with pytest.raises(OSError):
        visitor.embed(other, "another", 12)
    assert not folder.exists() and served.folder.is_dir()
