"""The site's side."""

from fedsieve.runtimes.flower import client_app

app = client_app.app
