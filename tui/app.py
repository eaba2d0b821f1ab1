"""The app: one folder, its runs, and the screens that show them."""

from __future__ import annotations

import asyncio
import gc
import io
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any, ClassVar

from textual import on, work
from textual.actions import ActionParseResult
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from core.errors import Exit
from core.text import printable
from tui import navigation
from tui.indexes import Indexes
from tui.keys import binding_ids
from tui.leaving import LeavingApp
from tui.lost_terminal import last_moment, watch_terminal
from tui.palette import BoresightProvider
from tui.screens.base import is_away
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import HelpDialog
from tui.screens.monitor import MonitorScreen
from tui.settings import Settings, read_settings, remember, settings_file
from tui.text import near
from tui.themes import DARK, THEMES, ansi_colours
from tui.widgets.patient import PatientPalette

_GARBAGE = 20_000  # objects made since the last look at the youngest
HELP = (
    "On every screen\n"
    "1 2 3   Campaigns, Manifest, Monitor\n"
    "4 5 6   Results, Queries, Attempts of the same run\n"
    "esc     back one level\n"
    "?       this help\n"
    "ctrl+p  the command palette: every run, campaign, candidate and\n"
    "        case, and the themes\n"
    "q       quit; a run that is going may go on without the app"
)


def stylesheet() -> Path:
    """Return the styles: beside this package in a source tree, inside it in an installed wheel."""
    inside = Path(__file__).parent / "screens.css"
    return inside if inside.exists() else Path(__file__).parents[1] / "screens.css"


