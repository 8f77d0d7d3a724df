#!/bin/sh
# Renews envs/requirements.lock (everything `make` installs, with hashes) and envs/pipeline.yaml (what the pipeline
# itself needs, same pins) from pyproject.toml, at the newest versions. Needs uv on the PATH; run it from the project
# folder.
set -eu

export_pins() {
    uv export --no-emit-project --no-default-groups --no-header --no-annotate --format requirements-txt --quiet "$@"
}

uv lock --quiet --upgrade
# setuptools builds the package itself; pip would otherwise fetch whatever is newest.
export_pins --extra filings --extra test --extra lint --group build --output-file envs/requirements.lock
{
    echo "# Made by envs/lock.sh: the pins of requirements.lock that the pipeline needs, for --software-deployment-method conda."
    echo "name: attnkernel"
    echo "channels: [conda-forge, nodefaults]"
    echo "dependencies:"
    echo "  - python=3.11"
    echo "  - pip"
    echo "  - pip:"
    export_pins --no-hashes | sed 's/^/      - "/; s/$/"/'
} > envs/pipeline.yaml
