// The migrations of the specification, word for word: three of the DLQ and five of the sagas. For the tests of taking over
// a database that they made.

export const specifiedDlq = `
-- dlq-db: スキーマ・拡張機能・共通関数の作成 (PostgreSQL 17)

CREATE EXTENSION IF NOT EXISTS "pgcrypto";
CREATE SCHEMA IF NOT EXISTS dlq;

CREATE OR REPLACE FUNCTION dlq.update_updated_at()
RETURNS TRIGGER AS $$
BEGIN
    NEW.updated_at = NOW();
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;

-- dlq-db: dlq_messages テーブル作成

CREATE TABLE IF NOT EXISTS dlq.dlq_messages (
    id              UUID        PRIMARY KEY DEFAULT gen_random_uuid(),
    original_topic  VARCHAR(255) NOT NULL,
    error_message   TEXT         NOT NULL,
    retry_count     INT          NOT NULL DEFAULT 0,
    max_retries     INT          NOT NULL DEFAULT 3,
    payload         JSONB,
    status          VARCHAR(50)  NOT NULL DEFAULT 'PENDING',
    created_at      TIMESTAMPTZ  NOT NULL DEFAULT NOW(),
    updated_at      TIMESTAMPTZ  NOT NULL DEFAULT NOW(),
    last_retry_at   TIMESTAMPTZ,

    CONSTRAINT chk_dlq_messages_status CHECK (status IN ('PENDING', 'RETRYING', 'RESOLVED', 'DEAD'))
);

-- インデックス
CREATE INDEX IF NOT EXISTS idx_dlq_messages_original_topic ON dlq.dlq_messages (original_topic);
CREATE INDEX IF NOT EXISTS idx_dlq_messages_status ON dlq.dlq_messages (status);
CREATE INDEX IF NOT EXISTS idx_dlq_messages_created_at ON dlq.dlq_messages (created_at);

-- updated_at トリガー
CREATE TRIGGER trg_dlq_messages_updated_at
    BEFORE UPDATE ON dlq.dlq_messages
    FOR EACH ROW
    EXECUTE FUNCTION dlq.update_updated_at();

-- dlq-db: 古い DLQ メッセージのアーカイブ管理

-- アーカイブ用テーブル
CREATE TABLE IF NOT EXISTS dlq.dlq_messages_archive (
    LIKE dlq.dlq_messages INCLUDING ALL
);

-- アーカイブ実行プロシージャ（バッチ処理対応）
CREATE OR REPLACE PROCEDURE dlq.archive_old_dlq_messages(
    p_retention_days INT DEFAULT 30,
    p_batch_size INT DEFAULT 1000
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_cutoff TIMESTAMPTZ;
    v_archived_count INT := 0;
    v_batch_count INT;
BEGIN
    v_cutoff := NOW() - (p_retention_days || ' days')::INTERVAL;

    LOOP
        WITH to_archive AS (
            SELECT id FROM dlq.dlq_messages
            WHERE status IN ('RESOLVED', 'DEAD')
              AND updated_at < v_cutoff
            LIMIT p_batch_size
            FOR UPDATE SKIP LOCKED
        ),
        archived AS (
            INSERT INTO dlq.dlq_messages_archive
            SELECT m.* FROM dlq.dlq_messages m
            INNER JOIN to_archive ta ON m.id = ta.id
            RETURNING 1
        )
        SELECT COUNT(*) INTO v_batch_count FROM archived;

        DELETE FROM dlq.dlq_messages
        WHERE id IN (
            SELECT id FROM dlq.dlq_messages
            WHERE status IN ('RESOLVED', 'DEAD')
              AND updated_at < v_cutoff
            LIMIT p_batch_size
        );

        v_archived_count := v_archived_count + v_batch_count;
        EXIT WHEN v_batch_count = 0;
        COMMIT;
    END LOOP;

    RAISE NOTICE 'Archived % DLQ messages older than % days', v_archived_count, p_retention_days;
END;
$$;
`

