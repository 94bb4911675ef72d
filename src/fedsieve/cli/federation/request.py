"""`fedsieve federation request`: a site makes its own key and asks to belong."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import say
from fedsieve.deployment.admission import make_request
from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.place import check_place


def request(
    name: Annotated[str, typer.Option(help="The site's name, as agreed with the operator.")],
    output: Annotated[Path, typer.Option("--out", help="The site's own folder.")],
    renew: Annotated[bool, typer.Option("--renew", help="Make a new key in a folder that has one.")] = False,
) -> None:
    """Make this site's folder with its own key, and a request to belong, to send to the operator.

    [bold]Example[/bold]: fedsieve federation request --name siteA --out siteA/
    """
    check_place(output)
    made, file = make_request(output, name, renew=renew)
    say(f"Made {output} for {name}. Its private key is readable by you only, and never leaves this folder.")
    say(f"  the key's fingerprint: {fingerprint(made.key)}")
    say(f"  send to the operator: {file}")
    say("The operator calls to compare the fingerprint, then sends a tar without secrets. Take it into the folder:")
    say(f"  fedsieve federation unpack {name}.tar {output}")
