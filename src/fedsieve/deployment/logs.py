"""Log files of server and sites: every line says which run it is about; values of rows never appear in one."""

import logging
from pathlib import Path

from fedsieve.checks import check_choice
from fedsieve.deployment.folders import write_json
from fedsieve.deployment.place import check_owner
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, FedSieveError
from fedsieve.reading import read_json
from fedsieve.text import visible

LEVELS = ("debug", "info", "warning", "error")
SETTINGS = "log.json"
Log = logging.LoggerAdapter[logging.Logger]


def choose_log(folder: Path, file: Path | None, level: str) -> Path:
    """Remember where this party's processes log, and how much; returns the file."""
    check_choice("--log-level", "level", level, LEVELS)
    chosen = (file or folder / "fedsieve.log").absolute()
    if not chosen.parent.is_dir():
        raise DataError(f"{chosen}: cannot be written: there is no folder {str(chosen.parent)!r}.")
    for name in (chosen, engine_log(chosen)):
        check_owner(name)
        name.touch(mode=0o600)
    write_json(folder / SETTINGS, {"file": str(chosen), "level": level})
    return chosen


def engine_log(log: Path) -> Path:
    """Where the engine's own lines go, beside ours."""
    return log.with_suffix(".engine.log")


def open_log(folder: Path, run: str, party: str) -> Log:
    """The log of a party for one run."""
    settings, complaint = _settings(folder)
    logger = logging.getLogger(f"fedsieve.{party}.{run}")
    if not any(getattr(handler, "baseFilename", None) == settings["file"] for handler in logger.handlers):
        handler = logging.FileHandler(settings["file"], encoding="utf-8", delay=True)
        handler.setFormatter(OneLine("%(asctime)s %(levelname)s run=%(run)s %(party)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(settings["level"].upper())
        logger.propagate = False
        if complaint:
            logger.warning("%s It is logged here instead.", complaint, extra={"run": run, "party": party})
    return logging.LoggerAdapter(logger, {"run": run, "party": party})


def _settings(folder: Path) -> tuple[dict[str, str], str]:
    """As chosen; by default, and what is wrong, where the choice cannot be read: a party must be able to say so."""
    file, default = folder / SETTINGS, {"file": str(folder / "fedsieve.log"), "level": "info"}
    if not file.is_file():
        return default, ""
    try:
        settings: dict[str, str] = read_json(file, {"file": str, "level": str})
        check_choice(str(file), "level", settings["level"], LEVELS)
    except FedSieveError as error:
        return default, str(error)
    return settings, ""


class OneLine(logging.Formatter):
    """One line for each record, whatever others put into its words: none of them can write a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """As always, then made visible."""
        return visible(super().format(record))


def site_log(site: SiteFolder, run: str) -> Log:
    """The log of a site for one run."""
    return open_log(site.path, run, site.name)
