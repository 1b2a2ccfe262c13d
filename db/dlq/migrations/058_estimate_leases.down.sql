do $do$
begin
    execute replace(pg_get_functiondef('dlq.expire_leases(text, int)'::regprocedure),
        'lease_until < statement_timestamp()', 'lease_until < (select clock_timestamp())');
end;
$do$;
