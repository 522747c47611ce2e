# Tasks of the project; `just --list` shows them.

# lint, types and tests, as CI does but in the environment at hand
check: lint types test

lint:
    ruff check .
    ruff format --check .

types:
    mypy

test *ARGS:
    python -m pytest {{ARGS}}

# the fast tests only
quick:
    python -m pytest -q tests/unit tests/architecture

docs:
    sphinx-build -W -q docs build/docs

bench NAME:
    python benchmarks/{{NAME}}.py

demo:
    visual-search demo
