# Every target that needs Python first runs scripts/setup.sh, which does nothing when .venv is
# current. PYTHON=/path/to/python chooses the interpreter .venv is made with.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check tpch laws bench fmt clean

VENV := .venv/bin
# The Java of this checkout: JAVA_HOME, PATH, or the one in .venv; a recipe line may use $(JAVA).
JAVA = JAVA_HOME="$$($(VENV)/python -m everview.spark.java)"

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{ printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## virtual environment, packages, and a Java if there is none
	@bash scripts/setup.sh

demo: setup ## a small TPC-H stream, two queries kept current, verified at the end
	@$(JAVA) $(VENV)/everview demo

test: setup ## all tests, on the local host and on Spark
	$(JAVA) $(VENV)/python -m pytest -n 2 --dist loadfile

check: setup ## format, lint, types, layers, sizes: seconds
	$(VENV)/ruff format --check .
	$(VENV)/ruff check .
	$(VENV)/mypy
	$(VENV)/lint-imports --no-logo
	$(VENV)/python scripts/sizes.py

tpch: setup ## TPC-H queries x histories x epochs on Spark against the oracle
	$(JAVA) $(VENV)/python -m tests.tpch.run_tpch

laws: setup ## the property tests at length: 20,000 cases
	$(VENV)/python -m tests.laws.run_laws --cases 20000

bench: setup ## kernel and end-to-end figures
	$(JAVA) $(VENV)/python benchmarks/run.py

fmt: setup ## format and mend what ruff can mend
	$(VENV)/ruff format .
	$(VENV)/ruff check --fix .

clean: ## remove .venv and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist build
