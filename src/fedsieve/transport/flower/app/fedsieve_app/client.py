"""The site's side."""

from fedsieve.transport.flower import client_app

app = client_app.app
