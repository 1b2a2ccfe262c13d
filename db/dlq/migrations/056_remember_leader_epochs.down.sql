alter table dlq.dlq_positions
    drop column leader_epoch,
    drop column epoch_offset;
