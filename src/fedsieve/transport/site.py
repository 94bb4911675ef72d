"""The endpoint of a site that joined a federation. Each message may be met by a new process, so all lies on disk."""

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.agreement import NAME
from fedsieve.deployment.folders import SiteFolder, make_private, write_json
from fedsieve.deployment.logs import site_log
from fedsieve.errors import CodecError
from fedsieve.files import write_atomically
from fedsieve.messages import Memory, Reply, Request
from fedsieve.privacy import SITE, Policy, SiteRules
from fedsieve.protocol import SERVER, Client
from fedsieve.selection_file import write_selection_json
from fedsieve.tables import Table
from fedsieve.transport.endpoint import Endpoint, Letter, Respond
from fedsieve.transport.envelope import ANYONE, digest, seal, unseal

MAX_RESULT = 1 << 28  # bytes of an unpacked result: names and scores of a million features


class JoinedSite:
    """A site as its server sees it: answers requests, says who it is, takes results.

    An edge server asks its own sites: `respond` computes replies instead of the rows here, and `pass_on` is given the
    run, round and content of a result. `policy` takes the place of the one that follows from the agreement.
    """

    def __init__(
        self,
        folder: SiteFolder,
        respond: Respond | None = None,
        pass_on: Callable[[str, int, bytes], None] | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.name = folder.name
        self._folder, self._pass_on, self._policy = folder, pass_on, policy
        self._endpoint = Endpoint(
            self._rules,
            respond or self._from_rows,
            Signed(folder),
            hides_defects=(policy or SITE).hides_defects,
            n_rows=None if respond else lambda: self._table.n_rows,
            log_for=lambda run: site_log(folder, run),
        )

    def answer(self, data: bytes) -> bytes:
        """The sealed reply to a sealed request."""
        return self._endpoint.answer(data)

    def greet(self, data: bytes) -> bytes:
        """Say who this is, to whoever asks in the server's name: the signature is the answer."""
        return self._endpoint.receive(data, "greeting", lambda _letter: b"", to_anyone=True)

    def take_result(self, data: bytes) -> bytes:
        """Keep the result of a run."""
        return self._endpoint.receive(data, "result", self._keep_result)

    def _rules(self) -> SiteRules:
        agreement = self._folder.agreement()
        return SiteRules(agreement.method, self._policy or agreement.policy, FolderState(self._folder).among_first)

    def _from_rows(self, request: Request, run: str) -> Reply:
        return Client(self._table, FolderState(self._folder).memory(run)).answer(request)

    @cached_property
    def _table(self) -> Table:
        return self._folder.rows()

    def _keep_result(self, letter: Letter) -> bytes:
        unpacking = zlib.decompressobj()
        try:
            text = unpacking.decompress(letter.payload, MAX_RESULT)
        except zlib.error:
            raise CodecError("was sent a result that cannot be unpacked.") from None
        if unpacking.unconsumed_tail:
            raise CodecError(f"was sent a result above {MAX_RESULT} bytes.")
        if self._pass_on is not None:
            self._pass_on(letter.run, letter.round, letter.payload)
        write_selection_json(text.decode(), make_private(self._folder.results / letter.run))
        return b""


class Signed:
    """Payloads in signed envelopes; a request that the operator did not sign is not answered at all."""

    def __init__(self, folder: SiteFolder) -> None:
        self._folder, self._name = folder, folder.name

    def open(self, data: bytes, *, to_anyone: bool = False) -> Letter:
        """Only what the operator signed."""
        envelope = unseal(data, {SERVER: keys.read_public_key(self._folder.path / "operator.pub")})
        if not NAME.fullmatch(envelope.run):  # it becomes a file's name here
            raise CodecError("a request of a run that has no proper name.")
        receiver = ANYONE if to_anyone else self._name
        return Letter(envelope.run, envelope.round, envelope.payload, (envelope, digest(data), receiver))

    def refuse_foreign(self, letter: Letter) -> None:
        """What the operator signed for another site, or under another agreement."""
        envelope, _, receiver = letter.reference
        envelope.require(sender=SERVER, receiver=receiver, agreement=self._folder.agreement().fingerprint)

    def seal(self, letter: Letter, payload: bytes) -> bytes:
        """Names the one request that it answers."""
        request, about, _ = letter.reference
        reply = replace(request, sender=self._name, receiver=SERVER, about=about, payload=payload)
        return seal(reply, keys.read_private_key(self._folder.path / "site.key"))


class FolderState:
    """What a site remembers, for its own eyes only, in the folder that is removed when it leaves."""

    def __init__(self, folder: SiteFolder) -> None:
        self._prepared = folder.prepared

    def memory(self, run: str) -> Memory:
        """Files of one run."""
        return _FileMemory(self._prepared, Path(run).name)

    def among_first(self, kind: str, digest: str, n: int) -> bool:
        """Since it joined; requests are known by their digest."""
        file = self._prepared / "asked.json"
        asked: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        known = asked.setdefault(kind, [])
        if digest not in known and len(known) < n:
            known.append(digest)
            write_json(file, asked, mode=keys.PRIVATE)
        return digest in known


class _FileMemory:
    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run

    def keep(self, name: str, values: Float) -> None:
        def save(path: Path) -> None:
            with path.open("wb") as file:
                np.save(file, values)

        write_atomically(self._file(name), save, mode=keys.PRIVATE)

    def recall(self, name: str) -> Float | None:
        file = self._file(name)
        if not file.is_file():
            return None
        values: Float = np.load(file)
        return values

    def _file(self, name: str) -> Path:
        return self._folder / f"{name.replace(' ', '-')}-{self._run}.npy"
