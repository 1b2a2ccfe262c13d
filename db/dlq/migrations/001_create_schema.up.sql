-- Schema, extension and the function that keeps updated_at true.

create extension if not exists "pgcrypto";
create schema if not exists dlq;

create or replace function dlq.update_updated_at()
returns trigger as $$
begin
    new.updated_at = now();
    return new;
end;
$$ language plpgsql;
