# The worker image: the service in an environment of its own, run by an ordinary user.
# Any base will do that has a Python 3.11 to 3.14 with venv: scripts/image makes one where there is no registry.
ARG BASE=python:3.12-slim

# The explorer, unless gateway/static is already made of these sources. Node.js and npm's packages stay in this stage.
FROM ${BASE} AS page
WORKDIR /page
COPY gateway gateway
COPY page page
COPY scripts/page scripts/page
RUN python3 scripts/page

FROM ${BASE}

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PATH=/opt/emgas/venv/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# If it is set, compiled files do not depend on when they were made, so two builds are the same (scripts/image).
ARG SOURCE_DATE_EPOCH

# Debian lets nobody install into its own Python.
RUN python3 -m venv /opt/emgas/venv
WORKDIR /opt/emgas

# The pinned dependencies first: this layer is built again only when a pin changes. All of them have wheels, so the
# image needs no compiler.
COPY requirements-service.txt ./
RUN pip install -r requirements-service.txt

COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY emgas emgas
COPY state state
COPY processors processors
COPY replay replay
COPY streams streams
COPY lab lab
COPY --from=page /page/gateway gateway
# not evaluate.py and tune.py: evaluation/ stays out of the image, and with it `emgas measure eval` and `emgas measure tune`
COPY emgas_service/__init__.py emgas_service/start.py emgas_service/serve.py emgas_service/gates.py \
     emgas_service/renderers.py emgas_service/rerankers.py emgas_service/retrievers.py \
     emgas_service/windows.py emgas_service/
RUN pip install --no-deps .

# /data holds the RocksDB copies of the partitions. It belongs to the user before it becomes a volume: a new volume
# takes over the owner that the image gives the folder.
RUN useradd --system --uid 10001 --home-dir /data emgas && install -d -o emgas -g emgas /data
USER emgas
ENV EMGAS_DATA=/data
VOLUME /data
WORKDIR /data

# exec form: SIGTERM reaches the worker itself, which then hands over its partitions
ENTRYPOINT ["emgas"]
# Without a command it serves an embedded memory and the page, and prints a key when it first starts:
#   docker run -p 127.0.0.1:8088:8088 -v emgas:/data emgas
CMD ["serve", "--host", "0.0.0.0", "--keys", "/data/keys.toml", "--create-keys"]
EXPOSE 8088
