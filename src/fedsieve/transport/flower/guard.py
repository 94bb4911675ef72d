"""What a site runs where the engine would run any app that the server sends: ours, and nothing else.

The engine's control interface has no login, so whoever reaches it could send code to all sites. A site therefore puts
its own commands before the engine's: the one for a ClientApp compares the app, file by file, with that of the installed
package; those for other kinds of tasks refuse.
"""

import hashlib
import io
import json
import os
import shlex
import sys
import zipfile
from pathlib import Path
from typing import Any

from fedsieve.deployment.folders import SiteFolder, make_private, write_json
from fedsieve.errors import ProtocolError

SITE = "FEDSIEVE_SITE"  # the environment variable that says where a site's folder is
APP = Path(__file__).parent / "app"
OURS = "flwr-clientapp"
REFUSED = ("flwr-agentapp", "flwr-connector", "flwr-model", "flwr-serverapp", "flwr-simulation")


def put_guards(site: SiteFolder) -> Path:
    """Write the commands that stand before the engine's; returns their folder, which belongs first on the path."""
    from flwr.cli.build import build_fab_from_disk

    write_json(site.prepared / "app.json", fingerprint(build_fab_from_disk(APP)))
    folder = make_private(site.prepared / "bin")
    python = shlex.quote(sys.executable)
    for name in (OURS, *REFUSED):
        command = folder / name
        run = f'exec {python} -m {__name__} "$@"' if name == OURS else f'echo "a site runs no {name}" >&2; exit 1'
        command.write_text(f"#!/bin/sh\n{run}\n", encoding="utf-8")
        command.chmod(0o700)
    return folder


def fingerprint(fab: bytes) -> dict[str, str]:
    """The files of a packed app and their digests; packing itself may differ between machines."""
    with zipfile.ZipFile(io.BytesIO(fab)) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in sorted(archive.namelist())}


def main() -> None:
    """Run the engine's ClientApp process, which may install and load no other app than ours."""
    from flwr.supernode.cli.flwr_clientapp import flwr_clientapp
    from flwr.supernode.runtime import run_clientapp as engine

    allowed = json.loads((SiteFolder(Path(os.environ[SITE])).prepared / "app.json").read_text(encoding="utf-8"))
    install = engine.install_from_fab  # type: ignore[attr-defined]

    def install_ours(fab: bytes, **options: Any) -> Path:
        if fingerprint(fab) != allowed:
            raise ProtocolError("was sent another app than the one of its installed fedsieve; it was not run.")
        path: Path = install(fab, **options)
        return path

    engine.install_from_fab = install_ours  # type: ignore[attr-defined, assignment]
    flwr_clientapp()


if __name__ == "__main__":
    main()
