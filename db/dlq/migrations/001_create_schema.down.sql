drop function if exists dlq.update_updated_at();
drop schema if exists dlq cascade;
drop extension if exists "pgcrypto";
