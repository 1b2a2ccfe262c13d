-- Loses the log of the sagas' steps.
DROP TABLE IF EXISTS saga.saga_step_logs;
