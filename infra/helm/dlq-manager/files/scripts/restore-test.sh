# Restores the newest backup into the empty folder $WORK, lets PostgreSQL replay its WAL, and fails unless the database
# is young and its counts are those of its rows. Needs pgBackRest with its configuration, and the programs of
# PostgreSQL's own major version. Nobody can connect to what it starts but itself.
set -eu

: "${WORK:?names the folder to restore into}"
: "${STANZA:=dlq}" "${MAX_AGE_SECONDS:=86400}" "${TIMEOUT_SECONDS:=14400}"
# The port of a backup's own settings may be any.
export PGDATA="$WORK/pg" PGHOST="$WORK" PGPORT=5432 PGUSER=postgres
: "${PGDATABASE:=k1s0_dlq}"
export PGDATABASE

# Left by a job that was killed.
rm -rf "$PGDATA"
mkdir -m 700 "$PGDATA"
pgbackrest --stanza="$STANZA" --pg1-path="$PGDATA" --archive-mode=off restore

# Distributions keep these elsewhere, so a backup may be without them.
[ -e "$PGDATA/postgresql.conf" ] || touch "$PGDATA/postgresql.conf"
echo 'local all all trust' > "$WORK/hba.conf"
# On one line: pg_ctl hands them to a shell, which takes what follows a line break for another command.
options="-c listen_addresses='' -c port=$PGPORT -c unix_socket_directories=$WORK -c hba_file=$WORK/hba.conf"
options="$options -c ssl=off -c shared_preload_libraries='' -c archive_mode=off -c hot_standby=off"
pg_ctl -w -t "$TIMEOUT_SECONDS" -l "$WORK/log" -o "$options" start || { tail -n 50 "$WORK/log"; exit 1; }
trap 'pg_ctl -m fast -w stop > /dev/null' EXIT

ask() { psql -X -v ON_ERROR_STOP=1 -Atc "$1"; }
fail() { echo "the restore test failed: $1" >&2; exit 1; }

# pg_ctl returns while WAL is replayed, and until that is over nobody can ask.
waited=0
until ask 'select 1' > /dev/null 2>&1; do
  pg_ctl status > /dev/null || { tail -n 50 "$WORK/log"; fail 'PostgreSQL ended while it replayed WAL'; }
  [ "$waited" -lt "$TIMEOUT_SECONDS" ] || fail "WAL was not replayed within $TIMEOUT_SECONDS s"
  sleep 1
  waited=$((waited + 1))
done

messages=$(ask 'select count(*) from dlq.dlq_messages')
# What was stored or settled last.
age=$(ask "select coalesce(extract(epoch from now() - max(at)), 1e9)::bigint from (
  select max(updated_at) as at from dlq.dlq_positions union all select max(settled_at) from dlq.dlq_attempts) last")
[ "$age" -le "$MAX_AGE_SECONDS" ] || fail "its newest entry is $age s old; $MAX_AGE_SECONDS are allowed"
drift=$(ask 'select dlq.reconcile_summary(false)')
[ "$drift" = 0 ] || fail "its counts differ from its $messages messages by $drift"
echo "restored: $messages messages, the newest entry is $age s old, the counts are right"