export const specifiedSaga = `
-- saga-db: スキーマ・拡張機能・共通関数の作成 (PostgreSQL 17)

-- 拡張機能
CREATE EXTENSION IF NOT EXISTS "pgcrypto";

-- スキーマ
CREATE SCHEMA IF NOT EXISTS saga;

-- updated_at 自動更新関数
CREATE OR REPLACE FUNCTION saga.update_updated_at()
RETURNS TRIGGER AS $$
BEGIN
    NEW.updated_at = NOW();
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;

-- saga-db: saga_states テーブル作成

CREATE TABLE IF NOT EXISTS saga.saga_states (
    id              UUID         PRIMARY KEY DEFAULT gen_random_uuid(),
    workflow_name   VARCHAR(255) NOT NULL,
    current_step    INT          NOT NULL DEFAULT 0,
    status          VARCHAR(50)  NOT NULL DEFAULT 'STARTED',
    payload         JSONB,
    correlation_id  VARCHAR(255),
    initiated_by    VARCHAR(255),
    error_message   TEXT,
    created_at      TIMESTAMPTZ  NOT NULL DEFAULT NOW(),
    updated_at      TIMESTAMPTZ  NOT NULL DEFAULT NOW(),

    CONSTRAINT chk_saga_states_status CHECK (status IN ('STARTED', 'RUNNING', 'COMPLETED', 'COMPENSATING', 'FAILED', 'CANCELLED'))
);

-- インデックス
CREATE INDEX IF NOT EXISTS idx_saga_states_workflow_name ON saga.saga_states (workflow_name);
CREATE INDEX IF NOT EXISTS idx_saga_states_status ON saga.saga_states (status);
CREATE INDEX IF NOT EXISTS idx_saga_states_correlation_id ON saga.saga_states (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_saga_states_created_at ON saga.saga_states (created_at);

-- updated_at トリガー
CREATE TRIGGER update_saga_states_updated_at
    BEFORE UPDATE ON saga.saga_states
    FOR EACH ROW
    EXECUTE FUNCTION saga.update_updated_at();

-- saga-db: saga_step_logs テーブル作成

CREATE TABLE IF NOT EXISTS saga.saga_step_logs (
    id                UUID         PRIMARY KEY DEFAULT gen_random_uuid(),
    saga_id           UUID         NOT NULL REFERENCES saga.saga_states(id) ON DELETE CASCADE,
    step_index        INT          NOT NULL,
    step_name         VARCHAR(255) NOT NULL,
    action            VARCHAR(50)  NOT NULL,
    status            VARCHAR(50)  NOT NULL,
    request_payload   JSONB,
    response_payload  JSONB,
    error_message     TEXT,
    started_at        TIMESTAMPTZ  NOT NULL DEFAULT NOW(),
    completed_at      TIMESTAMPTZ,

    CONSTRAINT chk_saga_step_logs_action CHECK (action IN ('EXECUTE', 'COMPENSATE')),
    CONSTRAINT chk_saga_step_logs_status CHECK (status IN ('SUCCESS', 'FAILED', 'TIMEOUT', 'SKIPPED'))
);

-- インデックス
CREATE INDEX IF NOT EXISTS idx_saga_step_logs_saga_id_step_index ON saga.saga_step_logs (saga_id, step_index);

-- saga-db: saga_states および saga_step_logs への追加インデックス

-- saga_step_logs: ステップ名での検索用
CREATE INDEX IF NOT EXISTS idx_saga_step_logs_step_name
    ON saga.saga_step_logs (step_name);

-- saga_step_logs: ステータスでのフィルタ用
CREATE INDEX IF NOT EXISTS idx_saga_step_logs_status
    ON saga.saga_step_logs (status);

-- saga_step_logs: アクションでのフィルタ用
CREATE INDEX IF NOT EXISTS idx_saga_step_logs_action
    ON saga.saga_step_logs (action);

-- saga_step_logs: 開始時刻での範囲検索用
CREATE INDEX IF NOT EXISTS idx_saga_step_logs_started_at
    ON saga.saga_step_logs (started_at);

-- saga-db: saga_step_logs の updated_at 関連拡張
-- 注意: saga_states のトリガーは 002_create_saga_states.up.sql で作成済み
--       saga.update_updated_at() 関数は 001_create_schema.up.sql で作成済み

-- saga_step_logs に updated_at カラムを追加
ALTER TABLE saga.saga_step_logs
    ADD COLUMN IF NOT EXISTS updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW();

-- saga_step_logs の updated_at トリガー
CREATE TRIGGER trigger_saga_step_logs_update_updated_at
    BEFORE UPDATE ON saga.saga_step_logs
    FOR EACH ROW
    EXECUTE FUNCTION saga.update_updated_at();
`
