"""Flower's simulation: the same ServerApp and ClientApp with virtual nodes, on Ray."""

import logging
import os
import warnings

from flwr.simulation import run_simulation

from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.client_app import SITES
from fedsieve.transport.flower.client_app import app as client_app
from fedsieve.transport.flower.engine import FEDERATION, LOOPBACK, SWITCHES, environment
from fedsieve.transport.flower.server_app import app as server_app


def simulate(folder: ServerFolder, n_processes: int) -> None:
    """Run a selection with all sites of a folder as virtual nodes in this many processes."""
    os.environ.update(SWITCHES)
    logging.getLogger("flwr").setLevel(logging.ERROR)  # its advice to use another command is not for our users
    os.environ["FLWR_HOME"] = environment(folder.server / "engine")["FLWR_HOME"]
    places = {FEDERATION: str(folder.path.absolute()), SITES: str(folder.sites.absolute())}
    os.environ.update(places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        run_simulation(
            server_app,
            client_app,
            num_supernodes=len(folder.agreement().sites),
            backend_config={
                "client_resources": {"num_cpus": 1},
                "init_args": {"num_cpus": n_processes, "_node_ip_address": LOOPBACK, "include_dashboard": False},
            },
        )
