-- Only these words change. PostgreSQL takes a third of a table to be older than a subquery says, because it does not look
-- what that gives. So of a table with millions of rows it read the whole index by topic and status in the search for leases
-- that ran out, at each claim: 1.3 s of 23 million. The time of the statement is looked at, and can be looked up as well; it
-- differs from the present by less than a statement takes.
do $do$
begin
    execute replace(pg_get_functiondef('dlq.expire_leases(text, int)'::regprocedure),
        'lease_until < (select clock_timestamp())', 'lease_until < statement_timestamp()');
end;
$do$;
