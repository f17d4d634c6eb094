#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz wants them: with $CC and $CFLAGS, linked by $LIB_FUZZING_ENGINE, into $OUT, each beside its
# seeds. $SRC/reckon is the tree; without it, the tree that this file is in. tests/fuzz/oss-fuzz/test runs it.
: "${CC:?}" "${LIB_FUZZING_ENGINE:?}" "${OUT:?}"
source=${SRC:+$SRC/reckon}
[ -d "${source:-/nowhere}" ] || source=$(cd "$(dirname "$0")/../../.." && pwd)
work=${WORK:-/tmp}/reckon-fuzz

rm -rf "$work"
meson setup "$work" "$source" -Dfuzz=true -Dfuzz_engine="$LIB_FUZZING_ENGINE" -Dpython=disabled -Db_lundef=false \
    -Dtests=enabled --buildtype=plain
ninja -C "$work" ${JOBS:+-j "$JOBS"} fuzz-programs
for program in "$work"/tests/fuzz/fuzz_*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    name=${program##*/}
    cp "$program" "$OUT/"
    (cd "$source/tests/fuzz/corpus/${name#fuzz_}/" && python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" ./*)
done
rm -rf "$work"
