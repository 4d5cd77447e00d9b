# make demo   shows one whole Run
# make test   everything that must hold before a change goes in
# make build  bin/slipway and bin/slipwayd

GO        ?= go
FUZZTIME  ?= 30s
ROUNDS    ?= 20
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# The stamps of a build; without Git, or without a commit, it has none.
REVISION := $(shell git rev-parse --verify -q HEAD 2>/dev/null)
ifneq ($(REVISION),)
DIRTY   := $(if $(shell git status --porcelain 2>/dev/null),+dirty)
VERSION := $(shell git describe --tags --match 'v[0-9]*' 2>/dev/null)
TIME    := $(shell git log -1 --format=%cI)
STAMPS  := -X slipway/rpc.version=$(VERSION) -X slipway/rpc.revision=$(REVISION)$(DIRTY) -X slipway/rpc.revisionTime=$(TIME)
endif

# The race detector needs cgo and a C compiler.
RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)

.PHONY: build demo test format vet unit conformance cross bench fuzz soak clean

# Without cgo: a static program starts faster, which every command pays for.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags "$(STAMPS)" -o bin/ ./cmd/slipway ./cmd/slipwayd

demo: build
	@$(GO) run -buildvcs=false ./docs/demo bin

test: build format vet unit cross

format:
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }

vet:
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# The scenarios of cmd/slipway/testdata/conformance are among these, in both modes.
unit:
	$(if $(RACE),,@echo "no C compiler or no cgo: the tests run without the race detector")
	$(GO) test $(RACE) -timeout 40m ./...

conformance:
	$(GO) test -count=1 -run TestConformance ./cmd/slipway

cross:
	@set -e; for p in $(PLATFORMS); do \
		echo "build and vet for $$p"; \
		export CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/}; \
		$(GO) build -buildvcs=false -o /dev/null ./cmd/slipway; \
		$(GO) build -buildvcs=false -o /dev/null ./cmd/slipwayd; \
		$(GO) vet ./...; \
	done

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
	SLIPWAY_TABLE_FILES="1000 10000 100000" $(GO) test -count=1 -timeout 0 -v -run TestObserveTable ./gitwatch
	SLIPWAY_MEASURE=1 $(GO) test -count=1 -v -run 'TestLargeEnvelopes|TestReadingMaterialAgainstVersion' ./cmd/slipway

fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

# The scenarios over and over: daemons that live through many Runs.
soak:
	$(GO) test -count=$(ROUNDS) -timeout 0 -run TestConformance ./cmd/slipway
	SLIPWAY_SOAK=1 $(GO) test -count=1 -timeout 0 -v ./cmd/slipwayd/faults
	SLIPWAY_SOAK=1 $(GO) test -count=1 -timeout 0 -v -run 'PowerCut|Death|EverySync|Simulation' ./engine
	SLIPWAY_SOAK=1 $(GO) test -count=1 -timeout 0 -v -run 'TestServiceUnderSystemd|TestRunsOfInventedIssues|TestHostsStumble' ./cmd/slipway
	SLIPWAY_SOAK=1 $(GO) test -count=1 -timeout 0 -v -run 'TestSoak|TestExhaustedLimits' ./gitwatch
	SLIPWAY_SOAK=1 $(GO) test -count=1 -timeout 0 -v -run TestCrashEverywhere ./deploy
	SLIPWAY_TABLE_FILES=1000000 $(GO) test -count=1 -timeout 0 -v -run TestObserveTable ./gitwatch

clean:
	rm -rf bin
