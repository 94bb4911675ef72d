"""Log files of server and sites: every line says which run it is about; values of rows never appear in one."""

import json
import logging
from pathlib import Path

from fedsieve.checks import check_choice
from fedsieve.deployment.folders import SiteFolder, write_json
from fedsieve.errors import DataError

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
        name.touch(mode=0o600)
    write_json(folder / SETTINGS, {"file": str(chosen), "level": level})
    return chosen


def engine_log(log: Path) -> Path:
    """Where the engine's own lines go, beside ours."""
    return log.with_suffix(".engine.log")


def open_log(folder: Path, run: str, party: str) -> Log:
    """The log of a party for one run."""
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except OSError:
        settings = {"file": str(folder / "fedsieve.log"), "level": "info"}
    logger = logging.getLogger(f"fedsieve.{party}.{run}")
    if not any(getattr(handler, "baseFilename", None) == settings["file"] for handler in logger.handlers):
        handler = logging.FileHandler(settings["file"], encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s run=%(run)s %(party)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(settings["level"].upper())
        logger.propagate = False
    return logging.LoggerAdapter(logger, {"run": run, "party": party})


def site_log(site: SiteFolder, run: str) -> Log:
    """The log of a site for one run."""
    return open_log(site.path, run, site.name)
