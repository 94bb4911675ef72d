"""The server's side."""

from fedsieve.transport.flower import server_app

app = server_app.app
