"""What tests of several rooms look at."""

import pytest

from modeling.base import plots


@pytest.fixture
def figures(monkeypatch):
    """The figures drawn, as they were when they were closed."""
    drawn, close = [], plots.plt.close

    def keep(figure):
        drawn.append(figure)
        close(figure)

    monkeypatch.setattr(plots.plt, "close", keep)
    return drawn
