# The entry point. `make help` lists the targets.
SHELL := /bin/sh
VERSION := $(shell cat VERSION)
COMMIT := $(shell git describe --always --dirty --abbrev=7 --exclude '*' 2>/dev/null)
# What the agent reports as its version.
BUILD := $(VERSION)$(if $(COMMIT), (commit $(COMMIT)))
MVN = JAVA_HOME="$$(tools/jdk)" MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow" mvn --batch-mode --no-transfer-progress -Dipmasq.version='$(BUILD)'
AGENT = dist/ip-masq-agent/bin/ip-masq-agent
ARGS ?=
ARCH = $(shell dpkg --print-architecture)
REGISTRY ?=

.DEFAULT_GOAL := help
.PHONY: help build all-build container all-container container-test cluster-test fleet-test container-check all-container-check push sign manifest can-push all-push run demo test other-tools bench live-test fault-test fuzz agreement soak kernels reproducible dependencies test-unit shellcheck verify format version clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the runnable agent: dist/ip-masq-agent/bin/ip-masq-agent
	@tools/needs build training
	@$(MVN) -q -DskipTests package
	@tools/image '$(BUILD)'
	@echo "built $(AGENT)"

all-build: build ## for the image, of the locked JDK: dist/ip-masq-agent-amd64, dist/ip-masq-agent-arm64
	@tools/needs container other-architectures
	@tools/image '$(BUILD)' amd64
	@tools/image '$(BUILD)' arm64

container: build ## the image as an OCI archive under dist, by buildah
	@tools/needs container
	@tools/image '$(BUILD)' $(ARCH)
	@container/build $(ARCH)

all-container: all-build ## amd64 and arm64 in one OCI archive
	@container/build amd64 arm64

container-test: container ## the image run by podman as the manifest says, and pushed to a registry, in a lab namespace
	@tools/needs lab container-test registry
	@$(MVN) -q -pl deploy-test -am verify -Dtest='Container*Test' -Dsurefire.failIfNoSpecifiedTests=false

cluster-test: $(if $(BINARIES),container) ## the first day on a real cluster of two nodes: make cluster-test BINARIES=DIR, docs/cluster-test.md
ifdef BINARIES
	@tools/needs lab deploy
	@$(MVN) -q -pl deploy-test -am verify -Dtest=ClusterTest -Dsurefire.failIfNoSpecifiedTests=false -Dipmasq.cluster.binaries="$(abspath $(BINARIES))" $(if $(PEER),-Dipmasq.cluster.peer="$(abspath $(PEER))")
else
	@echo "skipped: a cluster needs Kubernetes' own binaries, make cluster-test BINARIES=DIR; docs/cluster-test.md says which"
endif

fleet-test: ## the plugin against a real API server with 1,000 nodes whose kubelets are played: make fleet-test BINARIES=DIR, docs/fleet.md
ifdef BINARIES
	@tools/needs lab deploy
	@$(MVN) -q -pl deploy-test -am verify -Dtest=FleetTest -Dsurefire.failIfNoSpecifiedTests=false -Dipmasq.cluster.binaries="$(abspath $(BINARIES))"
else
	@echo "skipped: a fleet needs Kubernetes' own binaries, make fleet-test BINARIES=DIR; docs/cluster-test.md says which"
endif

container-check: container ## build the image again, from class files on and with the same trained cache: the same, byte for byte?
	@cp dist/container/index.json dist/first.json && $(MAKE) --no-print-directory container && cmp dist/first.json dist/container/index.json && echo reproducible

all-container-check: all-container ## the same for both architectures; both pushed as one index, and the arm64 agent run by an emulator; minutes
	@tools/needs lab registry other-architectures
	@cp dist/container/index.json dist/first.json && $(MAKE) --no-print-directory all-container && cmp dist/first.json dist/container/index.json && echo reproducible
	@$(MVN) -q -pl deploy-test -am verify -Dtest='ContainerPushTest,ContainerSignTest,EmulatedTest' -Dsurefire.failIfNoSpecifiedTests=false

push: can-push container ## copy the image to a registry: make push REGISTRY=registry.example/net
	@container/registry push "$(REGISTRY)"

all-push: can-push all-container ## the same for both architectures, under one name
	@container/registry push "$(REGISTRY)"

sign: can-push ## sign the pushed image and attest its contents: make sign REGISTRY=…, with COSIGN_PRIVATE_KEY and COSIGN_PASSWORD
	@container/registry sign "$(REGISTRY)"

manifest: can-push ## print the manifest with the pushed image's digest: make -s manifest REGISTRY=registry.example/net
	@container/registry manifest "$(REGISTRY)"

