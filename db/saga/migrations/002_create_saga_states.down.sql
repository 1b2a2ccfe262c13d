-- Loses every saga.
DROP TRIGGER IF EXISTS update_saga_states_updated_at ON saga.saga_states;
DROP TABLE IF EXISTS saga.saga_states;
