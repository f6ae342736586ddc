# The front door. `make help` lists what it does.
SHELL := /bin/sh
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
MVN = JAVA_HOME="$$(tools/jdk)" MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow" mvn --batch-mode --no-transfer-progress
AGENT = dist/ip-masq-agent/bin/ip-masq-agent
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help build all-build run demo test test-unit verify format version clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the runnable agent: dist/ip-masq-agent/bin/ip-masq-agent
	@tools/needs build
	@$(MVN) -q -DskipTests -Dipmasq.version=$(VERSION) package
	@tools/image $(VERSION)
	@echo "built $(AGENT)"

run: build ## build and run the agent here, as root: make run ARGS='--config my-config'
	@$(AGENT) $(ARGS)

demo: build ## show the agent at work in a throw-away lab of network namespaces
	@tools/needs lab
	@tools/demo

test: build ## everything: unit, kernel and end-to-end tests
	@tools/needs lab
	@$(MVN) verify

test-unit: ## the unit tests alone
	@tools/needs build
	@$(MVN) test -DexcludedGroups=kernel

verify: ## what CI runs: formatting, then all tests
	@tools/needs build
	@$(MVN) -q spotless:check || { echo "run 'make format'" >&2; exit 1; }
	@$(MAKE) --no-print-directory test

format: ## format the sources
	@tools/needs build
	@$(MVN) -q spotless:apply

version: ## print the version that a build would have
	@echo $(VERSION)

clean: ## remove everything that was built
	@rm -rf dist
	@if command -v mvn >/dev/null && tools/jdk >/dev/null 2>&1; then $(MVN) -q clean; else rm -rf */target; fi
