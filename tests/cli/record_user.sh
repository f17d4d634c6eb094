#!/bin/bash
# record_options.sh as a plain user.
set -u
"$ROOM" nobody || exit 77
command -v setpriv >/dev/null || { echo "setpriv is not installed"; exit 77; }
umask 022 # what is made here is for that user
as="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 755 .
mkdir -m 777 plain && cd plain || exit 1
cp "$RECKON" reckon 2>/dev/null && RECKON=$PWD/reckon # where the build lies the user may not come
LD_LIBRARY_PATH=$PWD
for library in "$BUILD"/libreckon.so*; do [ -f "$library" ] && cp "$library" .; done
cp "$ROOM" room && ROOM=$PWD/room
export RECKON LD_LIBRARY_PATH ROOM
cp "$SOURCE/tests/cli/record_options.sh" . || exit 1
$as test -w . || { echo "a plain user can't reach this directory"; exit 77; }
$as ./room self || exit 77
mkdir -m 777 work && cd work && exec $as bash ../record_options.sh
