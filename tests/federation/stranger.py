"""Another account of the machine, as a program: `python stranger.py FOLDER PIDS PORTS` prints all that it got hold of.

It starts as root only to load its modules, which another account may not be able to read, and then gives that up.
"""

import json
import os
import ssl
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from flwr.common.constant import TIMESTAMP_HEADER
from flwr.proto import fleet_pb2
from flwr.supercore.constant import FLEET_HTTP_PUBLIC_KEY_HEADER, FLEET_HTTP_SIGNATURE_HEADER
from flwr.supercore.date import now
from flwr.supercore.primitives.asymmetric import public_key_to_bytes, sign_message
from flwr.supercore.protobuf import translation

STRANGER = 64_321  # the number of no account
REFUSED = (400, 401, 404, 412, 415)  # no sense, no login, not here, not registered, no protobuf
TRUSTING = ssl._create_unverified_context()


def routes() -> list[str]:
    """Every call that the engine knows, whoever it is meant for."""
    tables = (getattr(translation, name) for name in dir(translation))
    (table,) = (one for one in tables if isinstance(one, dict) and ("POST", "/v1/runtime/acquire-task") in one)
    return sorted({path for _, path in table})


def readable(folder: Path) -> Iterator[str]:
    """Files that can be read or changed, folders that can be listed or filled."""
    for path in (folder, *folder.rglob("*")):
        if os.access(path, os.R_OK) or os.access(path, os.W_OK):
            yield str(path)


def seen_of(pid: str) -> Iterator[str]:
    """What a process keeps in its memory, environment and open files."""
    for name in ("environ", "mem", "maps"):
        try:
            if Path(f"/proc/{pid}/{name}").read_bytes():
                yield f"/proc/{pid}/{name}"
        except OSError:
            continue
    try:
        yield from (str(entry) for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return


def forged() -> dict[str, str]:
    """The login of a node, by a key that nobody registered."""
    key, time = ec.generate_private_key(ec.SECP384R1()), now().isoformat()
    return {
        FLEET_HTTP_PUBLIC_KEY_HEADER: b64encode(public_key_to_bytes(key.public_key())).decode(),
        FLEET_HTTP_SIGNATURE_HEADER: b64encode(sign_message(key, time.encode())).decode(),
        TIMESTAMP_HEADER: time,
    }


def answered(port: str) -> Iterator[str]:
    """Calls that were not refused."""
    logins = ({}, {"authorization": "Bearer none"}, forged())
    with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=TRUSTING, timeout=20) as client:
        for path in routes():
            for login in logins:
                headers = {"content-type": "application/protobuf", **login}
                if client.post(path, headers=headers).status_code not in REFUSED:
                    yield path
        own = forged()
        request = fleet_pb2.RegisterNodeFleetRequest(public_key=own[FLEET_HTTP_PUBLIC_KEY_HEADER].encode())
        headers, content = {"content-type": "application/protobuf", **own}, request.SerializeToString()
        if client.post("/v1/fleet/register-node", headers=headers, content=content).status_code not in REFUSED:
            yield "a node of one's own"


def main() -> None:
    folder, pids, ports = Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3].split(",")
    httpx.get(f"https://127.0.0.1:{ports[0]}/health", verify=TRUSTING)  # loads what is loaded late
    forged()
    os.setgroups([])
    os.setgid(STRANGER)
    os.setuid(STRANGER)
    got = {
        "files": sorted({one for part in sorted(folder.iterdir()) for one in readable(part)}),
        "processes": [one for pid in pids for one in seen_of(pid)],
        "calls": sorted({one for port in ports for one in answered(port)}),
    }
    print(json.dumps(got))


if __name__ == "__main__":
    main()
