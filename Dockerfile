# One image for the server and for sites, from the wheel: make wheel && docker build -t fedsieve .
FROM python:3.11-slim-bookworm

# Exact versions, as the tests ran with. The extras: the engine, noise, the report.
COPY constraints.txt dist/*.whl /tmp/wheel/
RUN set -eu; \
    for wheel in /tmp/wheel/*.whl; do \
        pip install --no-cache-dir --constraint /tmp/wheel/constraints.txt "${wheel}[flower,private,report]"; \
    done; \
    rm -r /tmp/wheel; \
    useradd --uid 10001 --no-create-home fedsieve

# Compiled kernels and the engine's scratch files; a folder of a party is mounted by whoever runs it.
ENV HOME=/tmp NUMBA_CACHE_DIR=/tmp/kernels PYTHONUNBUFFERED=1
WORKDIR /srv/fedsieve
USER 10001
STOPSIGNAL SIGTERM
ENTRYPOINT ["fedsieve"]
CMD ["--help"]