class BoresightApp(LeavingApp):
    """Boresight on one folder; runs go on in processes of their own, whatever happens to this one."""

    TITLE = "Boresight"
    CSS_PATH = stylesheet()
    COMMANDS = App.COMMANDS | {BoresightProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"main({number})", name, show=False, id=f"app.{name.lower()}")
            for number, name in enumerate(navigation.MAIN_SCREENS, start=1)
        ),
        Binding("q", "leave", "Quit", id="app.leave"),
        Binding("f1,question_mark", "show_help", "Help", id="app.help"),
    ]

    def __init__(self, folder: Path, watch: Path | None = None, settings: Path | None = None) -> None:
        super().__init__(folder)
        self.indexes = Indexes()
        self.run_path: Path | None = watch  # the run that screens were last shown of
        self.settings_file = settings or settings_file()
        self.settings: Settings = read_settings(self.settings_file)
        self.ends_by_signals = False
        self.last_moment = Timer(0, lambda: None)
        self._watch = watch
        self._clashes: set[str] = set()
        self._defects: set[tuple[str, type[BaseException]]] = set()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK
        if self.settings.theme in self.available_themes:
            self.theme = str(self.settings.theme)

    @property
    def home(self) -> CampaignsScreen:
        """The screen below all others."""
        home = self.screen_stack[0]
        if not isinstance(home, CampaignsScreen):
            raise TypeError("the home screen is always the first")
        return home

    def get_default_screen(self) -> Screen[Any]:
        """Return the home screen, which is never left."""
        return CampaignsScreen(self.folder)

    def on_mount(self) -> None:
        """Show the run that was named, take the person's keys, and say what of the settings is wrong."""
        if self.ends_by_signals:
            self._take_signals()
        if self._watch is not None:
            self.show(navigation.ShowMonitor(self._watch))
        self.theme_changed_signal.subscribe(self, self._theme_chosen)
        self.set_keymap(dict(self.settings.keys))
        self._check_settings()

    def _take_signals(self) -> None:
        """Leave the terminal as it was when the session is lost or the system ends; runs go on."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as by nohup
                loop.add_signal_handler(number, self.exit, int(Exit.STOPPED))
        watch_terminal(lambda: loop.call_soon_threadsafe(self.exit, int(Exit.STOPPED)))

    def pop_screen(self) -> AwaitComplete:
        """Go back; home is never left, however often that is asked for."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action once the screen in view is mounted; one for a screen that went does nothing.

        Textual 8.2 lets a key that was pressed before a screen came act on that screen at once. An action
        that waits counts as handled, whatever comes of it.
        """
        if isinstance(default_namespace, Widget) and is_away(default_namespace):
            return True
        if self.screen_stack and not self.screen.is_mounted:
            again = partial(self.run_action, action, default_namespace, namespaces)
            return self.screen.call_later(self.call_later, again)  # in the app's own task again
        return await super().run_action(action, default_namespace, namespaces)

    def action_command_palette(self) -> None:
        """Open the command palette."""
        if not any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            self.push_screen(PatientPalette(id="--command-palette"))

    def on_unmount(self) -> None:
        """Close what was opened."""
        if self.ends_by_signals:
            self.last_moment = last_moment(lambda: self.return_code or 0)
        self.indexes.close()

    @property
    def defect(self) -> Exception | None:
        """What ended the app, where that was no person."""
        return self._exception

    def _print_error_renderables(self) -> None:
        """Leave it to whoever opened the app to tell of a defect, in one line rather than a traceback."""
        self._exit_renderables.clear()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show a defect where it happens; the app stays up."""
        self.tell_defect(event)

    def tell_defect(self, event: Worker.StateChanged) -> None:
        """Show what a thread ended with, where that is no error that anyone expected.

        One that comes again, as with every look at a folder, gets a line of news: dialogs would pile up.
        """
        error = event.worker.error
        if event.state is not WorkerState.ERROR or error is None or not self.is_running:
            return
        told, kind = f"{type(error).__name__}: {error}", (event.worker.name, type(error))
        if kind in self._defects:
            self.tell(f"Again: {told}", warning=True)
        else:
            self._defects.add(kind)
            self.tell_error("A defect of Boresight; please report it", told)

    @work(thread=True, exit_on_error=False)
    def _check_settings(self) -> None:
        problems = list(self.settings.problems)
        name = printable(str(self.settings_file))
        if self.settings.keys:
            known = binding_ids(type(self))
            for binding in self.settings.keys:
                if binding not in known:
                    shown = ", ".join(sorted(known))
                    problems.append(
                        f"{name}: keys.{printable(binding, 60)}: unknown; expected one of {shown}"
                    )
        theme = self.settings.theme
        if theme is not None and theme not in self.available_themes:
            shown = ", ".join(self.available_themes)
            problems.append(f"{name}: theme: found {printable(theme, 60)!r}, expected one of {shown}")
        if problems:
            self.call_from_thread(self.tell_error, "Settings", "\n\n".join(problems))

    def watch_theme(self) -> None:
        """Draw tables and code, which know but the colours that every terminal has, in those of the theme."""
        theme = self.current_theme
        if theme in THEMES:
            self.ansi_theme_dark = self.ansi_theme_light = ansi_colours(theme)

    def _theme_chosen(self, theme: Theme) -> None:
        if theme.name != (self.settings.theme or DARK):
            self.choose(self.settings._replace(theme=theme.name))

    def choose(self, settings: Settings) -> None:
        """Take settings that were changed in the app, and remember them."""
        self.settings = settings
        if settings.whole:
            self._remember(settings)
        else:
            self.tell(f"Not remembered: {self.settings_file} cannot be read; mend it first", warning=True)

    @work(thread=True, group="settings", exit_on_error=False)
    def _remember(self, settings: Settings) -> None:
        try:
            remember(self.settings_file, settings)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.call_from_thread(self.tell, f"Not remembered: {self.settings_file}: {reason}", warning=True)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Say once of each binding that the settings gave its key to another."""
        new = {binding.id or binding.action for binding in clashed_bindings} - self._clashes
        self._clashes |= new
        for name in sorted(new):
            self.tell(
                f"{self.settings_file.name}: a key of {name} was given to another binding", warning=True
            )

    def changed(self) -> None:
        """Look at the folder again."""
        self.home.look_again()

    def current_run(self) -> Path | None:
        """Return the run that the number keys mean: under the cursor at home, else the one last shown."""
        row = self.home.chosen
        chosen = row.path if row is not None and row.status is not None else None
        return chosen if self.screen is self.home else self.run_path or chosen

    def action_main(self, number: int) -> None:
        """Show one of the main screens."""
        name = navigation.MAIN_SCREENS[number - 1]
        if number == 1:
            self._above(1, lambda: None)
            return
        run = self.current_run()
        row = self.home.chosen
        message = navigation.main_screen(name, run, row.path if row is not None else None)
        if self._shown_as(self.screen) == name:
            return
        if message is None:
            self.tell(f"{name}: no run is chosen; put the cursor on one, or press n to begin", warning=True)
        else:
            self._go(message, keep=1)

    @on(navigation.ShowMonitor)
    @on(navigation.ShowResults)
    @on(navigation.ShowQueries)
    @on(navigation.ShowAttempts)
    @on(navigation.ShowManifest)
    @on(navigation.ShowFrozenManifest)
    def show(self, asked: navigation.Show) -> None:
        """Show a screen over the present one; one of its kind that lies below gives way, with all above."""
        name = navigation.name_of(asked)
        below = [at for at, screen in enumerate(self.screen_stack) if self._shown_as(screen) == name]
        self._go(asked, keep=below[0] if below else len(self.screen_stack))

    def _go(self, asked: navigation.Show, keep: int) -> None:
        def push() -> None:
            self.run_path = getattr(asked, "run", None) or self.run_path
            screen = _made(self.folder, asked)
            self.asked[screen] = asked
            self.push_screen(screen)

        self._above(keep, push)

    def _shown_as(self, screen: Screen[Any]) -> str | None:
        asked = self.asked.get(screen)
        return None if asked is None else navigation.name_of(asked)

    def _above(self, keep: int, then: Callable[[], None]) -> None:
        """Take away all screens but the lowest `keep`, asking each that holds changes; then go on."""

        def take_away() -> None:
            while len(self.screen_stack) > max(keep, 1):
                self.pop_screen()
            then()

        self.ask_guards(self.screen_stack[keep:], take_away)

    @on(navigation.ShowFile)
    def show_file(self, asked: navigation.ShowFile) -> None:
        """Read a file."""
        from tui.screens.pager import PagerScreen

        self.push_screen(PagerScreen(asked.path, asked.title))

    @on(navigation.ShowGates)
    def show_gates(self, asked: navigation.ShowGates) -> None:
        """Hold a run to the floors of this folder."""
        from tui.screens.gates import GatesScreen

        self.push_screen(GatesScreen(asked.run, self.folder))

    @on(navigation.StartRun)
    def start_run(self, asked: navigation.StartRun) -> None:
        """Run a campaign file; where it was opened to fix a run, that run's successes are kept."""
        reuse = asked.reuse or self.fixing.pop(asked.manifest, None)
        self.start(asked.manifest, reuse)

    @on(navigation.RetryRun)
    def retry_run(self, asked: navigation.RetryRun) -> None:
        """Go on with a run."""
        self.resume(asked.run, asked.only)

    def manifest_of(self, run: Path) -> Path | None:
        """Return the campaign file that a run was made from, as far as names tell."""
        return self.home.manifest_of(run)

    def action_show_help(self) -> None:
        """Show the keys of the present screen, and those of every screen."""
        text = getattr(self.screen, "HELP", "")
        where = f"Keys can be changed in {near(self.settings_file)}, in [keys], by these names:"
        names = [
            f'  {active.binding.id} = "{active.binding.key}"'
            for active in self.screen.active_bindings.values()
            if active.binding.id
        ]
        parts = [text, HELP, "\n".join([where, *names])]
        self.push_screen(HelpDialog("Keys", "\n\n".join(part for part in parts if part)))


