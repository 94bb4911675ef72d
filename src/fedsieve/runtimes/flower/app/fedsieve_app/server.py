"""The server's side."""

from fedsieve.runtimes.flower import server_app

app = server_app.app