can-push:
	@container/registry check "$(REGISTRY)"

run: build ## build and run the agent here, as root: make run ARGS='--config my-config'
	@$(AGENT) $(ARGS)

demo: build ## show the agent at work in a throw-away lab of network namespaces
	@tools/needs lab
	@tools/demo

test: build ## everything: unit, kernel and end-to-end tests; at the end what was skipped and why, and each module's duration
	@tools/needs lab deploy page old-cpu
	@touch dist/tests-began; status=0; $(MVN) --fail-at-end verify -DexcludedGroups=live || status=$$?; tools/test-report dist/tests-began; exit $$status

other-tools: build ## the tests that read listings, with the nft and iptables of Debian 13 (on 13: of Debian 12), unpacked
	@tools/needs lab
	@PATH="$$(kernels/other-tools):$$PATH" && $(MVN) -q test -pl netlink,agent -am -Dgroups=listing -Dsurefire.failIfNoSpecifiedTests=false

live-test: build ## answers, probation, ports and full tables with live traffic: 15 minutes, mostly of waiting
	@tools/needs lab
	@$(MVN) -q test -pl agent -am -Dgroups=live -Dsurefire.failIfNoSpecifiedTests=false

fault-test: build ## the agent killed, starved, lied to and fought with; LONG=1: a thousand random sequences; SEED=… COUNT=1: one of them again
	@tools/needs lab
	@$(MVN) -q test -pl netlink,agent -am -Dgroups=fault -Dipmasq.long=$(if $(LONG),true,false) $(if $(SEED),-Dipmasq.faults.seed=$(SEED) -Dtest=RandomFaultsTest) $(if $(COUNT),-Dipmasq.faults.count=$(COUNT)) -Dsurefire.failIfNoSpecifiedTests=false

fuzz: ## fuzz everything that parses bytes, 60 s per target: make fuzz DURATION=600
	@tools/needs build
	@$(MVN) -q test -pl fuzz -am -Dgroups=fuzz -Dipmasq.fuzz.seconds=$(or $(DURATION),60) -Dsurefire.failIfNoSpecifiedTests=false

agreement: build ## thousands of packets under generated configs and both backends: file, kernel and outside agree
	@tools/needs lab
	@$(MVN) -q test -pl agent -am -Dgroups=agreement -Dipmasq.agreement.configs=$(or $(COUNT),200) -Dsurefire.failIfNoSpecifiedTests=false

soak: build ## thousands of config changes in minutes, and nothing may grow: make soak COUNT=20000
	@tools/needs lab
	@$(MVN) -q test -pl agent -am -Dgroups=soak -Dipmasq.soak.changes=$(or $(COUNT),3000) -Dsurefire.failIfNoSpecifiedTests=false

kernels: $(if $(filter arm64,$(ARCH)),all-build,build) ## the agent on kernels 5.10 to today's under QEMU, and with iptables 1.8.7 to today's: docs/nodes.md; QUICK=1, ARCH=arm64
	@tools/needs lab kernels $(if $(filter arm64,$(ARCH)),kernels-arm64)
	@kernels/run $(if $(QUICK),quick,$(filter arm64,$(ARCH)))

reproducible: ## build twice from clean copies of the sources: is every byte of the jars and of the image the same?
	@tools/needs build training
	@tools/reproducible '$(BUILD)'

dependencies: ## hold every jar that comes from elsewhere to its checksum in tools/dependencies.lock
	@tools/needs build
	@tools/dependencies check

bench: build ## measure it all, say which promises are met, write docs/benchmarks.md; QUICK=1: in two minutes, to bench/target; PEER=/path/to/agent: beside another
	@tools/needs lab bench
	@tools/bench $(if $(QUICK),-Dipmasq.bench.quick=1) $(if $(PEER),-Dipmasq.bench.peer=$(PEER)) -- $(ARGS)

test-unit: ## the unit tests alone
	@tools/needs build deploy
	@$(MVN) test -DexcludedGroups=kernel,fuzz

shellcheck: ## check every shell script
	@tools/shellcheck

verify: shellcheck ## what CI runs: shell scripts, formatting, then all tests
	@tools/needs build
	@$(MVN) -q spotless:check || { echo "run 'make format'" >&2; exit 1; }
	@$(MAKE) --no-print-directory test

format: ## format the sources
	@tools/needs build
	@$(MVN) -q spotless:apply

version: ## print the version that a build would have
	@echo '$(BUILD)'

clean: ## remove everything that was built
	@rm -rf dist
	@if command -v mvn >/dev/null && tools/jdk >/dev/null 2>&1; then $(MVN) -q clean; else rm -rf */target; fi