def _made(folder: Path, asked: navigation.Show) -> Screen[Any]:
    """Return the screen that was asked for; each is loaded when first shown."""
    if isinstance(asked, navigation.ShowMonitor):
        return MonitorScreen(asked.run)
    if isinstance(asked, navigation.ShowResults):
        from tui.screens.results import ResultsScreen

        return ResultsScreen(asked.run)
    if isinstance(asked, navigation.ShowQueries):
        from tui.screens.queries import QueriesScreen

        return QueriesScreen(asked.run, asked.filters, asked.sort, asked.case)
    if isinstance(asked, navigation.ShowAttempts):
        from tui.screens.attempts import AttemptsScreen

        return AttemptsScreen(asked.run, asked.operation, asked.candidate)
    from tui.screens.manifest import ManifestScreen

    if isinstance(asked, navigation.ShowFrozenManifest):
        return ManifestScreen(folder, None, frozen=asked.run)
    return ManifestScreen(folder, asked.path)


def spare_the_collector() -> None:
    """Keep what lives as long as the app out of the search for reference cycles, which would halt keys.

    Each full search looks at all that is loaded, for a fifth of a second; most of what a screen makes is gone
    without one.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)


def open_app(folder: Path, watch: Path | None = None) -> int:
    """Run the app in this terminal until the person leaves it; return the exit code.

    Raises what the app ended with, where that was a defect; the terminal is as it was before then.
    """
    app = BoresightApp(folder, watch)
    app.ends_by_signals = True
    if isinstance(sys.__stderr__, io.TextIOWrapper):  # Textual draws on it; a mark that it lacks becomes `?`
        sys.__stderr__.reconfigure(errors="replace")
    spare_the_collector()
    try:
        code = app.run()
    finally:
        app.last_moment.cancel()
    if app.defect is not None:
        raise app.defect
    return code or 0
