# meson and ninja do the work; this is the short way to say it.
#
#   make            build/reckon, build/libreckon.so*, build/libreckon.a
#   make install    into $(DESTDIR)$(PREFIX)
#   make test       all tests of this build; tools/check runs every lane
#   make docs       build/docs/index.html: the man pages as a book of HTML
#   make oracle     unwinding and lines against elfutils' and llvm's, many of them; a test does fewer
#   make bench      all benches of bench/README.md and a summary; BENCH='count startup' for some
#   make dist       build/reckon-VERSION.tar.xz, the source release
#   make fuzz | guest | lint | clean

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc)
MESON   ?= meson

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja:
	@$(MESON) setup $(BUILD) --prefix=$(PREFIX) $(MESONFLAGS)

install: all
	@$(MESON) configure $(BUILD) --prefix=$(PREFIX)
	@DESTDIR="$(DESTDIR)" $(MESON) install -C $(BUILD) --quiet

test: all
	@tests/own-mounts $(MESON) test -C $(BUILD) --no-rebuild --num-processes $(JOBS) --print-errorlogs $(TESTS)

bench: all
	@for name in $(BENCH); do [ -x bench/$$name ] || { echo "bench/ has no $$name; bench/README.md lists them" && exit 2; }; done
	@$(MESON) test -C $(BUILD) --no-rebuild --benchmark --verbose $(BENCH); status=$$?; \
	bench/summary -b $(BUILD) $(BENCH) && exit $$status

fuzz: all
	@tests/fuzz/run $(FUZZ)

oracle: all
	@tests/oracle/run $(BUILD) $(STACKS)
	@tests/oracle/lines $(BUILD)
	@tests/oracle/guest $(STACKS) || [ $$? = 77 ]

docs:
	@tools/book $(BUILD)/docs

guest: all
	@tests/guest/run $(GUEST)

dist:
	@tools/dist $(BUILD)

lint: all
	@tools/lint -b $(BUILD)

clean:
	@rm -rf $(BUILD)

.PHONY: all install test bench fuzz oracle docs guest dist lint clean
