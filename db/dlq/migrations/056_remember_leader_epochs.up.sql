-- Of the record before a position: the epoch of the leader that wrote it. By it Kafka says where its log was cut, if an
-- election has lost records: then others stand below the position, which nobody has read.

-- epoch_offset: the position that leader_epoch is of. Another one was set by somebody who did not know the epoch.
alter table dlq.dlq_positions
    add column leader_epoch int,
    add column epoch_offset bigint;
