-- Loses where the records of unanswered commits stand: the ledger alone decides about them then.

set local lock_timeout = '800ms';

alter table dlq.dlq_slots drop column unanswered;
