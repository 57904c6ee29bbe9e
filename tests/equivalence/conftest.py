"""The verdicts of these tests are replayed in onnxruntime, where that is installed."""

from tests.support.replay import replays

__all__ = ["replays"]
