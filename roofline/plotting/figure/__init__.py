"""The roofline picture: log-log, every ceiling named with its value, every kernel numbered with a key beside it."""

from roofline.plotting.figure.change_page import draw_changes, save_changes
from roofline.plotting.figure.history_page import draw_history, save_history
from roofline.plotting.figure.ladder_page import draw_ladders, save_ladders
from roofline.plotting.figure.page import ENDINGS, FORMATS, draw, save_figure

__all__ = [
    "ENDINGS",
    "FORMATS",
    "draw",
    "draw_changes",
    "draw_history",
    "draw_ladders",
    "save_changes",
    "save_figure",
    "save_history",
    "save_ladders",
]
