-- Loses the history of retries; the messages and their counts stay.
drop table if exists dlq.dlq_attempts;
