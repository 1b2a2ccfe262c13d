DROP INDEX IF EXISTS saga.idx_saga_step_logs_step_name;
DROP INDEX IF EXISTS saga.idx_saga_step_logs_status;
DROP INDEX IF EXISTS saga.idx_saga_step_logs_action;
DROP INDEX IF EXISTS saga.idx_saga_step_logs_started_at;
