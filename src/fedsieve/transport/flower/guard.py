"""What a site runs where the engine would run any app that the server sends: ours, and nothing else.

The engine compares nothing and loads an app from a place that the server names. A site therefore puts its own commands
before the engine's: the one for a ClientApp compares what was sent, file by file, with the app of the installed
package, unpacks none of it, and runs the installed one; those for other kinds of tasks refuse.
"""

import hashlib
import io
import os
import shlex
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.site_folder import JOIN_AGAIN, SiteFolder
from fedsieve.errors import ProtocolError
from fedsieve.reading import read_json
from fedsieve.transport.flower.engine import SITE
from fedsieve.transport.flower.launch import end_with, pull_sooner, take_place

APP = Path(__file__).parent / "app"
OURS = "flwr-clientapp"
REFUSED = ("flwr-agentapp", "flwr-connector", "flwr-model", "flwr-serverapp", "flwr-simulation")
MAX_PACKED = 1_000_000  # bytes; ours has some thousand
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack more at once than they are asked for
ANOTHER = "was sent another app than the one of its installed fedsieve; it was not run."


def put_guards(site: SiteFolder) -> Path:
    """Write the commands that stand before the engine's; returns their folder, which belongs first on the path."""
    from flwr.cli.build import build_fab_from_disk

    write_json(site.prepared / "app.json", files_of(build_fab_from_disk(APP)))
    folder = make_private(site.prepared / "bin")
    python = shlex.quote(sys.executable)
    for name in (OURS, *REFUSED):
        command = folder / name
        run = f'exec {python} -m {__name__} "$@"' if name == OURS else f'echo "a site runs no {name}" >&2; exit 1'
        command.write_text(f"#!/bin/sh\n{run}\n", encoding="utf-8")
        command.chmod(0o700)
    return folder


def files_of(fab: bytes) -> dict[str, list[Any]]:
    """Size and digest of each file of a packed app that is ours; packing itself may differ between machines."""
    with zipfile.ZipFile(io.BytesIO(fab)) as archive:
        return {info.filename: [info.file_size, _digest(archive, info)] for info in archive.infolist()}


def check_app(fab: bytes, ours: Mapping[str, list[Any]]) -> None:
    """Refuse a packed app that is not ours: by its size, by its files' names and sizes, and only then by content."""
    if len(fab) > MAX_PACKED:
        raise ProtocolError(ANOTHER)
    try:
        with zipfile.ZipFile(io.BytesIO(fab)) as archive:
            listed = sorted((info.filename, info.file_size) for info in archive.infolist())
            if listed != sorted((name, size) for name, (size, _) in ours.items()):
                raise ProtocolError(ANOTHER)
            for info in archive.infolist():
                if info.compress_type not in PLAIN or _digest(archive, info) != ours[info.filename][1]:
                    raise ProtocolError(ANOTHER)
    except (zipfile.BadZipFile, RuntimeError, ValueError, EOFError, OSError) as error:
        if isinstance(error, ProtocolError):
            raise
        raise ProtocolError(ANOTHER) from None


def _digest(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    with archive.open(info) as file:  # `archive.read` would unpack all there is before it compares sizes
        return hashlib.sha256(file.read(info.file_size + 1)).hexdigest()


def main() -> None:
    """Run the engine's ClientApp process, in which the server can name what it likes: it is our app that answers."""
    from flwr.supernode.cli.flwr_clientapp import flwr_clientapp

    end_with(os.getppid())
    ours = read_json(SiteFolder(Path(os.environ[SITE])).prepared / "app.json", way_out=JOIN_AGAIN)

    def install(fab: bytes, **_: Any) -> Path:
        check_app(fab, ours)
        return APP  # nothing is unpacked

    def loader(**_: Any) -> Callable[..., Any]:
        from fedsieve.transport.flower.client_app import app

        return lambda *_: app  # whatever name, version and place the server gives

    take_place("flwr.supernode.runtime.run_clientapp", "install_from_fab", install)
    take_place("flwr.supernode.runtime.run_clientapp", "get_load_client_app_fn", loader)
    pull_sooner("flwr.supercore.inflatable.inflatable_utils")
    flwr_clientapp()


if __name__ == "__main__":
    main()
