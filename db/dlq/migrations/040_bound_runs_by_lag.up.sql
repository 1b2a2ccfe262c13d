-- A run may wait while the consumer group that failed lags, and topics to redirect to may be named per message.

set local lock_timeout = '5s';

alter table dlq.dlq_runs
    -- Nothing more is claimed for a target while a group that failed there has more records than this to read.
    add column max_lag bigint,
    add constraint chk_dlq_runs_max_lag check (max_lag >= 0);

-- {topic} and {group} stand for the original topic and the consumer group of each message.
alter table dlq.dlq_policies drop constraint chk_dlq_policies_redirect_topic;
alter table dlq.dlq_policies add constraint chk_dlq_policies_redirect_topic
    check (redirect_topic ~ '^([A-Za-z0-9._-]|\{topic\}|\{group\})*$' and length(redirect_topic) <= 249 and redirect_topic not in ('.', '..'));
