"""A plot in the terminal whose marks are letters, so that it reads without colour."""

from __future__ import annotations

from textual.color import Color, ColorParseError
from textual_plotext import PlotextPlot

from tui.results.plot import Plot, Series

TITLED_FROM = 12  # lines, below which the caption alone has to say what is drawn
_COLOURS = ("text-primary", "text-warning", "text-success", "text-error", "text-accent", "text-secondary")


class FigurePlot(PlotextPlot):
    """Draws one plot, anew whenever another is shown."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__()
        self._shown: Plot | None = None

    def show(self, plot: Plot) -> None:
        """Draw a plot in place of what was drawn."""
        self._shown = plot
        self._draw(plot)

    def on_mount(self) -> None:
        """Draw it anew whenever the theme changes."""
        self.app.theme_changed_signal.subscribe(self, lambda theme: self.draw_again())

    def on_resize(self) -> None:
        """Draw it anew, as titles depend on the room."""
        self.draw_again()

    def draw_again(self) -> None:
        """Draw what is shown as the room and the theme are now."""
        if self._shown is not None:
            self._draw(self._shown)

    def _draw(self, plot: Plot) -> None:
        self.theme = "auto" if self._theme_colour("foreground") else "clear"
        plt = self.plt
        plt.clear_figure()
        if self.size.height >= TITLED_FROM:
            plt.title(plot.title)
            plt.xlabel(plot.x_title)
        if plot.x_ticks:
            plt.xticks(list(plot.x_ticks), list(plot.x_ticks.values()))
            plt.xlim(*_widened(min(plot.x_ticks), max(plot.x_ticks)))
        if plot.y_ticks:
            plt.yticks(list(plot.y_ticks), list(plot.y_ticks.values()))
            plt.ylim(min(plot.y_ticks), max(plot.y_ticks))
        for series in plot.series:
            if series.joined:
                plt.plot(*_columns(series), marker="·", color=self._colour(series))
        for series in plot.series:
            plt.scatter(*_columns(series), marker=series.mark, color=self._colour(series))
        self.refresh()

    def _colour(self, series: Series) -> tuple[int, int, int] | str:
        """Return a candidate's colour, the same in every plot, that the theme made to be read as text."""
        name = "foreground" if self.app.no_color else _COLOURS[ord(series.mark[0]) % len(_COLOURS)]
        found = self._theme_colour(name) or self._theme_colour("foreground")
        return "default" if found is None else found.rgb

    def _theme_colour(self, name: str) -> Color | None:
        """Return a colour of the theme; None where it leaves that to the terminal."""
        try:
            found = Color.parse(self.app.theme_variables.get(name, ""))
        except ColorParseError:
            return None
        return found if found.ansi is None else None


def _columns(series: Series) -> tuple[list[float], list[float]]:
    return [x for x, _ in series.points], [y for _, y in series.points]


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = (high - low) * 0.03 or 0.5
    return low - margin, high + margin
