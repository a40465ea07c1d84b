import pytest


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    """Pictures are drawn without a screen, and closed after each test."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    plt.switch_backend("Agg")
    yield
    plt.close("all")
