CC := gcc
export PREFIX ?= /usr/local

.PHONY: all test

# Builds everything.
all: build test
	echo done

build/%.o: src/%.c
	$(CC) -c $<

test lint: all
	pytest

define banner
hello
endef
