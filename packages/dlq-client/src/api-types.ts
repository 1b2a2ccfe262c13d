// Made from /openapi.json by api-types.test.ts.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the process lives
         * @description Whether the process lives
         */
        get: operations["getHealthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the process can do its work now
         * @description Whether the process can do its work now
         */
        get: operations["getReadyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Metrics for Prometheus
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/config.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the console needs before somebody signs in
         * @description Holds no secrets. A console that was loaded earlier compares `build` to know of a newer one.
         */
        get: operations["getConsoleConfigJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a session
         * @description Answers a bearer token with a cookie that stands for it, so that a browser need not keep the token. The session ends with the token, and after `auth.session.ttl` at the latest.
         *
         *     Needs the role `sys_auditor`.
         */
        post: operations["postSession"];
        /**
         * End a session
         * @description Takes the cookie away. It needs no session: one that has ended can be taken away as well.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cron": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The cron jobs, with their last outcome and next tick
         * @description Times are in UTC. A job whose `schedule` is null is off, and runs only when somebody asks.
         *
         *     Needs the role `sys_auditor`, and a token for all topics.
         */
        get: operations["getCron"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cron/{job}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The executions of a cron job, the newest first
         * @description Executions are kept for a week, and the last one for ever.
         *
         *     Needs the role `sys_auditor`, and a token for all topics.
         */
        get: operations["getCronByJobRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cron/{job}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a cron job now
         * @description A retrier runs it, after any execution of the same job that is under way. Its outcome has its `tick` in `GET /api/v1/cron/:job/runs`.
         *
         *     Needs the role `sys_operator`, and a token for all topics.
         */
        post: operations["postCronByJobRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One dead letter
         * @description Also finds archived messages; archived_at then says since when.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getDlqMessagesById"];
        put?: never;
        post?: never;
        /**
         * Delete a dead letter with its history
         * @description The reason, in the query or in the body, goes into the audit.
         *
         *     Needs the role `sys_operator`.
         */
        delete: operations["deleteDlqMessagesById"];
        options?: never;
        head?: never;
        /**
         * Edit a dead letter, or set when it is retried
         * @description Only fields that the body names change. `…/edits` keeps and shows the replaced values. The next retry sends the edited message. A message that was sent, or is being sent, cannot be edited: RESOLVED and RETRYING answer 409. With `next_retry_at` null, the message waits until somebody retries it. A `decoded` key or value is the JSON that answers show of it, and `patch` changes that of the value: it is written with the same schema, frame and compression.
         *
         *     Needs the role `sys_operator`.
         */
        patch: operations["patchDlqMessagesById"];
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The attempts of a dead letter
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getDlqMessagesByIdAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The record’s key, byte for byte, as a download
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getDlqMessagesByIdKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/value": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The record’s value, byte for byte, as a download
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getDlqMessagesByIdValue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry one dead letter, and wait for the outcome
         * @description Waits for an attempt that is already under way. DEAD, RESOLVED and a spent budget answer 409, unless `force` is set; `force` needs a reason. A record that Kafka refuses answers 409 SYS_DLQ_PUBLISH_REFUSED, with the reason, the status of the message and what comes next as details.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqMessagesByIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a dead letter up
         * @description PENDING becomes DEAD: the message is not retried until somebody revives it.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqMessagesByIdDead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/revive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a DEAD letter be retried again
         * @description DEAD becomes PENDING. The policy decides when it is retried; a spent budget is renewed.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqMessagesByIdRevive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/edits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The edits of a dead letter
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getDlqMessagesByIdEdits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/edits/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One edit, with the values that it replaced
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getDlqMessagesByIdEditsByNumber"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/origin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How a dead letter compares with the record that failed
         * @description As it was last compared. The patch is from the message as it is now. A token needs both topics of it.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getDlqMessagesByIdOrigin"];
        put?: never;
        /**
         * Compare a dead letter with the record that failed
         * @description A retrier fetches the record at the original place, and the answer waits for it, at most ten seconds. Nothing of the message changes. A token needs both topics of the message.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqMessagesByIdOrigin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring an archived dead letter back
         * @description It is live again with its attempts, in the status that it had. A live one answers 409.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqMessagesByIdRestore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages/{id}/edits/{number}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a dead letter the content it had before an edit
         * @description Edit 1 holds the message as it arrived. Undoing an edit also takes back all edits after it, and is an edit itself, so nothing is lost. Where the message has that content already, nothing changes.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqMessagesByIdEditsByNumberUndo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Dead-letter a record by HTTP
         * @description For consumers that have no DLQ topic to write to. The record is stored byte for byte and retried to `original_topic` by its policy; without a `value` it is a tombstone. With an `Idempotency-Key`, asking again within seven days makes no second message. Reports for a topic name a thousand consumer groups at most; a message that names a further one has none.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attempts/{attempt_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that the work of a retry is done
         * @description For consumers that want their retries to end as `confirmed`; `confirmRetry()` of dlq-client calls it after the work. The ids are those of the record’s headers `dlq-attempt-id`, `dlq-message-id` and `dlq-attempt`. Asking again changes nothing. A message that fails again later has come back all the same.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postAttemptsByAttempt_idConfirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Dead letters of all topics, by any filter
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All dead letters that match a filter, as a download
         * @description Streamed as fast as the client reads. Messages that arrive meanwhile may be missing. An answer that breaks off is incomplete. In CSV, an apostrophe precedes text that a spreadsheet would take for a formula.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getMessagesExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/{topic}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The dead letters of a topic, newest first
         * @description The name of a known DLQ topic lists the messages that were read from it. Any other name is an original topic. Pages go by page and page_size; with a filter, a sort, a limit or a cursor they go as in GET /api/v1/messages.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getDlqByTopic"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which values the messages of a filter have, and how often
         * @description Looks at the newest 500 messages along the filter's index. Age is counted from created_at.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getMessagesFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What arrived, was sent, failed again and is DEAD, in stretches of time
         * @description Stretches begin at multiples of `step`. The answer looks at a bounded number of rows of each: `gte` says that there are more. Archived messages are not counted, nor are attempts of messages that do not match the filter.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The attempts of the messages that a filter finds, newest first
         * @description Those that have an outcome, by the time of it; not those of archived messages. The filter is that of GET /api/v1/messages, so `from` and `to` are about the messages. Where it finds many of them, an answer looks at a thousand attempts at most: it may have fewer than `limit`, even none, and `next_cursor` continues behind them.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dlq/{topic}/retry-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry every dead letter of a topic that may be retried
         * @description Creates a run (`/api/v1/runs`): the retriers send the messages that are stored now, by the topic’s policy. Skips DEAD, RESOLVED and spent budgets. Until the run has ended, a second request for the same topic answers 409 and names the run; with the same `Idempotency-Key`, it waits for that run.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postDlqByTopicRetryAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The topics of the dead letters
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getTopics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics/{topic}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One topic
         * @description Without `kind`, the name of a known DLQ topic means that, and any other name an original topic.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getTopicsByTopic"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Give a topic a name
         * @description A DLQ topic or an original topic. The name is shown beside that of Kafka, which stays the id.
         *
         *     Needs the role `sys_operator`.
         */
        patch: operations["patchTopicsByTopic"];
        trace?: never;
    };
    "/api/v1/consumer-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The consumer groups that failed
         * @description Groups with the most open messages first, 1000 at most.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getConsumerGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics/{topic}/readers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The consumer groups that read a topic
         * @description Groups of a topic that messages were sent to, as a retrier last saw them; none of other topics, and none outside the token’s topics.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getTopicsByTopicReaders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics/{topic}/sample": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look at some records of a candidate or a DLQ topic
         * @description An ingester reads the 20 newest and the 20 oldest records and says how they would be understood: family, origin, consumer group and error. Keys and values are not shown, and nothing is stored or sent.
         *
         *     Needs the role `sys_auditor`.
         */
        post: operations["postTopicsByTopicSample"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics/{topic}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that a candidate is no DLQ topic
         * @description It is not listed and not told of any more. `dismissed: false` takes it back.
         *
         *     Needs the role `sys_admin`.
         */
        post: operations["postTopicsByTopicDismiss"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which topics are ingested, beside the configuration
         * @description Needs the role `sys_auditor`, and a token for all topics.
         */
        get: operations["getSubscriptions"];
        put?: never;
        /**
         * Ingest a topic, or leave it alone
         * @description An exact name decides over a pattern, a pattern over `kafka.dlq_topic_pattern`, and among equals `ignore`. The ingesters follow within seconds. `dry_run` tells which known topics it concerns and what reading them costs, and changes nothing.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        post: operations["postSubscriptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a subscription
         * @description What was ingested stays, and so does the position: a later subscription goes on there.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        delete: operations["deleteSubscriptionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics/{topic}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop the retries of a topic, or the ingestion of a DLQ topic
         * @description An original topic or a DLQ topic, by its exact name. From the answer on nothing of it is claimed: what falls due by itself, what somebody asks for, and what runs hold waits; retriers finish the batches that they hold. The pause ends at `until`, or when somebody resumes the topic. A pause that is set again keeps its `since`.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postTopicsByTopicPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/topics/{topic}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let the retries of a paused topic, or its ingestion, go on
         * @description Nothing happens where it is not paused.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postTopicsByTopicResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consumer-groups/{group}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Give a consumer group a name
         * @description Needs the role `sys_operator`, and a token for all topics.
         */
        patch: operations["patchConsumerGroupsByGroup"];
        trace?: never;
    };
    "/api/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counts by topic, consumer group and status; ages and rates
         * @description At most 1000 topics and consumer groups, those with most open messages first. `counts` are those of all. `oldest_pending_at` is the time of the oldest record of the topic that waits, whatever its consumer group; null where the consumer group has none that waits. `success_rate`: of the retries of the last five minutes, the share that was not refused and has not failed again so far. Rates look at 100,000 rows at most; for a token that is limited, at 10,000 of what applications handle themselves.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What changes in the fleet, as a stream of events
         * @description An event `changed` at the beginning and whenever something changes, at most one a second. Its data is JSON: `at`; `counts`, the messages in each status; `groups` and `runs`, the ids of those that have changed (`more`: and others); and `missed`: the listener has just begun, or changes were lost, so it should read everything again. A stream that broke off continues by `Last-Event-ID`, for half a minute and on the same API process. It tells of the token’s topics alone, and ends with the token. Streams are limited as those of runs are.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/positions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The position of each partition
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getPositions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/positions/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a partition again from an offset, or skip to one
         * @description Stored and archived messages stay as they are; deleted messages are stored again. Takes effect within 5 seconds where it goes back, and with the next record where it skips. An offset beyond the log’s end counts as a topic that was created again. Needs a token for all topics.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        post: operations["postPositionsReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which DLQ topic may speak for which original topic
         * @description A token for some topics sees the routes that begin or end there.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getRoutes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/routes/{dlqTopic}/{originalTopic}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Allow or forbid a DLQ topic to send to an original topic
         * @description Once it is approved, the messages that wait are scheduled; once it is blocked, those that are scheduled wait. Needs a token whose topics include both.
         *
         *     Needs the role `sys_operator`.
         */
        put: operations["putRoutesByDlqTopicByOriginalTopic"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Error groups that have messages
         * @description Their messages: GET /api/v1/messages?group_id=…
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set state, owner and note of several error groups
         * @description The same change for each group, as PATCH /api/v1/groups/{id} makes it: for all of the ids, 100 at most, or for none.
         *
         *     Needs the role `sys_operator`.
         */
        patch: operations["patchGroups"];
        trace?: never;
    };
    "/api/v1/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One error group, with its trend
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getGroupsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set state, owner and note of an error group
         * @description State, owner and note are for people; they change no retry. They belong to the group’s DLQ topics: `dlq_topic` names one, else all that the token covers are changed. Fields that the body leaves out stay. A state that is set again counts from now, so setting resolved again clears regressed.
         *
         *     Needs the role `sys_operator`.
         */
        patch: operations["patchGroupsById"];
        trace?: never;
    };
    "/api/v1/groups/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume the automatic retries of a paused error group
         * @description For one original topic, or for all that the token covers. What failed again before does not count for another pause. Messages that were put off are retried at their own time; a run retries them now.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postGroupsByIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The policies, in the order of their patterns
         * @description With the layers below them: the built-in defaults, and the policies of the configuration. A token for some topics sees only the patterns within these topics.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getPolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/{pattern}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One policy, and the topics that it matches
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getPoliciesByPattern"];
        /**
         * Create or replace a policy
         * @description The body replaces the whole policy. For settings that it leaves out, a wider pattern, the configuration or the default decides. With `dry_run=true` nothing changes, and the answer shows the policy as it would be.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        put: operations["putPoliciesByPattern"];
        post?: never;
        /**
         * Delete a policy
         * @description Needs the role `sys_admin`, and a token for all topics.
         */
        delete: operations["deletePoliciesByPattern"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schemas/{number}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a registry for a schema again
         * @description By `decoding.schema.number` of a message. An ingester or retrier asks within a second; where the id has another meaning now, values are read with that from then on, and those that were stored decoded keep their payload. A schema that the registry does not have any more stays as it is. Where values do not fit a schema, this happens by itself, once a day at most.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        post: operations["postSchemasByNumberRefresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notifications/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What somebody should have heard of, the newest first
         * @description Transitions and conditions of the last 30 days, for the token’s topics.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getNotificationsEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where notifications can be sent to
         * @description As the retriers have them in their configuration: name, kind and host. Addresses and secrets are in files.
         *
         *     Needs the role `sys_auditor`, and a token for all topics.
         */
        get: operations["getChannels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test to a channel
         * @description A retrier sends it; `GET /api/v1/deliveries` shows what became of it. A channel that was disabled is enabled first.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        post: operations["postChannelsByNameTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was sent to which channel, the newest first
         * @description Needs the role `sys_auditor`, and a token for all topics.
         */
        get: operations["getDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deliveries/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery that has failed for good once more
         * @description With all of its tries.
         *
         *     Needs the role `sys_operator`, and a token for all topics.
         */
        post: operations["postDeliveriesByIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notifications/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who hears of what
         * @description Needs the role `sys_auditor`, and a token for all topics.
         */
        get: operations["getNotificationsRoutes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notifications/routes/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Create or replace a route
         * @description An empty list of `types`, `topics` or `owners` takes all. The first event of a route is sent at once, further ones of the time `digest` go out together; a condition that lasts is said again after `repeat_every`, and its end once. `quiet` gathers until its end; critical events go through.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        put: operations["putNotificationsRoutesByName"];
        post?: never;
        /**
         * Delete a route
         * @description Needs the role `sys_admin`, and a token for all topics.
         */
        delete: operations["deleteNotificationsRoutesByName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed what, newest first
         * @description A token for some topics sees only the changes to messages of these topics. With `related=true` an answer looks at 500 entries at most, with `q` at 5,000: it may have fewer than `limit`, even none, and `next_cursor` continues behind them.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who was shown what behind masks, newest first
         * @description Each answer to `unmask=true` that showed something of a topic with masks, written before it was sent. Kept as long as the audit.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        get: operations["getReads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who asks: name, role and topics
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dlq-status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The number of DEAD messages per original topic and consumer group
         * @description Exact, and as fast with 23 million messages as with a hundred. Every topic and consumer group that has messages is listed, also with `deadCount` 0. Messages that name no consumer group stand under `(none)`.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getDlqStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/channel/{channelId}/consumer/{consumerId}/dlq": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete the messages of a consumer group that are DEAD with their budget spent
         * @description Up to 10000 DEAD messages of the topic are examined in one transaction, with their count and audit entry. A larger purge is made in chunks of 2000, each a transaction of its own: a request that is cut off has deleted what the counts say, and can be repeated for the rest. Messages that were given up with attempts left stay.
         *
         *     Needs the role `sys_operator`.
         */
        delete: operations["deleteChannelByChannelIdConsumerByConsumerIdDlq"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/channel/{channelId}/consumer/{consumerId}/job/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete one message that is DEAD with its budget spent
         * @description Needs the role `sys_operator`.
         */
        delete: operations["deleteChannelByChannelIdConsumerByConsumerIdJobByJobId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs, newest first
         * @description By pages, or from one page to the next along `next_cursor`, which newer runs do not shift.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getRuns"];
        put?: never;
        /**
         * Create a run over many dead letters
         * @description The selection is frozen: messages that arrive later are not touched. With `expect_count`, the run is refused where more or fewer messages match. `dry_run` changes nothing and shows what the run would do. A canary sends the first messages, waits to see whether they fail again, sends a share, waits again, and sends the rest. With `force`, a retry takes DEAD messages too, whatever their budget. With an `Idempotency-Key`, asking again makes no second run.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One run with its progress
         * @description The counts are always exact: `taken` is the sum of `waiting` and of all outcomes.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getRunsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change how fast a run sends
         * @description Needs the role `sys_operator`.
         */
        patch: operations["patchRunsById"];
        trace?: never;
    };
    "/api/v1/runs/{id}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The proof of a run that erased
         * @description Who, why and when, HMACs in place of keys, ids, rows by table, what a second search found, and where copies remain in Kafka. It holds no key and no text of a message. Keep it outside of the database: db/erase-again.ts needs it after a restore.
         *
         *     Needs the role `sys_admin`, and a token for all topics.
         */
        get: operations["getRunsByIdProof"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The messages of a run, by their outcome
         * @description In the order of ids; the next page begins `after` the last one, the one before ends `before` the first. With `show=message` each item has what a list of messages shows. Of the skipped messages, the first ten thousand. With `verdict` instead of `outcome`: the messages that were sent and have this verdict now. Such a page may have few items, or none, and go on all the same: only a null `next_after` is the end.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getRunsByIdItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The progress of a run as a stream of events
         * @description An event "progress" with the run whenever it has changed, at most one a second; the last one is its end. The stream also ends when the token does. A token holds ten streams at most, and the service 200.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getRunsByIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a run
         * @description From this answer on, no further message is claimed for the run. Retriers finish the batches that they hold.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postRunsByIdPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused run
         * @description Also resumes a run that its canary paused.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postRunsByIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run
         * @description From this answer on, no further message is claimed for the run. Messages that were not sent become as they were before it.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postRunsByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sagas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sagas, newest first
         * @description By workflow, status and correlation id. The correlation id of a run’s saga is the run’s id.
         *
         *     Needs the role `sys_auditor`.
         */
        get: operations["getSagas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sagas/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One saga with its steps
         * @description Needs the role `sys_auditor`.
         */
        get: operations["getSagasById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sagas/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a saga
         * @description The saga compensates its executed steps in reverse order; then it is CANCELLED. Cancelling the saga of a run cancels the run.
         *
         *     Needs the role `sys_operator`.
         */
        post: operations["postSagasByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Error */
        Error: {
            error: {
                /** @enum {string} */
                code: "SYS_DLQ_VALIDATION_ERROR" | "SYS_DLQ_UNAUTHENTICATED" | "SYS_DLQ_FORBIDDEN" | "SYS_DLQ_NOT_FOUND" | "SYS_DLQ_METHOD_NOT_ALLOWED" | "SYS_DLQ_REQUEST_TIMEOUT" | "SYS_DLQ_CONFLICT" | "SYS_DLQ_PUBLISH_REFUSED" | "SYS_DLQ_NOT_EXACT" | "SYS_DLQ_PRECONDITION_FAILED" | "SYS_DLQ_PAYLOAD_TOO_LARGE" | "SYS_DLQ_URI_TOO_LONG" | "SYS_DLQ_UNSUPPORTED_MEDIA_TYPE" | "SYS_DLQ_PRECONDITION_REQUIRED" | "SYS_DLQ_TOO_MANY_REQUESTS" | "SYS_DLQ_HEADERS_TOO_LARGE" | "SYS_DLQ_INTERNAL_ERROR" | "SYS_DLQ_KAFKA_UNAVAILABLE" | "SYS_DLQ_UNAVAILABLE";
                message: string;
                request_id: string;
                details: {
                    field: string;
                    message: string;
                }[];
            };
        };
        /** ConsoleConfig */
        ConsoleConfig: {
            version: string;
            /** @description Another build of the console has another one. */
            build: string;
            environment: string;
            title: string;
            /** @description The ways to sign in; none where no authentication is configured. */
            sign_in: ("token" | "oidc")[];
            /** @description Addresses of other tools, with names in braces for what the console fills in. */
            links: {
                trace: string | null;
                source: string | null;
                ticket: string | null;
                logs: string | null;
            };
            /** @enum {string} */
            payloads: "shown" | "hidden";
            /** @description Where the console can lead to, its own deployment among them; empty where none are configured. */
            deployments: {
                name: string;
                url: string;
            }[];
        };
        /** Session */
        Session: {
            actor: string;
            /** Format: date-time */
            expires_at: string;
        };
        /** CronJob */
        CronJob: {
            name: string;
            schedule: string | null;
            next_tick: string | null;
            last: components["schemas"]["CronRun"] | null;
            current: components["schemas"]["CronRun"] | null;
        };
        /** CronRun */
        CronRun: {
            /** Format: date-time */
            tick: string;
            requested_by: string | null;
            retrier: string | null;
            attempts: number;
            started_at: string | null;
            finished_at: string | null;
            duration_ms: number | null;
            outcome: ("done" | "failed") | null;
            result: {
                [key: string]: unknown;
            } | null;
            error: string | null;
        };
        /** MessageDetail */
        MessageDetail: {
            /** Format: uuid */
            id: string;
            original_topic: string;
            error_message: string;
            retry_count: number;
            max_retries: number;
            payload: unknown;
            /** @enum {string} */
            status: "PENDING" | "RETRYING" | "RESOLVED" | "DEAD";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            last_retry_at: string | null;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            retryable: boolean;
            not_retryable_because: string | null;
            held_up_by: string[];
            next_retry_at: string | null;
            dlq: {
                cluster: string | null;
                topic: string;
                partition: number | null;
                offset: string | null;
            } | null;
            original: {
                topic: string;
                topic_source: ("header" | "mapping" | "guessed" | "caller") | null;
                partition: number | null;
                offset: string | null;
                timestamp: string | null;
            };
            /** @description The topic to which the edited message is sent instead. */
            target_topic: string | null;
            consumer_group: string | null;
            error_class: string | null;
            error_stacktrace: string | null;
            group_id: string | null;
            key: {
                value: string | null;
                /**
                 * @description How the value is written here; the bytes themselves are not changed.
                 * @enum {string}
                 */
                encoding: "text" | "number" | "base64";
            } | null;
            /** @description In the order of the record. Null for a message without a record, and where SQL has written what are no headers. */
            headers: {
                name: string;
                value: string | null;
                /**
                 * @description How the value is written here; the bytes themselves are not changed.
                 * @enum {string}
                 */
                encoding: "text" | "number" | "base64";
                /** @description The bytes of a number, to write them again. */
                base64?: string;
            }[] | null;
            value_bytes: number | null;
            record_timestamp: string | null;
            record_timestamp_type: ("create" | "append") | null;
            /** @enum {string} */
            record_source: "dlq" | "origin";
            /** @description How the copy on the DLQ topic compares with the record that failed, where somebody has compared. value_lost: the copy has no value, and the original has one. wanted: it could not be read, and is looked for again. */
            origin_state: ("same" | "different" | "mismatch" | "unproved" | "gone" | "unreachable" | "wanted" | "value_lost") | null;
            /** @description The policy’s `scrub` took something out of the error message, the stack trace or the failure’s headers before they were stored. It is not kept anywhere here. */
            is_scrubbed: boolean;
            failure_count: number;
            /**
             * Format: date-time
             * @description When its dead letter was written.
             */
            first_failed_at: string;
            /**
             * Format: date-time
             * @description The same, until it fails again; then when that was stored.
             */
            last_failed_at: string;
            run_id: string | null;
            successor_of: string | null;
            /** @description The message whose record failed here, or which the dead letter claimed to be without being believed. */
            related_to: string | null;
            /** @description The number of edits. */
            edits: number;
            archived_at: string | null;
            /** @description Since when its contents are erased; then nothing of it can be sent or changed. */
            erased_at: string | null;
            staleness: components["schemas"]["Staleness"];
            attempts: components["schemas"]["Attempt"][];
            policy: components["schemas"]["EffectivePolicy"];
            decoding: components["schemas"]["Decoding"] | null;
            /** @description The record key as JSON, where it was decoded with a schema. Otherwise null. */
            decoded_key: unknown;
        };
        /** Staleness */
        Staleness: {
            /** @description A record of the same key stood behind this one in its partition, and it was sent since, or failed only for another consumer group: a retry would bring the older state after the newer one. Or a retrier found a newer record, where the policy asks for a look. False says only that none is known. */
            superseded: boolean;
            /** @description Dead letters of the same key with a later original offset; the first five. */
            newer: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                status: "PENDING" | "RETRYING" | "RESOLVED" | "DEAD";
                original_offset: string;
                original_timestamp: string | null;
            }[];
            /** @description What a retrier found in the original partition behind the message. Null where the policy does not ask ("staleness": "ignore"). */
            guard: {
                /** @enum {string} */
                policy: "warn" | "hold";
                /**
                 * @description waiting: no retrier has looked yet. fresh: nothing newer was committed below fresh_to.
                 * @enum {string}
                 */
                answer: "waiting" | "fresh" | "superseded" | "unknown";
                /** @description Of an unknown answer. */
                reason: ("no_key" | "no_place" | "beyond_bound" | "retention" | "undecodable" | "repartitioned" | "recreated" | "not_allowed") | null;
                /** @description Of a superseded message; null where compaction has taken its own record. */
                newer_offset: string | null;
                newer_at: string | null;
                fresh_to: string | null;
                as_of: string | null;
            } | null;
            advice: string | null;
        };
        /** Attempt */
        Attempt: {
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            number: number;
            /** Format: uuid */
            attempt_id: string;
            actor: string;
            run_id: string | null;
            /**
             * @description `unknown`: it is not known whether the record was published; the attempt is repeated under the same id. `resolved`: the application handled the message itself.
             * @enum {string}
             */
            outcome: "requested" | "published" | "resolved" | "failed" | "unknown";
            /** @description The first 4000 characters. */
            error: string | null;
            target: {
                topic: string;
                partition: number | null;
                offset: string | null;
            } | null;
            /** Format: date-time */
            started_at: string;
            settled_at: string | null;
            /** @description When the outcome became unknown: Kafka may hold a second record of this attempt. */
            unknown_at: string | null;
            /** @description The dead letter that the consumer wrote when the retried record failed again. */
            failed_again: {
                /** Format: date-time */
                at: string;
                topic: string | null;
                partition: number | null;
                offset: string | null;
                error_class: string | null;
                /** @description The first 4000 characters. */
                error_message: string | null;
                error_changed: boolean | null;
            } | null;
            /** @description What is known of the published record. `sent`: its consumer group has not read it. `passed`: read, and it may still come back. `consumed`: read, and nothing came back. `confirmed`: the consumer said that its work is done. `skipped`: the group’s offset was moved past it. `expired`: Kafka deleted it before it was read. None but `confirmed` says that the work succeeded. */
            verdict: ("sent" | "passed" | "consumed" | "confirmed" | "came_back" | "skipped" | "expired" | "unknown") | null;
            /** @description Why it is `unknown`: no_place, no_group, group_gone, share_group, no_commits, not_allowed or new_topic. */
            verdict_reason: string | null;
            /** @description The consumer groups whose offsets say so. */
            judged_by: string | null;
            read_at: string | null;
            /** @description Until then it may come back. */
            horizon_until: string | null;
            /** @description When the consumer said that its work is done. */
            confirmed: {
                /** Format: date-time */
                at: string;
                by: string | null;
            } | null;
        };
        /** EffectivePolicy */
        EffectivePolicy: {
            [key: string]: {
                value: null | boolean | number | string | string[];
                /**
                 * @description The built-in defaults, the configuration, or the row of dlq_policies with this pattern.
                 * @enum {string}
                 */
                source: "default" | "config" | "policy";
                pattern: string | null;
            };
        };
        /**
         * Decoding
         * @description How the value was decoded. Null for plain JSON, for text, and for bytes of which nothing is known.
         */
        Decoding: {
            /**
             * @description decoded: payload is the value. waiting: for its schema. failed: the bytes do not fit the schema. unsupported: a format that is not read yet. encrypted: as a whole. not_now: too large for a list, or the page took too long; ask for the message alone.
             * @enum {string}
             */
            state: "decoded" | "waiting" | "failed" | "unsupported" | "encrypted" | "not_now";
            format: ("avro" | "json" | "protobuf" | "msgpack" | "cbor" | "glue") | null;
            schema: {
                /** @description The row of dlq_schemas. */
                number: number | null;
                /** @description The name of the registry in the configuration. */
                registry: string;
                /** @enum {string} */
                id_kind: "id" | "guid" | "content" | "global" | "file";
                id: string;
                /** @description The name of the type. */
                name: string | null;
            } | null;
            compression: ("gzip" | "zstd" | "br") | null;
            /** @description Well-known wrappers that the value is in. */
            labels: ("connect" | "debezium" | "cloudevents")[];
            /** @description Why it is not decoded. */
            problem: string | null;
            /** @description Since when the schema has been waited for. */
            since: string | null;
        };
        /** Message */
        Message: {
            /** Format: uuid */
            id: string;
            original_topic: string;
            error_message: string;
            retry_count: number;
            max_retries: number;
            payload: unknown;
            /** @enum {string} */
            status: "PENDING" | "RETRYING" | "RESOLVED" | "DEAD";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            last_retry_at: string | null;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
        };
        /** Edit */
        Edit: {
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            number: number;
            /** Format: date-time */
            at: string;
            actor: string;
            reason: string | null;
            fields: ("key" | "value" | "headers" | "target_topic")[];
        };
        /** Origin */
        Origin: {
            /**
             * @description mismatch: another record stands there, because the topic was made anew. unproved: neither key nor value say that it is the record that failed. gone: Kafka has no record there any more, or the dead letter does not say where it failed. unreachable: it could not be read.
             * @enum {string}
             */
            state: "same" | "different" | "mismatch" | "unproved" | "gone" | "unreachable";
            /** @description When they were compared. Headers that describe the failure, and ours, do not count. */
            differs: ("key" | "value" | "headers")[];
            /** Format: date-time */
            compared_at: string;
            tries: number;
            next_try_at: string | null;
            /** @description Why it could not be read. */
            problem: string | null;
            copy: {
                key: {
                    bytes: number;
                    /** @description In hexadecimal digits. */
                    sha256: string;
                } | null;
                value: {
                    bytes: number;
                    /** @description In hexadecimal digits. */
                    sha256: string;
                } | null;
                headers: {
                    name: string;
                    value: ({
                        text: string;
                    } | {
                        base64: string;
                    }) | null;
                }[] | null;
            };
            origin: {
                key: {
                    bytes: number;
                    /** @description In hexadecimal digits. */
                    sha256: string;
                } | null;
                value: {
                    bytes: number;
                    /** @description In hexadecimal digits. */
                    sha256: string;
                } | null;
                headers: {
                    name: string;
                    value: ({
                        text: string;
                    } | {
                        base64: string;
                    }) | null;
                }[] | null;
                timestamp: string | null;
            } | null;
            /** @description The JSON Patch (RFC 6902) that makes the original’s value of the copy’s. Null where one of them cannot be shown as JSON. */
            patch: unknown[] | null;
        };
        /** MessagePage */
        MessagePage: {
            messages: components["schemas"]["ListedMessage"][];
            pagination: {
                /** @description On the first page: exact where the filter has only statuses, a topic, an error group and a consumer group, or where the page has all messages. Otherwise counted among the first 10,000 rows along an index, or the first 1,000 where rows have to be read; `gte` says that there may be more. Null on other pages. */
                total: components["schemas"]["Total"] | null;
                limit: number;
                next_cursor: string | null;
                prev_cursor: string | null;
                /** @description The time for one answer was up before the whole list was searched; next_cursor continues the search. */
                bounded: boolean;
                /** @description The search has looked at all messages up to this time, in the order of the sort. Null where it reached the end, or stopped at a message that the token may not see. */
                searched_to: string | null;
                /** @description The rows that were looked at for this page, at least. */
                examined: number;
                /**
                 * @description The filter has `payload`, and came upon a time in which a backlog was stored without payloads (`payload: auto` of a policy): messages of it may be missing, until the cron job `payloads` has stored theirs.
                 * @constant
                 */
                payloads_deferred?: true;
            };
        };
        /** ListedMessage */
        ListedMessage: {
            /** Format: uuid */
            id: string;
            original_topic: string;
            error_message: string;
            retry_count: number;
            max_retries: number;
            /** @description Absent where previews are shown. */
            payload?: unknown;
            /** @enum {string} */
            status: "PENDING" | "RETRYING" | "RESOLVED" | "DEAD";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            last_retry_at: string | null;
            dlq_topic: string | null;
            dlq_partition: number | null;
            dlq_offset: string | null;
            original_partition: number | null;
            original_offset: string | null;
            consumer_group: string | null;
            error_class: string | null;
            group_id: string | null;
            next_retry_at: string | null;
            failure_count: number;
            /**
             * Format: date-time
             * @description When its dead letter was written.
             */
            first_failed_at: string;
            /**
             * Format: date-time
             * @description The same, until it fails again; then when that was stored.
             */
            last_failed_at: string;
            decoding: components["schemas"]["Decoding"] | null;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            /** @description Only with show=preview, like all that follow: the first 300 characters of the value. Null where it is no text, or takes more than 256 KiB on the disk. */
            preview?: string | null;
            /** @description The first 2048 bytes of the record key. */
            key?: {
                value: string | null;
                /** @enum {string} */
                encoding: "text" | "number" | "base64";
            } | null;
            /** @description Null for a message without a record. */
            value_bytes?: number | null;
            edits?: number;
            run_id?: string | null;
            /** @description The topic to which the edited message is sent instead. */
            target_topic?: string | null;
        };
        /** Total */
        Total: {
            value: number;
            /** @enum {string} */
            relation: "eq" | "gte";
        };
        /** MessageList */
        MessageList: {
            messages: components["schemas"]["Message"][];
            pagination: {
                total_count: number;
                page: number;
                page_size: number;
                has_next: boolean;
            };
        };
        /** MessageFacets */
        MessageFacets: {
            /** @description The most frequent first, 50 at most; null: messages without one. */
            original_topic?: components["schemas"]["FacetValue"][];
            /** @description The most frequent first, 50 at most; null: messages without one. */
            consumer_group?: components["schemas"]["FacetValue"][];
            /** @description The most frequent first, 50 at most; null: messages without one. */
            partition?: components["schemas"]["FacetValue"][];
            /** @description The most frequent first, 50 at most; null: messages without one. */
            status?: components["schemas"]["FacetValue"][];
            /** @description The most frequent first, 50 at most; null: messages without one. */
            error_class?: components["schemas"]["FacetValue"][];
            /** @description The most frequent first, 50 at most; null: messages without one. */
            group_id?: components["schemas"]["FacetValue"][];
            /** @description The most frequent first, 50 at most; null: messages without one. */
            age?: components["schemas"]["FacetValue"][];
        };
        /** FacetValue */
        FacetValue: {
            value: string | null;
            count: number;
        };
        /** ActivityBucket */
        ActivityBucket: {
            /**
             * Format: date-time
             * @description The beginning of the stretch.
             */
            at: string;
            /**
             * Total
             * @description By the records’ times.
             */
            arrived: {
                value: number;
                /** @enum {string} */
                relation: "eq" | "gte";
            };
            /**
             * Total
             * @description Attempts that were published, or handled by an application.
             */
            sent: {
                value: number;
                /** @enum {string} */
                relation: "eq" | "gte";
            };
            /**
             * Total
             * @description Attempts that came back in this stretch.
             */
            failed_again: {
                value: number;
                /** @enum {string} */
                relation: "eq" | "gte";
            };
            /**
             * Total
             * @description Those that arrived and are DEAD now.
             */
            dead: {
                value: number;
                /** @enum {string} */
                relation: "eq" | "gte";
            };
        };
        /** ListedAttempt */
        ListedAttempt: {
            /** Format: uuid */
            message_id: string;
            original_topic: string;
            dlq_topic: string | null;
            consumer_group: string | null;
            group_id: string | null;
            /**
             * @description Of the message, now.
             * @enum {string}
             */
            status: "PENDING" | "RETRYING" | "RESOLVED" | "DEAD";
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            number: number;
            /** Format: uuid */
            attempt_id: string;
            actor: string;
            run_id: string | null;
            /**
             * @description `unknown`: it is not known whether the record was published; the attempt is repeated under the same id. `resolved`: the application handled the message itself.
             * @enum {string}
             */
            outcome: "requested" | "published" | "resolved" | "failed" | "unknown";
            /** @description The first 4000 characters. */
            error: string | null;
            target: {
                topic: string;
                partition: number | null;
                offset: string | null;
            } | null;
            /** Format: date-time */
            started_at: string;
            settled_at: string | null;
            /** @description When the outcome became unknown: Kafka may hold a second record of this attempt. */
            unknown_at: string | null;
            /** @description The dead letter that the consumer wrote when the retried record failed again. */
            failed_again: {
                /** Format: date-time */
                at: string;
                topic: string | null;
                partition: number | null;
                offset: string | null;
                error_class: string | null;
                /** @description The first 4000 characters. */
                error_message: string | null;
                error_changed: boolean | null;
            } | null;
            /** @description What is known of the published record. `sent`: its consumer group has not read it. `passed`: read, and it may still come back. `consumed`: read, and nothing came back. `confirmed`: the consumer said that its work is done. `skipped`: the group’s offset was moved past it. `expired`: Kafka deleted it before it was read. None but `confirmed` says that the work succeeded. */
            verdict: ("sent" | "passed" | "consumed" | "confirmed" | "came_back" | "skipped" | "expired" | "unknown") | null;
            /** @description Why it is `unknown`: no_place, no_group, group_gone, share_group, no_commits, not_allowed or new_topic. */
            verdict_reason: string | null;
            /** @description The consumer groups whose offsets say so. */
            judged_by: string | null;
            read_at: string | null;
            /** @description Until then it may come back. */
            horizon_until: string | null;
            /** @description When the consumer said that its work is done. */
            confirmed: {
                /** Format: date-time */
                at: string;
                by: string | null;
            } | null;
        };
        /** Topic */
        Topic: {
            topic: string;
            /** @description The name that people gave it. */
            display_name: string | null;
            /** @enum {string} */
            kind: "dlq" | "original" | "candidate";
            /** @description Original topics of a DLQ topic, DLQ topics of an original topic; those with the most messages first, 20 at most. */
            counterparts: string[];
            counts: components["schemas"]["StatusCounts"];
            /** @description The time of the oldest record of the topic that waits. */
            oldest_pending_at: string | null;
            /** @description The topic as it was found in Kafka; null for an original topic. */
            found: {
                cluster: string;
                display_name: string | null;
                partitions: number;
                /** Format: date-time */
                found_at: string;
                gone_at: string | null;
            } | null;
            /** @description The progress of a DLQ topic: read_to is the sum of its partitions’ positions. */
            ingestion: {
                stored_at: string | null;
                read_to: string | null;
                /** @description Null where the topic is gone from Kafka. */
                loss_clock: {
                    /** @description Offsets that Kafka holds and that are not stored; a few may be markers of transactions. */
                    lag: number;
                    /** @description Offsets that retention deleted before they were stored. */
                    lost: number;
                    /** @description The timestamp of the oldest waiting record; null where none waits or the timestamp is unknown. */
                    oldest_unread_at: string | null;
                    /** @description When retention may delete that record; null also where the topic keeps records for ever. */
                    expires_at: string | null;
                    /** @description When an ingester last read the topic’s log bounds. After a minute, no ingester is running. */
                    looked_at: string | null;
                    /** @description The same in words; null where no record waits and none is lost. */
                    loss: string | null;
                } | null;
            } | null;
            /** @description Somebody has paused its retries. */
            paused: components["schemas"]["TopicPause"] | null;
            /** @description Somebody has paused its ingestion. */
            ingestion_paused: components["schemas"]["TopicPause"] | null;
            /** @description What is wrong with a DLQ topic in Kafka. */
            faults: components["schemas"]["TopicFault"][];
            /** @description Null unless the kind is candidate. */
            candidate: components["schemas"]["Candidate"] | null;
            /**
             * EffectivePolicy
             * @description The policy in force, with the first counterpart.
             */
            policy: {
                [key: string]: {
                    value: null | boolean | number | string | string[];
                    /**
                     * @description The built-in defaults, the configuration, or the row of dlq_policies with this pattern.
                     * @enum {string}
                     */
                    source: "default" | "config" | "policy";
                    pattern: string | null;
                };
            };
        };
        /** StatusCounts */
        StatusCounts: {
            PENDING: number;
            RETRYING: number;
            RESOLVED: number;
            DEAD: number;
        };
        /** TopicPause */
        TopicPause: {
            by: string;
            reason: string;
            /** Format: date-time */
            since: string;
            /** @description Null: until somebody resumes it. */
            until: string | null;
        };
        /** TopicFault */
        TopicFault: {
            /**
             * @description Nothing was stored for 30 days; an original topic is gone; a group that failed has had no members for 7 days; the topic is compacted; the topic takes no larger records than an original topic.
             * @enum {string}
             */
            kind: "quiet" | "original_gone" | "group_gone" | "compacted" | "too_small";
            text: string;
        };
        /** Candidate */
        Candidate: {
            /**
             * @description What speaks for it: a record with headers of dead letters (`headers`), its name, or a name that means other things too (`weak`).
             * @enum {string}
             */
            confidence: "headers" | "name" | "weak";
            /** @description Whose headers a record had, such as spring-dlt. */
            family: string | null;
            /** @description The original topic, if the name says it. */
            guessed_original: string | null;
            partitions: number | null;
            /** @description Offsets that Kafka holds: markers of transactions and compaction make it fewer records. */
            records_at_most: string | null;
            /** @description The timestamp of a first record; its producer may have set any. */
            oldest_at: string | null;
            newest_at: string | null;
            retention_ms: string | null;
            retention_bytes: string | null;
            cleanup_policy: string | null;
            /** @description Consumer groups with offsets there, 20 at most: somebody handles these records already. */
            read_by: string[];
            /** Format: date-time */
            found_at: string;
            /** @description When an ingester last asked Kafka; null before the first time. */
            looked_at: string | null;
            dismissed_at: string | null;
            dismissed_by: string | null;
            dismissed_reason: string | null;
        };
        /** ConsumerGroup */
        ConsumerGroup: {
            consumer_group: string | null;
            /** @description The name that people gave it. */
            display_name: string | null;
            /** @description 100 at most. */
            original_topics: string[];
            counts: components["schemas"]["StatusCounts"];
            /** @description Of the newest 5000 messages. */
            recent: number;
            /** @description The last failure among these messages; null where the group has none of them. */
            last_failed_at: string | null;
        };
        /** TopicReader */
        TopicReader: {
            consumer_group: string;
            /** @description classic, consumer (KIP-848), share (KIP-932) or streams (KIP-1071); unknown where Kafka does not say. */
            type: string;
            /** @description As Kafka says: Stable, Empty, Dead and others; not_allowed where Kafka tells the retrier nothing. */
            state: string;
            /** @description Those that read this topic; null where Kafka does not say. */
            members: number | null;
            /** @description The records that it has not read, over the partitions where it has committed an offset. */
            lag: string | null;
            partitions: number;
            /** @description Those where it has committed an offset. */
            read_partitions: number;
            /** Format: date-time */
            looked_at: string;
        };
        /** TopicSample */
        TopicSample: {
            topic: string;
            /** @description False: Kafka refused some of it; the ingester’s log says what. */
            readable: boolean;
            /** @description Records by family; `none` without any headers. */
            families: {
                [key: string]: number;
            };
            shares: {
                /** @description Records whose headers name their original topic. */
                origin: number;
                group: number;
                key: number;
            };
            /** @description 20 at most, the newest first. */
            newest: components["schemas"]["SampledRecord"][];
            /** @description 20 at most, the oldest first; none of `newest`. */
            oldest: components["schemas"]["SampledRecord"][];
        };
        /** SampledRecord */
        SampledRecord: {
            partition: number;
            offset: string;
            timestamp: string | null;
            key_bytes: number | null;
            value_bytes: number | null;
            family: string | null;
            original_topic: string;
            /** @description How the original topic is known; null: it is not, and the topic takes its place. */
            original_topic_source: ("header" | "mapping" | "guessed") | null;
            original_partition: number | null;
            original_offset: string | null;
            consumer_group: string | null;
            error_class: string | null;
            error_message: string | null;
            header_names: string[];
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
        };
        /** DismissedCandidate */
        DismissedCandidate: {
            topic: string;
            dismissed_at: string | null;
            candidate: components["schemas"]["Candidate"];
        };
        /** Subscription */
        Subscription: {
            /** Format: uuid */
            id: string;
            /** @description Null: every cluster. */
            cluster: string | null;
            pattern: string;
            /** @enum {string} */
            mode: "ingest" | "ignore";
            original: string | null;
            /** @enum {string} */
            start: "earliest" | "latest" | "time";
            start_at: string | null;
            /** @enum {string} */
            backlog: "manual" | "auto";
            /** Format: date-time */
            created_at: string;
            created_by: string;
            reason: string | null;
        };
        /** PlannedSubscription */
        PlannedSubscription: {
            /** @description Known topics that the pattern matches, 200 at most. */
            topics: {
                topic: string;
                cluster: string;
                /** @description It is ingested already, so start and backlog change nothing. */
                ingested: boolean;
                will_be_ingested: boolean;
                records_at_most: string | null;
            }[];
            /** @description Of the topics that would begin: 3,500 records a second and 2.8 KB in PostgreSQL for each. */
            estimate: {
                records_at_most: string;
                seconds: number;
                bytes: string;
            };
        };
        /** TopicPauses */
        TopicPauses: {
            topic: string;
            paused: components["schemas"]["TopicPause"] | null;
            ingestion_paused: components["schemas"]["TopicPause"] | null;
        };
        /** TopicName */
        TopicName: {
            topic: string;
            /** @description The name that is shown now. */
            display_name: string | null;
        };
        /** ConsumerGroupName */
        ConsumerGroupName: {
            consumer_group: string;
            /** @description The name that is shown now. */
            display_name: string | null;
        };
        /** Status */
        Status: {
            counts: components["schemas"]["StatusCounts"];
            oldest_pending_at: string | null;
            /** @description The 1000 with the most open messages; `counts` of the answer are those of all. */
            topics: {
                original_topic: string;
                consumer_group: string | null;
                counts: components["schemas"]["StatusCounts"];
                oldest_pending_at: string | null;
            }[];
            ingest: {
                per_minute: number;
            };
            retry: {
                per_minute: number;
                refused_per_minute: number;
                success_rate: number | null;
            };
            /** @description Of all topics together, so null for a token that is limited to some. */
            summary: {
                /** Format: date-time */
                counted_at: string;
                drift: number;
                unfolded: number;
            } | null;
            /** @description The DLQ topics whose records wait or are lost; first those that expire first, then those furthest behind. */
            loss_clock: {
                cluster: string;
                topic: string;
                /** @description Offsets that Kafka holds and that are not stored; a few may be markers of transactions. */
                lag: number;
                /** @description Offsets that retention deleted before they were stored. */
                lost: number;
                /** @description The timestamp of the oldest waiting record; null where none waits or the timestamp is unknown. */
                oldest_unread_at: string | null;
                /** @description When retention may delete that record; null also where the topic keeps records for ever. */
                expires_at: string | null;
                /** @description When an ingester last read the topic’s log bounds. After a minute, no ingester is running. */
                looked_at: string | null;
                /** @description The same in words; null where no record waits and none is lost. */
                loss: string | null;
            }[];
            dlq_topics: number;
            /** @description When the last message was stored. */
            stored_at: string | null;
            /** @description Whether PostgreSQL takes changes. Not where it is a standby, or was made read-only. */
            takes_changes: boolean;
            /** @description Error groups whose automatic retries are paused. */
            paused_groups: number;
            /** @description Topics that somebody has paused; the thousand that have been paused longest. */
            paused_topics: {
                topic: string;
                /** @enum {string} */
                what: "retries" | "ingestion";
                by: string;
                reason: string;
                /** Format: date-time */
                since: string;
                /** @description Null: until somebody resumes it. */
                until: string | null;
            }[];
            /** @description Topics that are only probed, because records for them are refused in a row, or Kafka cannot take them now. */
            held_topics: {
                topic: string;
                reason: string;
                /** Format: date-time */
                since: string;
            }[];
            /** @description Seen within the last minute. A fault may name any topic: a token that is limited to some sees none. */
            ingesters: components["schemas"]["Ingester"][];
            /** @description A fault may name any topic: a token that is limited to some sees none. */
            retriers: {
                id: string;
                /** @enum {string} */
                publishes: "exactly-once" | "at-least-once" | "resolve" | "nothing";
                fault: string | null;
                /** Format: date-time */
                started_at: string;
                /** Format: date-time */
                seen_at: string;
            }[];
        };
        /** Ingester */
        Ingester: {
            id: string;
            /** @description What Kafka has given it to read, 1000 at most; of the topics that the token may see. */
            partitions: {
                cluster: string;
                topic: string;
                partition: number;
                lag: number;
            }[];
            /** @description The records of its partitions that are not stored yet. */
            lag: number;
            /** @description Why it does not read or store now. */
            fault: string | null;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            seen_at: string;
        };
        /** Position */
        Position: {
            cluster: string;
            topic: string;
            partition: number;
            /** @description How often the topic was deleted and created again. */
            generation: number;
            /** @description All records before this offset are stored. */
            next_offset: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** Route */
        Route: {
            dlq_topic: string;
            original_topic: string;
            /**
             * @description `by_name` and `by_mapping` follow from the names and from the configuration, `waiting` is for somebody to decide.
             * @enum {string}
             */
            state: "by_name" | "by_mapping" | "waiting" | "approved" | "blocked";
            /** @description Messages of the DLQ topic are sent to the original topic. */
            open: boolean;
            /** @description PENDING messages that are not sent by themselves because of the route. */
            held: number;
            /** @description Messages from before the last change may not follow it yet; the retriers see to that. */
            applying: boolean;
            /** Format: date-time */
            first_seen_at: string;
            decided_at: string | null;
            decided_by: string | null;
            reason: string | null;
        };
        /** ErrorGroup */
        ErrorGroup: {
            /** Format: uuid */
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            title: string;
            error_class: string | null;
            location: string | null;
            /** @description Of the first message. Empty where it may be that of a topic which the token may not see: the group is told by its location, and other topics have it, too. */
            message: string;
            /**
             * @description A group whose snooze has ended is open.
             * @enum {string}
             */
            state: "open" | "snoozed" | "ignored" | "resolved";
            snoozed_until: string | null;
            state_changed_at: string | null;
            /** @description A message arrived after the group was set to resolved. */
            regressed: boolean;
            owner: string | null;
            note: string | null;
            /** @description What is said for each DLQ topic, 20 at most; null in lists. The group itself has the state that needs most attention, and the first owner and note, of the topics that the token may see. */
            topics: components["schemas"]["ErrorGroupTopic"][] | null;
            /**
             * Format: date-time
             * @description When the first of its records was written.
             */
            first_seen_at: string;
            /**
             * Format: date-time
             * @description When the last of its records was written. Lists in this order go by when it was stored, so that a late one comes first.
             */
            last_seen_at: string;
            /** @description Twenty at most. */
            dlq_topics: string[];
            counts: components["schemas"]["StatusCounts"];
            /** @description The original topics for which its automatic retries are paused. */
            pauses: components["schemas"]["GroupPause"][];
            /** @description Messages in each of the last 24 hours, the oldest hour first, by their records’ times; null unless asked for. */
            trend: components["schemas"]["Total"][] | null;
        };
        /** ErrorGroupTopic */
        ErrorGroupTopic: {
            dlq_topic: string;
            /**
             * @description A group whose snooze has ended is open.
             * @enum {string}
             */
            state: "open" | "snoozed" | "ignored" | "resolved";
            snoozed_until: string | null;
            state_changed_at: string | null;
            /** @description A message arrived after the group was set to resolved. */
            regressed: boolean;
            owner: string | null;
            note: string | null;
        };
        /** GroupPause */
        GroupPause: {
            original_topic: string;
            reason: string;
            /** Format: date-time */
            since: string;
            /** @description When messages are tried; null while some are. */
            next_probe_at: string | null;
            failed_probes: number;
        };
        /** ErrorGroupTotals */
        ErrorGroupTotals: {
            open: number;
            mine: number;
            new: number;
            regressed: number;
            snoozed: number;
            ignored: number;
            resolved: number;
        };
        /** Policy */
        Policy: {
            pattern: string;
            auto_retry?: boolean;
            max_retries?: number;
            /** @enum {string} */
            backoff?: "exponential" | "fixed" | "list";
            initial_delay?: string;
            multiplier?: number;
            max_delay?: string;
            backoff_list?: string[];
            run_every?: string;
            run_limit?: number;
            rate_per_second?: number;
            max_in_flight?: number;
            paused?: boolean;
            redirect_topic?: string;
            /** @enum {string} */
            ordering?: "none" | "per-key";
            /** @enum {string} */
            timestamp?: "keep" | "now";
            weight?: number;
            /** @enum {string} */
            payload?: "stored" | "derived" | "auto";
            /** @enum {string} */
            record?: "dlq" | "origin" | "origin-if-available";
            scrub?: string[];
            /** @enum {string} */
            delivery?: "republish" | "pull";
            refailure_threshold?: number;
            refailure_share?: number;
            refailure_window?: string;
            /** @enum {string} */
            staleness?: "ignore" | "warn" | "hold";
            for_group_header?: boolean;
            verdict_group?: string;
            verdict_horizon?: string;
            auto_resolve?: string;
            retention?: string;
            updated_at: string | null;
        };
        /** ConfiguredPolicy */
        ConfiguredPolicy: {
            /** @description Null: the section "retry", for every topic. */
            pattern: string | null;
            auto_retry?: boolean;
            max_retries?: number;
            /** @enum {string} */
            backoff?: "exponential" | "fixed" | "list";
            initial_delay?: string;
            multiplier?: number;
            max_delay?: string;
            backoff_list?: string[];
            run_every?: string;
            run_limit?: number;
            rate_per_second?: number;
            max_in_flight?: number;
            paused?: boolean;
            redirect_topic?: string;
            /** @enum {string} */
            ordering?: "none" | "per-key";
            /** @enum {string} */
            timestamp?: "keep" | "now";
            weight?: number;
            /** @enum {string} */
            payload?: "stored" | "derived" | "auto";
            /** @enum {string} */
            record?: "dlq" | "origin" | "origin-if-available";
            scrub?: string[];
            /** @enum {string} */
            delivery?: "republish" | "pull";
            refailure_threshold?: number;
            refailure_share?: number;
            refailure_window?: string;
            /** @enum {string} */
            staleness?: "ignore" | "warn" | "hold";
            for_group_header?: boolean;
            verdict_group?: string;
            verdict_horizon?: string;
            auto_resolve?: string;
            retention?: string;
        };
        /** PolicyDefaults */
        PolicyDefaults: {
            auto_retry?: boolean;
            max_retries?: number;
            /** @enum {string} */
            backoff?: "exponential" | "fixed" | "list";
            initial_delay?: string;
            multiplier?: number;
            max_delay?: string;
            backoff_list?: string[];
            run_every?: string;
            run_limit?: number;
            rate_per_second?: number;
            max_in_flight?: number;
            paused?: boolean;
            redirect_topic?: string;
            /** @enum {string} */
            ordering?: "none" | "per-key";
            /** @enum {string} */
            timestamp?: "keep" | "now";
            weight?: number;
            /** @enum {string} */
            payload?: "stored" | "derived" | "auto";
            /** @enum {string} */
            record?: "dlq" | "origin" | "origin-if-available";
            scrub?: string[];
            /** @enum {string} */
            delivery?: "republish" | "pull";
            refailure_threshold?: number;
            refailure_share?: number;
            refailure_window?: string;
            /** @enum {string} */
            staleness?: "ignore" | "warn" | "hold";
            for_group_header?: boolean;
            verdict_group?: string;
            verdict_horizon?: string;
            auto_resolve?: string;
            retention?: string;
        };
        /** PolicyMatch */
        PolicyMatch: {
            original_topic: string;
            dlq_topic: string | null;
            /** @description The PENDING messages of these topics. */
            pending: number;
            decides: ("auto_retry" | "max_retries" | "backoff" | "initial_delay" | "multiplier" | "max_delay" | "backoff_list" | "run_every" | "run_limit" | "rate_per_second" | "max_in_flight" | "paused" | "redirect_topic" | "ordering" | "timestamp" | "weight" | "payload" | "record" | "scrub" | "delivery" | "refailure_threshold" | "refailure_share" | "refailure_window" | "staleness" | "for_group_header" | "verdict_group" | "verdict_horizon" | "auto_resolve" | "retention")[];
            /** @description What PUT changes, or would change; empty where the policy is only read. */
            changes: components["schemas"]["PolicyChange"][];
        };
        /** PolicyChange */
        PolicyChange: {
            /** @enum {string} */
            setting: "auto_retry" | "max_retries" | "backoff" | "initial_delay" | "multiplier" | "max_delay" | "backoff_list" | "run_every" | "run_limit" | "rate_per_second" | "max_in_flight" | "paused" | "redirect_topic" | "ordering" | "timestamp" | "weight" | "payload" | "record" | "scrub" | "delivery" | "refailure_threshold" | "refailure_share" | "refailure_window" | "staleness" | "for_group_header" | "verdict_group" | "verdict_horizon" | "auto_resolve" | "retention";
            before: null | boolean | number | string | string[];
            after: null | boolean | number | string | string[];
        };
        /** RegistrySchema */
        RegistrySchema: {
            /** @description The row of dlq_schemas. */
            number: number;
            registry: string;
            id_kind: string;
            id: string;
            /**
             * @description As it is until the answer.
             * @enum {string}
             */
            state: "wanted" | "known" | "missing" | "refused";
            /** @description The name of the type. */
            name: string | null;
        };
        /** NotificationEvent */
        NotificationEvent: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            /** @enum {string} */
            type: "group.new" | "group.regressed" | "group.burst" | "group.paused" | "group.resumed" | "dead.threshold" | "loss.near" | "loss.happened" | "run.finished" | "run.failed" | "run.paused" | "sent.unread" | "service.silent" | "topic.found" | "delivery.dead";
            subject: string;
            /** @enum {string} */
            severity: "info" | "warning" | "critical";
            title: string;
            original_topic: string | null;
            dlq_topic: string | null;
            group_id: string | null;
            run_id: string | null;
            owner: string | null;
            data: {
                [key: string]: string | number | boolean | null;
            };
            /** Format: date-time */
            at: string;
            /** @description Of a condition, when it was over. */
            ended_at: string | null;
        };
        /** NotificationChannel */
        NotificationChannel: {
            name: string;
            /** @enum {string} */
            kind: "webhook" | "slack" | "teams";
            /** @description Empty where the retrier cannot read the file with the address. */
            host: string;
            /** @description When its receiver said 410. A test enables it again. */
            disabled_at: string | null;
            delivered_at: string | null;
            last_error: string | null;
        };
        /** NotificationDelivery */
        NotificationDelivery: {
            id: string;
            channel: string;
            route: string | null;
            /** @enum {string} */
            kind: "begin" | "again" | "end" | "test";
            events: number;
            /** @enum {string} */
            state: "waiting" | "delivered" | "dead";
            attempts: number;
            /** Format: date-time */
            send_at: string;
            last_status: number | null;
            last_error: string | null;
            /** Format: date-time */
            created_at: string;
            settled_at: string | null;
        };
        /** NotificationRoute */
        NotificationRoute: {
            name: string;
            channel: string;
            types: string[];
            topics: string[];
            owners: string[];
            /** @enum {string} */
            min_severity: "info" | "warning" | "critical";
            digest: string;
            repeat_every: string;
            quiet: string | null;
            muted_until: string | null;
            dead_threshold: number | null;
            /** Format: date-time */
            updated_at: string;
        };
        /** AuditEntry */
        AuditEntry: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            /** Format: date-time */
            at: string;
            actor: string;
            /** @enum {string} */
            role: "read" | "write" | "admin";
            action: string;
            target_type: string;
            target_id: string;
            original_topic: string | null;
            dlq_topic: string | null;
            reason: string | null;
            before: Record<string, never> | null;
            after: Record<string, never> | null;
            request_id: string | null;
        };
        /** Read */
        Read: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            /** Format: date-time */
            at: string;
            actor: string;
            request_id: string;
            /** @description The route. */
            action: string;
            /** @description What its path named: a message, a run, a topic. */
            target: string | null;
            /** @description The messages that were shown, a thousand at most. */
            ids: string[];
            /** @description What the request looked for. */
            filter: Record<string, never> | null;
            /** @description How many messages were shown. Null: an export that goes on, or broke off. */
            shown: number | null;
            reason: string | null;
        };
        /** Me */
        Me: {
            /** @description The name in the audit. */
            actor: string;
            /**
             * @description The greatest of the roles.
             * @enum {string}
             */
            role: "sys_auditor" | "sys_operator" | "sys_admin";
            /** @description Globs of topics; null: all. */
            topics: string[] | null;
            /** @enum {string} */
            via: "anonymous" | "token" | "jwt" | "session";
            expires_at: string | null;
            /** @description Each role, with the topics in which it holds. */
            grants: {
                /** @enum {string} */
                role: "sys_auditor" | "sys_operator" | "sys_admin";
                /** @description Globs of topics; null: all. */
                topics: string[] | null;
            }[];
            /**
             * @description none: no key, value, header or error text. masked: what masks leave. full: all, with unmask=true.
             * @enum {string}
             */
            payloads: "none" | "masked" | "full";
            /** @description Whether messages may be exported. */
            exports: boolean;
        };
        /** DLQStatus */
        DLQStatus: {
            consumers: {
                channelId: string;
                channelName: string;
                consumerId: string;
                consumerName: string;
                deadCount: number;
            }[];
        };
        /** RunSurvey */
        RunSurvey: {
            /** @constant */
            dry_run: true;
            complete: boolean;
            /**
             * Total
             * @description The number that `expect_count` is compared with.
             */
            matched: {
                value: number;
                /** @enum {string} */
                relation: "eq" | "gte";
            };
            eligible: number;
            ineligible: {
                [key: string]: number;
            };
            /** @description What to do about those that are not eligible, by the same reasons. */
            remedies: {
                [key: string]: string;
            };
            topics: {
                [key: string]: number;
            };
            groups: {
                [key: string]: number;
            };
            ages: {
                [key: string]: number;
            };
            /** @description The first 20 of those that are eligible, by their ids. */
            sample: string[];
            /**
             * Blast
             * @description Of a retry: whom the messages would reach, besides the group that failed.
             */
            blast?: {
                /** @description When a retrier last looked at the groups. */
                as_of: string | null;
                targets: {
                    topic: string;
                    messages: {
                        value: number;
                        /** @enum {string} */
                        relation: "eq" | "about";
                    };
                    /** @description Null where masks hide a key or a value of these messages: its size tells of it. */
                    bytes: {
                        value: number;
                        /** @enum {string} */
                        relation: "eq" | "about";
                    } | null;
                    /** @description What others write to it; null while nobody has measured it. */
                    produced_per_second: number | null;
                    hottest_partition: {
                        partition: number;
                        messages: number;
                    } | null;
                    groups: {
                        group: string;
                        /**
                         * @description A bystander gets the records too, although it has not failed on them.
                         * @enum {string}
                         */
                        role: "failed" | "bystander";
                        type: string;
                        state: string;
                        members: number | null;
                        lag: number | null;
                        per_second: number | null;
                        /** @description Of the last day. */
                        best_per_second: number | null;
                        /** @description How long it would take; null where that is not known, or it would not catch up. */
                        minutes: number | null;
                        /** @description False: it is behind, and has never read faster. Null while that is not known, as of a group that keeps up. */
                        catches_up: boolean | null;
                        /** @description The records that it has read before. */
                        seen_before: number | null;
                    }[];
                    /** @description Groups without members for a day. */
                    gone_groups: number;
                    /** @description The messages that go back to where they came from, and would bring an older state after a newer one. Records that never failed are found only where the policy asks for a look (staleness). */
                    staleness: {
                        /** @description A newer dead letter of their key was sent, or failed only for another group; or a retrier found a newer record. */
                        superseded: number;
                        /** @description A newer dead letter of their key waits as well, or was given up. */
                        waiting: number;
                        /** @description Where the policy asks for a look: it cannot be told whether a newer record was written, or no retrier has looked yet. */
                        unknown: number;
                        /** @description Whether a policy holds those that are superseded or unknown ("staleness": "hold"): the run leaves them out unless it says "staleness": "send". */
                        held: boolean;
                        /** @description Of so many: the first 200 messages of the run at most, and of these what came from this topic. */
                        examined: number;
                    };
                }[];
            };
            /** @description With a patch: sample messages before and after it. */
            diff?: {
                id: string;
                before: unknown;
                after: unknown;
                /** @description Whether `before` and `after` are null because one has more than 65536 characters. */
                omitted: boolean;
                problem: ("no_json" | "patch_does_not_fit" | "unchanged" | "not_exact" | "schema_refuses" | "takes_too_long") | null;
            }[];
        };
        /** Run */
        Run: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            /** @enum {string} */
            kind: "retry" | "redirect" | "dead" | "revive" | "delete" | "archive" | "restore" | "purge" | "edit" | "erase" | "origin";
            /** @enum {string} */
            status: "queued" | "running" | "paused" | "cancelling" | "completed" | "cancelled" | "failed";
            status_reason: string | null;
            actor: string;
            reason: string | null;
            selection: components["schemas"]["FrozenSelection"];
            /** Format: date-time */
            cutoff: string;
            matched: components["schemas"]["Total"];
            target_topic: string | null;
            rate_per_second: number | null;
            /** @description send: also what a policy would hold because it is not known to be fresh. */
            staleness: "send" | null;
            /** @description Records that a group which failed may be behind. */
            max_lag: number | null;
            force: boolean;
            /** @description Of kind origin: originals that are proved take the place of their copies. */
            adopt: boolean;
            /** @description In lists null where it takes more than 4 KiB. */
            patch: ({
                /** @constant */
                op: "add";
                path: string;
                value: unknown;
            } | {
                /** @constant */
                op: "remove";
                path: string;
            } | {
                /** @constant */
                op: "replace";
                path: string;
                value: unknown;
            } | {
                /** @constant */
                op: "move";
                from: string;
                path: string;
            } | {
                /** @constant */
                op: "copy";
                from: string;
                path: string;
            } | {
                /** @constant */
                op: "test";
                path: string;
                value: unknown;
            })[] | null;
            canary: components["schemas"]["Canary"] | null;
            /** @enum {string} */
            on_refailure: "continue" | "pause" | "cancel";
            max_refailure: number;
            step: components["schemas"]["RunStep"] | null;
            /** @description Why it does not go on, or goes on slowly; empty where nothing holds it up. Null in lists. */
            held_up_by: string[] | null;
            /** @description Messages that its filter finds and that came in after the cutoff. Null in lists and for other selections. */
            arrived_since: components["schemas"]["Total"] | null;
            saga_id: string | null;
            progress: {
                step: string | null;
                taken: number;
                waiting: number;
                done: number;
                resolved: number;
                failed: number;
                failed_again: number;
                withdrawn: number;
                given_back: number;
                skipped: {
                    [key: string]: number;
                };
                /** @description Of kind origin: how many originals were found in which state. Null before the first is compared. */
                origins: {
                    [key: string]: number;
                } | null;
                rate: number | null;
                eta_seconds: number | null;
                /** @description What became of the messages after they were sent, as of counted_at. Null before the first count, and for runs that send nothing. */
                verdicts: components["schemas"]["RunVerdicts"] | null;
            };
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            ended_at: string | null;
        };
        /**
         * FrozenSelection
         * @description The frozen selection, exactly one of these; an error group is a filter by `group_id`.
         */
        FrozenSelection: {
            filter?: {
                /** @description One or more statuses, repeated or with commas. */
                status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names. */
                topic?: string;
                /** @description The consumer group that failed. */
                consumer_group?: string;
                /** @description The class of the error, exactly. */
                error_class?: string;
                /**
                 * Format: uuid
                 * @description The error group.
                 */
                group_id?: string;
                /** @description The partition of the original record. */
                partition?: number;
                /** @description The first offset of the original record. */
                offset_from?: number | string;
                /** @description The last offset of the original record. */
                offset_to?: number | string;
                /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                key?: string;
                /** @description Created at this time or later. */
                from?: string;
                /** @description Created before this time. */
                to?: string;
                /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                arrived_from?: string;
                /** @description Arrived before this time, by the time of its record. */
                arrived_to?: string;
                /** @description Failed last at this time or later. */
                failed_from?: string;
                /** @description Failed last before this time. */
                failed_to?: string;
                /** @description Attempts, at least. */
                retry_count_min?: number;
                /** @description Attempts, at most. */
                retry_count_max?: number;
                /** @description Text within the error's message or class, in any case. */
                q?: string;
                /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                payload?: string | (Record<string, never> | unknown[]);
                /** @description Search the archive instead of the live messages. */
                archived?: boolean;
            };
            /** @description How many ids were named. */
            ids?: number;
            failed_again_in?: string;
            changed_in?: string;
            /** @description How many keys were named. */
            keys?: number;
        };
        /** Canary */
        Canary: {
            first: number;
            /** @description A share of all, from 0 to 1. */
            then: number;
            /** @description A duration such as 60s. */
            wait: string;
            max_refailure: number;
        };
        /** RunStep */
        RunStep: {
            name: string;
            entered_at: string | null;
            /** @description Messages that this step has taken or changed. */
            taken: number;
            /** @description How many it takes; null where it takes all that are left. */
            of: number | null;
            /** @description When its messages were found good, or too many came back. */
            judged_at: string | null;
        };
        /** RunVerdicts */
        RunVerdicts: {
            sent: number;
            passed: number;
            consumed: number;
            confirmed: number;
            came_back: number;
            skipped: number;
            expired: number;
            unknown: number;
            /** Format: date-time */
            counted_at: string;
        };
        /** RunItem */
        RunItem: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            /** @enum {string} */
            outcome: "waiting" | "resolved" | "failed" | "failed_again" | "skipped";
            /** @description The first 4000 characters. */
            detail: string | null;
            /**
             * @description Where the request asks for a verdict.
             * @enum {string}
             */
            verdict?: "sent" | "passed" | "consumed" | "confirmed" | "came_back" | "skipped" | "expired" | "unknown";
            verdict_reason?: string | null;
            /** @description With show=message: the message as it is now, with the first 2048 bytes of its key and 4000 characters of its error message; null where it is archived or deleted. */
            message?: {
                original_topic: string;
                dlq_topic: string | null;
                consumer_group: string | null;
                key: {
                    value: string | null;
                    /** @enum {string} */
                    encoding: "text" | "number" | "base64";
                } | null;
                error_class: string | null;
                error_message: string;
                /** @enum {string} */
                status: "PENDING" | "RETRYING" | "RESOLVED" | "DEAD";
                group_id: string | null;
                /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
                hidden?: string[];
            } | null;
        };
        /** Saga */
        Saga: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            workflow_name: string;
            current_step: number;
            /** @enum {string} */
            status: "STARTED" | "RUNNING" | "COMPLETED" | "COMPENSATING" | "FAILED" | "CANCELLED";
            payload: unknown;
            correlation_id: string | null;
            initiated_by: string | null;
            error_message: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** SagaStep */
        SagaStep: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            step_index: number;
            step_name: string;
            /** @enum {string} */
            action: "EXECUTE" | "COMPENSATE";
            /** @enum {string} */
            status: "SUCCESS" | "FAILED" | "TIMEOUT" | "SKIPPED";
            request_payload: unknown;
            response_payload: unknown;
            error_message: string | null;
            /** Format: date-time */
            started_at: string;
            completed_at: string | null;
        };
        GetHealthzAnswer: {
            /** @constant */
            status: "ok";
        };
        GetReadyzAnswer: {
            /** @enum {string} */
            status: "ready" | "unavailable";
            checks: {
                [key: string]: string;
            };
        };
        GetCronAnswer: {
            jobs: components["schemas"]["CronJob"][];
        };
        GetCronByJobRunsAnswer: {
            runs: components["schemas"]["CronRun"][];
        };
        PostCronByJobRunAnswer: {
            job: string;
            /** Format: date-time */
            tick: string;
            message: string;
        };
        GetDlqMessagesByIdAttemptsAnswer: {
            attempts: components["schemas"]["Attempt"][];
        };
        PostDlqMessagesByIdRetryAnswer: {
            id: string;
            status: string;
            message: string;
        };
        DeleteDlqMessagesByIdAnswer: {
            /** @constant */
            success: true;
            message: string;
        };
        GetDlqMessagesByIdEditsAnswer: {
            edits: components["schemas"]["Edit"][];
        };
        GetDlqMessagesByIdEditsByNumberAnswer: {
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            number: number;
            /** Format: date-time */
            at: string;
            actor: string;
            reason: string | null;
            fields: ("key" | "value" | "headers" | "target_topic")[];
            before: {
                key: ({
                    text: string;
                } | {
                    base64: string;
                } | {
                    json: unknown;
                }) | null;
                value: ({
                    text: string;
                } | {
                    base64: string;
                } | {
                    json: unknown;
                }) | null;
                headers: {
                    name: string;
                    value: ({
                        text: string;
                    } | {
                        base64: string;
                    }) | null;
                }[] | null;
                target_topic: string | null;
            };
        };
        PostDlqMessagesByIdOriginAnswer: {
            id: string;
            message: string;
        };
        PostDlqMessagesAnswer: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        PostAttemptsByAttempt_idConfirmAnswer: {
            /** Format: uuid */
            attempt_id: string;
            /** Format: date-time */
            confirmed_at: string;
            confirmed_by: string;
        };
        GetDlqByTopicAnswer: components["schemas"]["MessageList"] | components["schemas"]["MessagePage"];
        GetMessagesFacetsAnswer: {
            facets: components["schemas"]["MessageFacets"];
            /** @description The messages that match, of those that were looked at. */
            found: number;
            /** @description The messages that were looked at. */
            examined: number;
            /** @description Whether these were all. False also where a token for some topics came upon ten thousand messages of others. */
            complete: boolean;
        };
        GetActivityAnswer: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            step_seconds: number;
            /** @description Those with most messages and attempts first, 20 at most. */
            series: {
                key: string | null;
                buckets: components["schemas"]["ActivityBucket"][];
            }[];
            /** @description The series beyond these. */
            left_out: number;
            /** @description Whether all rows of the range were looked at. */
            complete: boolean;
        };
        GetAttemptsAnswer: {
            attempts: components["schemas"]["ListedAttempt"][];
            pagination: {
                limit: number;
                next_cursor: string | null;
                /** @description The search has looked at all attempts back to this time. Null where it reached the end, or stopped at a message that the token may not see. */
                searched_to: string | null;
            };
        };
        PostDlqByTopicRetryAllAnswer: {
            retried: number;
            message: string;
        };
        GetTopicsAnswer: {
            topics: components["schemas"]["Topic"][];
            next_cursor: string | null;
        };
        GetConsumerGroupsAnswer: {
            consumer_groups: components["schemas"]["ConsumerGroup"][];
        };
        GetTopicsByTopicReadersAnswer: {
            readers: components["schemas"]["TopicReader"][];
        };
        GetSubscriptionsAnswer: {
            subscriptions: components["schemas"]["Subscription"][];
        };
        GetPositionsAnswer: {
            positions: components["schemas"]["Position"][];
            next_cursor: string | null;
        };
        GetRoutesAnswer: {
            routes: components["schemas"]["Route"][];
            next_cursor: string | null;
        };
        GetGroupsAnswer: {
            groups: components["schemas"]["ErrorGroup"][];
            /** @description How many groups the list has of each kind, whatever `state`, `owner`, `regressed` and `first_seen_from` say. mine: open, with the actor as owner; new: open, without an owner, first seen within 24 hours. Null on further pages. */
            totals: components["schemas"]["ErrorGroupTotals"] | null;
            next_cursor: string | null;
        };
        PatchGroupsAnswer: {
            groups: components["schemas"]["ErrorGroup"][];
        };
        PostGroupsByIdResumeAnswer: {
            resumed: string[];
        };
        GetPoliciesAnswer: {
            policies: components["schemas"]["Policy"][];
            /** @description The policies of the configuration; those of `policies` override them. */
            configured: components["schemas"]["ConfiguredPolicy"][];
            defaults: components["schemas"]["PolicyDefaults"];
        };
        GetPoliciesByPatternAnswer: {
            policy: components["schemas"]["Policy"];
            matches: components["schemas"]["PolicyMatch"][];
        };
        DeletePoliciesByPatternAnswer: {
            /** @constant */
            success: true;
            message: string;
        };
        PostSchemasByNumberRefreshAnswer: {
            schema: components["schemas"]["RegistrySchema"];
        };
        GetNotificationsEventsAnswer: {
            events: components["schemas"]["NotificationEvent"][];
            next_cursor: string | null;
        };
        GetChannelsAnswer: {
            channels: components["schemas"]["NotificationChannel"][];
        };
        PostChannelsByNameTestAnswer: {
            delivery: string;
        };
        GetDeliveriesAnswer: {
            deliveries: components["schemas"]["NotificationDelivery"][];
            next_cursor: string | null;
        };
        GetNotificationsRoutesAnswer: {
            routes: components["schemas"]["NotificationRoute"][];
        };
        GetAuditAnswer: {
            entries: components["schemas"]["AuditEntry"][];
            next_cursor: string | null;
        };
        GetReadsAnswer: {
            reads: components["schemas"]["Read"][];
            next_cursor: string | null;
        };
        DeleteChannelByChannelIdConsumerByConsumerIdDlqAnswer: {
            deleted: number;
            message: string;
        };
        GetRunsAnswer: {
            runs: components["schemas"]["Run"][];
            total_count: number;
            next_cursor: string | null;
        };
        GetRunsByIdItemsAnswer: {
            items: components["schemas"]["RunItem"][];
            /** @description Of the whole run. */
            counts: {
                waiting: number;
                resolved: number;
                failed: number;
                failed_again: number;
                skipped: number;
            };
            /** @description The next page’s `after`; null at the end. */
            next_after: string | null;
            /** @description The `before` of the page before; null at the beginning. */
            previous_before: string | null;
        };
        GetSagasAnswer: {
            sagas: components["schemas"]["Saga"][];
            total_count: number;
        };
        GetSagasByIdAnswer: {
            id: string;
            /** @description JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden. */
            hidden?: string[];
            workflow_name: string;
            current_step: number;
            /** @enum {string} */
            status: "STARTED" | "RUNNING" | "COMPLETED" | "COMPENSATING" | "FAILED" | "CANCELLED";
            payload: unknown;
            correlation_id: string | null;
            initiated_by: string | null;
            error_message: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            steps: components["schemas"]["SagaStep"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process lives. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetHealthzAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /healthz */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /healthz */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /healthz */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /healthz */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /healthz */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getReadyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process can do its work. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetReadyzAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /readyz */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /readyz */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /readyz */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /readyz */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /readyz */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The process cannot do its work, or is about to stop. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetReadyzAnswer"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metrics in the text format. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /metrics */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /metrics */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /metrics */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /metrics */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /metrics */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getConsoleConfigJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings of the console. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleConfig"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /console/config.json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /console/config.json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /console/config.json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /console/config.json */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /console/config.json */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /console/config.json */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has begun. */
            201: {
                headers: {
                    /** @description The session. */
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/session */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/session */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/session */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/session */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/session */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/session */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/session */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/session */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/session */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/session */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/session */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/session */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The browser has no session any more. */
            204: {
                headers: {
                    /** @description Empty. */
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/session */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/session */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/session */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/session */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/session */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/session */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/session */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/session */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCron: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every job, by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetCronAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/cron */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/cron */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/cron */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/cron */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/cron */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/cron */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/cron */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/cron */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCronByJobRuns: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The executions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetCronByJobRunsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/cron/:job/runs */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/cron/:job/runs */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/cron/:job/runs */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/cron/:job/runs */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/cron/:job/runs */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/cron/:job/runs */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/cron/:job/runs */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/cron/:job/runs */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/cron/:job/runs */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postCronByJobRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description A retrier will run it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostCronByJobRunAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/cron/:job/run */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/cron/:job/run */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/cron/:job/run */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/cron/:job/run */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/cron/:job/run */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/cron/:job/run */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/cron/:job/run */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/cron/:job/run */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/cron/:job/run */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/cron/:job/run */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/cron/:job/run */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/cron/:job/run */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqMessagesById: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letter. */
            200: {
                headers: {
                    /** @description Changes with every change of the message; send it as If-Match with changes. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageDetail"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteDlqMessagesById: {
        parameters: {
            query?: {
                reason?: string;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteDlqMessagesByIdAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/messages/:id */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/dlq/messages/:id */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchDlqMessagesById: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    key?: ({
                        text: string;
                    } | {
                        base64: string;
                    } | {
                        json: unknown;
                    } | {
                        /** @description The value as it is shown decoded; it is written with its schema. */
                        decoded: unknown;
                    }) | null;
                    value?: ({
                        text: string;
                    } | {
                        base64: string;
                    } | {
                        json: unknown;
                    } | {
                        /** @description The value as it is shown decoded; it is written with its schema. */
                        decoded: unknown;
                    }) | null;
                    /** @description A JSON Patch (RFC 6902) of the decoded value, instead of a value. */
                    patch?: ({
                        /** @constant */
                        op: "add";
                        path: string;
                        value: unknown;
                    } | {
                        /** @constant */
                        op: "remove";
                        path: string;
                    } | {
                        /** @constant */
                        op: "replace";
                        path: string;
                        value: unknown;
                    } | {
                        /** @constant */
                        op: "move";
                        from: string;
                        path: string;
                    } | {
                        /** @constant */
                        op: "copy";
                        from: string;
                        path: string;
                    } | {
                        /** @constant */
                        op: "test";
                        path: string;
                        value: unknown;
                    })[];
                    /**
                     * @description Accepts that more bytes than those of the change differ. Otherwise that answers 409 SYS_DLQ_NOT_EXACT.
                     * @default false
                     */
                    reencode?: boolean;
                    headers?: {
                        name: string;
                        value: ({
                            text: string;
                        } | {
                            base64: string;
                        }) | null;
                    }[];
                    /**
                     * @description Puts the record that failed in the place of the copy, as POST …/origin found it. One that is unproved needs `force` and a reason.
                     * @constant
                     */
                    record?: "origin";
                    /**
                     * @description With a reason: adopts an original that is unproved, and writes a value that its JSON Schema does not allow.
                     * @default false
                     */
                    force?: boolean;
                    target_topic?: string | null;
                    max_retries?: number;
                    next_retry_at?: string | null;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The dead letter as it is now. */
            200: {
                headers: {
                    /** @description The ETag of the dead letter as it is now. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT or SYS_DLQ_NOT_EXACT, of /api/v1/dlq/messages/:id */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/dlq/messages/:id */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_REQUIRED, of /api/v1/dlq/messages/:id */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqMessagesByIdAttempts: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The attempts, the first one first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetDlqMessagesByIdAttemptsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/attempts */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/attempts */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/attempts */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/attempts */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/attempts */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/attempts */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/attempts */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/attempts */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/attempts */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqMessagesByIdKey: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    /** @description A name for the file. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                    "application/octet-stream": unknown;
                };
            };
            /** @description The record has no key. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/key */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/key */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/key */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/key */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/key */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/key */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/key */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/key */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/key */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqMessagesByIdValue: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    /** @description A name for the file. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "text/plain": unknown;
                    "application/octet-stream": unknown;
                };
            };
            /** @description The record has no value. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/value */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/value */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/value */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/value */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/value */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/value */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/value */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/value */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/value */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqMessagesByIdRetry: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description `wait=N`: answer after N seconds at the latest (RFC 7240) */
                prefer?: string;
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default false */
                    force?: boolean;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The message was sent, and is RESOLVED. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDlqMessagesByIdRetryAnswer"];
                };
            };
            /** @description The message is due and will be sent; no retrier settled it within the time to wait. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDlqMessagesByIdRetryAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/retry */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/retry */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/retry */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/retry */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id/retry */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT or SYS_DLQ_PUBLISH_REFUSED, of /api/v1/dlq/messages/:id/retry */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/dlq/messages/:id/retry */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id/retry */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/retry */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id/retry */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/retry */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/retry */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/retry */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE or SYS_DLQ_KAFKA_UNAVAILABLE, of /api/v1/dlq/messages/:id/retry */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqMessagesByIdDead: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The dead letter as it is now. */
            200: {
                headers: {
                    /** @description The ETag of the dead letter as it is now. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/dead */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/dead */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/dead */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/dead */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id/dead */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/messages/:id/dead */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/dlq/messages/:id/dead */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id/dead */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/dead */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id/dead */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/dead */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/dead */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/dead */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/dead */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqMessagesByIdRevive: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The dead letter as it is now. */
            200: {
                headers: {
                    /** @description The ETag of the dead letter as it is now. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/revive */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/revive */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/revive */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/revive */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id/revive */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/messages/:id/revive */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/dlq/messages/:id/revive */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id/revive */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/revive */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id/revive */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/revive */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/revive */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/revive */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/revive */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqMessagesByIdEdits: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last thousand edits, oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetDlqMessagesByIdEditsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/edits */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/edits */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/edits */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/edits */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/edits */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/edits */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/edits */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/edits */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/edits */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqMessagesByIdEditsByNumber: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message as it was before the edit. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetDlqMessagesByIdEditsByNumberAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/edits/:number */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/edits/:number */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/edits/:number */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/edits/:number */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/edits/:number */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/edits/:number */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/edits/:number */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/edits/:number */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/edits/:number */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqMessagesByIdOrigin: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The comparison. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/origin */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/origin */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/origin */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/origin */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/origin */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/origin */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/origin */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/origin */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqMessagesByIdOrigin: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: {
                /** @description `wait=N`: answer after N seconds at the latest (RFC 7240) */
                prefer?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The comparison. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"];
                };
            };
            /** @description No retrier has compared it within the time to wait: ask with GET. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDlqMessagesByIdOriginAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/origin */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/origin */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/origin */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id/origin */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/messages/:id/origin */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id/origin */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/origin */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id/origin */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/origin */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/origin */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/origin */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE or SYS_DLQ_KAFKA_UNAVAILABLE, of /api/v1/dlq/messages/:id/origin */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqMessagesByIdRestore: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The dead letter as it is now. */
            200: {
                headers: {
                    /** @description The ETag of the dead letter as it is now. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/restore */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/restore */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/restore */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/restore */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id/restore */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/messages/:id/restore */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/dlq/messages/:id/restore */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id/restore */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/restore */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id/restore */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/restore */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/restore */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/restore */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/restore */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqMessagesByIdEditsByNumberUndo: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The dead letter as it is now. */
            200: {
                headers: {
                    /** @description The ETag of the dead letter as it is now. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages/:id/edits/:number/undo */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages/:id/edits/:number/undo */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages/:id/edits/:number/undo */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/messages/:id/edits/:number/undo */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages/:id/edits/:number/undo */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/messages/:id/edits/:number/undo */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/dlq/messages/:id/edits/:number/undo */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages/:id/edits/:number/undo */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages/:id/edits/:number/undo */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages/:id/edits/:number/undo */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages/:id/edits/:number/undo */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages/:id/edits/:number/undo */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages/:id/edits/:number/undo */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages/:id/edits/:number/undo */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqMessages: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text that is new for each thing to make. Asking again with it within 7 days makes nothing more. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    original_topic: string;
                    error_message: string;
                    error_class?: string;
                    error_stacktrace?: string;
                    consumer_group?: string;
                    original_partition?: number;
                    original_offset?: number | string;
                    /** Format: date-time */
                    original_timestamp?: string;
                    /** @default null */
                    key?: ({
                        text: string;
                    } | {
                        base64: string;
                    } | {
                        json: unknown;
                    }) | null;
                    /** @default null */
                    value?: ({
                        text: string;
                    } | {
                        base64: string;
                    } | {
                        json: unknown;
                    }) | null;
                    /** @default [] */
                    headers?: {
                        name: string;
                        value: ({
                            text: string;
                        } | {
                            base64: string;
                        }) | null;
                    }[];
                    max_retries?: number;
                    next_retry_at?: string | null;
                };
            };
        };
        responses: {
            /** @description It is stored, now or by an earlier request with the same `Idempotency-Key`. */
            201: {
                headers: {
                    /** @description The message’s path. */
                    Location?: string;
                    /** @description `true` where an earlier request has made it. */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDlqMessagesAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/messages */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/messages */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/messages */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/messages */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/messages */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/messages */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/messages */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/messages */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/messages */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/messages */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/messages */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/messages */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postAttemptsByAttempt_idConfirm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                attempt_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uuid
                     * @description The header `dlq-message-id`.
                     */
                    message_id: string;
                    /** @description The header `dlq-attempt`. */
                    attempt: number;
                };
            };
        };
        responses: {
            /** @description It is confirmed, now or before. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostAttemptsByAttempt_idConfirmAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/attempts/:attempt_id/confirm */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/attempts/:attempt_id/confirm */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/attempts/:attempt_id/confirm */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/attempts/:attempt_id/confirm */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/attempts/:attempt_id/confirm */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/attempts/:attempt_id/confirm */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/attempts/:attempt_id/confirm */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/attempts/:attempt_id/confirm */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/attempts/:attempt_id/confirm */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/attempts/:attempt_id/confirm */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/attempts/:attempt_id/confirm */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/attempts/:attempt_id/confirm */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getMessages: {
        parameters: {
            query?: {
                /** @description One or more statuses, repeated or with commas. */
                status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names. */
                topic?: string;
                /** @description The consumer group that failed. */
                consumer_group?: string;
                /** @description The class of the error, exactly. */
                error_class?: string;
                /** @description The error group. */
                group_id?: string;
                /** @description The partition of the original record. */
                partition?: number;
                /** @description The first offset of the original record. */
                offset_from?: number | string;
                /** @description The last offset of the original record. */
                offset_to?: number | string;
                /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                key?: string;
                /** @description Created at this time or later. */
                from?: string;
                /** @description Created before this time. */
                to?: string;
                /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                arrived_from?: string;
                /** @description Arrived before this time, by the time of its record. */
                arrived_to?: string;
                /** @description Failed last at this time or later. */
                failed_from?: string;
                /** @description Failed last before this time. */
                failed_to?: string;
                /** @description Attempts, at least. */
                retry_count_min?: number;
                /** @description Attempts, at most. */
                retry_count_max?: number;
                /** @description Text within the error's message or class, in any case. */
                q?: string;
                /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                payload?: string | (Record<string, never> | unknown[]);
                /** @description Search the archive instead of the live messages. */
                archived?: boolean;
                /** @description next_cursor or prev_cursor of a page with the same filter and sort. */
                cursor?: string;
                /** @description Messages a page. Default 20. */
                limit?: number;
                /** @description newest (default) and oldest sort by id, which holds the record’s time, or by created_at where the filter has from or to and nothing narrower. next_due sorts by the time of the next automatic retry. */
                sort?: "newest" | "oldest" | "next_due";
                /** @description payload (default), or preview: the beginning of the value instead, and key, size, edits and run. A preview has the first 4000 characters of the error message. */
                show?: "payload" | "preview";
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/messages */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/messages */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/messages */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/messages */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/messages */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/messages */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/messages */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/messages */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getMessagesExport: {
        parameters: {
            query?: {
                /** @description One or more statuses, repeated or with commas. */
                status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names. */
                topic?: string;
                /** @description The consumer group that failed. */
                consumer_group?: string;
                /** @description The class of the error, exactly. */
                error_class?: string;
                /** @description The error group. */
                group_id?: string;
                /** @description The partition of the original record. */
                partition?: number;
                /** @description The first offset of the original record. */
                offset_from?: number | string;
                /** @description The last offset of the original record. */
                offset_to?: number | string;
                /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                key?: string;
                /** @description Created at this time or later. */
                from?: string;
                /** @description Created before this time. */
                to?: string;
                /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                arrived_from?: string;
                /** @description Arrived before this time, by the time of its record. */
                arrived_to?: string;
                /** @description Failed last at this time or later. */
                failed_from?: string;
                /** @description Failed last before this time. */
                failed_to?: string;
                /** @description Attempts, at least. */
                retry_count_min?: number;
                /** @description Attempts, at most. */
                retry_count_max?: number;
                /** @description Text within the error's message or class, in any case. */
                q?: string;
                /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                payload?: string | (Record<string, never> | unknown[]);
                /** @description Search the archive instead of the live messages. */
                archived?: boolean;
                format?: "ndjson" | "json" | "csv";
                sort?: "newest" | "oldest";
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The messages. */
            200: {
                headers: {
                    /** @description A name for the file. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": unknown;
                    "application/json": unknown;
                    "text/csv": unknown;
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/messages/export */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/messages/export */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/messages/export */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/messages/export */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/messages/export */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/messages/export */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/messages/export */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/messages/export */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqByTopic: {
        parameters: {
            query?: {
                /** @description Default 1. */
                page?: number;
                /** @description Default 20. */
                page_size?: number;
                /** @description One or more statuses, repeated or with commas. */
                status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description The consumer group that failed. */
                consumer_group?: string;
                /** @description The class of the error, exactly. */
                error_class?: string;
                /** @description The error group. */
                group_id?: string;
                /** @description The partition of the original record. */
                partition?: number;
                /** @description The first offset of the original record. */
                offset_from?: number | string;
                /** @description The last offset of the original record. */
                offset_to?: number | string;
                /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                key?: string;
                /** @description Created at this time or later. */
                from?: string;
                /** @description Created before this time. */
                to?: string;
                /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                arrived_from?: string;
                /** @description Arrived before this time, by the time of its record. */
                arrived_to?: string;
                /** @description Failed last at this time or later. */
                failed_from?: string;
                /** @description Failed last before this time. */
                failed_to?: string;
                /** @description Attempts, at least. */
                retry_count_min?: number;
                /** @description Attempts, at most. */
                retry_count_max?: number;
                /** @description Text within the error's message or class, in any case. */
                q?: string;
                /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                payload?: string | (Record<string, never> | unknown[]);
                /** @description Search the archive instead of the live messages. */
                archived?: boolean;
                /** @description next_cursor or prev_cursor of a page with the same filter and sort. */
                cursor?: string;
                /** @description Messages a page. Default 20. */
                limit?: number;
                /** @description newest (default) and oldest sort by id, which holds the record’s time, or by created_at where the filter has from or to and nothing narrower. next_due sorts by the time of the next automatic retry. */
                sort?: "newest" | "oldest" | "next_due";
                /** @description payload (default), or preview: the beginning of the value instead, and key, size, edits and run. A preview has the first 4000 characters of the error message. */
                show?: "payload" | "preview";
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetDlqByTopicAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/:topic */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/:topic */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/:topic */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/:topic */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/:topic */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/:topic */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/:topic */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/dlq/:topic */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getMessagesFacets: {
        parameters: {
            query?: {
                /** @description One or more statuses, repeated or with commas. */
                status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names. */
                topic?: string;
                /** @description The consumer group that failed. */
                consumer_group?: string;
                /** @description The class of the error, exactly. */
                error_class?: string;
                /** @description The error group. */
                group_id?: string;
                /** @description The partition of the original record. */
                partition?: number;
                /** @description The first offset of the original record. */
                offset_from?: number | string;
                /** @description The last offset of the original record. */
                offset_to?: number | string;
                /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                key?: string;
                /** @description Created at this time or later. */
                from?: string;
                /** @description Created before this time. */
                to?: string;
                /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                arrived_from?: string;
                /** @description Arrived before this time, by the time of its record. */
                arrived_to?: string;
                /** @description Failed last at this time or later. */
                failed_from?: string;
                /** @description Failed last before this time. */
                failed_to?: string;
                /** @description Attempts, at least. */
                retry_count_min?: number;
                /** @description Attempts, at most. */
                retry_count_max?: number;
                /** @description Text within the error's message or class, in any case. */
                q?: string;
                /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                payload?: string | (Record<string, never> | unknown[]);
                /** @description Search the archive instead of the live messages. */
                archived?: boolean;
                /** @description Repeated or with commas. Default: all of them. */
                by?: ("original_topic" | "consumer_group" | "partition" | "status" | "error_class" | "group_id" | "age") | ("original_topic" | "consumer_group" | "partition" | "status" | "error_class" | "group_id" | "age")[];
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values of each facet that was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetMessagesFacetsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/messages/facets */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/messages/facets */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/messages/facets */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/messages/facets */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/messages/facets */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/messages/facets */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/messages/facets */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/messages/facets */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getActivity: {
        parameters: {
            query?: {
                /** @description One or more statuses, repeated or with commas. */
                status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names. */
                topic?: string;
                /** @description The consumer group that failed. */
                consumer_group?: string;
                /** @description The class of the error, exactly. */
                error_class?: string;
                /** @description The error group. */
                group_id?: string;
                /** @description The partition of the original record. */
                partition?: number;
                /** @description The first offset of the original record. */
                offset_from?: number | string;
                /** @description The last offset of the original record. */
                offset_to?: number | string;
                /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                key?: string;
                /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                arrived_from?: string;
                /** @description Arrived before this time, by the time of its record. */
                arrived_to?: string;
                /** @description Failed last at this time or later. */
                failed_from?: string;
                /** @description Failed last before this time. */
                failed_to?: string;
                /** @description Attempts, at least. */
                retry_count_min?: number;
                /** @description Attempts, at most. */
                retry_count_max?: number;
                /** @description Text within the error's message or class, in any case. */
                q?: string;
                /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                payload?: string | (Record<string, never> | unknown[]);
                /** @description Default: a day before `to`. */
                from?: string;
                /** @description Default: now. */
                to?: string;
                /** @description Such as 5m. Default 1h. At most 200 stretches. */
                step?: string;
                by?: "total" | "topic" | "group" | "consumer_group";
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One series, or one for each value that something was counted for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetActivityAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/activity */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/activity */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/activity */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/activity */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/activity */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/activity */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/activity */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/activity */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAttempts: {
        parameters: {
            query?: {
                /** @description One or more statuses, repeated or with commas. */
                status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names. */
                topic?: string;
                /** @description The consumer group that failed. */
                consumer_group?: string;
                /** @description The class of the error, exactly. */
                error_class?: string;
                /** @description The error group. */
                group_id?: string;
                /** @description The partition of the original record. */
                partition?: number;
                /** @description The first offset of the original record. */
                offset_from?: number | string;
                /** @description The last offset of the original record. */
                offset_to?: number | string;
                /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                key?: string;
                /** @description Created at this time or later. */
                from?: string;
                /** @description Created before this time. */
                to?: string;
                /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                arrived_from?: string;
                /** @description Arrived before this time, by the time of its record. */
                arrived_to?: string;
                /** @description Failed last at this time or later. */
                failed_from?: string;
                /** @description Failed last before this time. */
                failed_to?: string;
                /** @description Attempts, at least. */
                retry_count_min?: number;
                /** @description Attempts, at most. */
                retry_count_max?: number;
                /** @description Text within the error's message or class, in any case. */
                q?: string;
                /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                payload?: string | (Record<string, never> | unknown[]);
                /** @description One or more, repeated or with commas. */
                outcome?: ("published" | "resolved" | "failed" | "unknown") | ("published" | "resolved" | "failed" | "unknown")[];
                limit?: number;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAttemptsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/attempts */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/attempts */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/attempts */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/attempts */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/attempts */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/attempts */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/attempts */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/attempts */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDlqByTopicRetryAll: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=N`: answer after N seconds at the latest (RFC 7240) */
                prefer?: string;
                /** @description Any text that is new for each thing to make. Asking again with it within 7 days makes nothing more. */
                "idempotency-key"?: string;
            };
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The messages were retried. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDlqByTopicRetryAllAnswer"];
                };
            };
            /** @description The run is still under way; `retried` is the number of messages accepted so far. */
            202: {
                headers: {
                    /** @description The run. */
                    Location?: string;
                    /** @description `true` where an earlier request has made it. */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostDlqByTopicRetryAllAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/dlq/:topic/retry-all */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/dlq/:topic/retry-all */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/dlq/:topic/retry-all */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/dlq/:topic/retry-all */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/dlq/:topic/retry-all */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/dlq/:topic/retry-all */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/dlq/:topic/retry-all */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/dlq/:topic/retry-all */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/dlq/:topic/retry-all */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/dlq/:topic/retry-all */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/dlq/:topic/retry-all */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/dlq/:topic/retry-all */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE or SYS_DLQ_KAFKA_UNAVAILABLE, of /api/v1/dlq/:topic/retry-all */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTopics: {
        parameters: {
            query?: {
                /** @description DLQ topics that were found in Kafka, original topics of the messages, or candidates: topics that look like DLQ topics and that nobody ingests. */
                kind?: "dlq" | "original" | "candidate";
                /** @description Text within the name, in any case. */
                q?: string;
                /** @description By name; by the number of messages, the most first; or what Kafka deletes unread first. */
                sort?: "name" | "dead" | "pending" | "expires";
                /** @description DLQ topics with records that are not stored and may expire, or that are lost; or candidates that somebody has dismissed, which are left out otherwise. */
                only?: "losing" | "dismissed";
                limit?: number;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    /** @description For If-None-Match. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetTopicsAnswer"];
                };
            };
            /** @description If-None-Match names the answer as it is. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/topics */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTopicsByTopic: {
        parameters: {
            query?: {
                /** @description DLQ topics that were found in Kafka, original topics of the messages, or candidates: topics that look like DLQ topics and that nobody ingests. */
                kind?: "dlq" | "original" | "candidate";
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The topic. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics/:topic */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics/:topic */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics/:topic */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/topics/:topic */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics/:topic */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics/:topic */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics/:topic */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics/:topic */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/topics/:topic */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchTopicsByTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Null: the name of the configuration, or none. */
                    display_name: string | null;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicName"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics/:topic */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics/:topic */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics/:topic */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/topics/:topic */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/topics/:topic */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/topics/:topic */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics/:topic */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/topics/:topic */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics/:topic */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics/:topic */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics/:topic */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/topics/:topic */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getConsumerGroups: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The consumer groups; null stands for messages that do not name theirs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetConsumerGroupsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/consumer-groups */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/consumer-groups */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/consumer-groups */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/consumer-groups */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/consumer-groups */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/consumer-groups */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/consumer-groups */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/consumer-groups */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTopicsByTopicReaders: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetTopicsByTopicReadersAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics/:topic/readers */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics/:topic/readers */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics/:topic/readers */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics/:topic/readers */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics/:topic/readers */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics/:topic/readers */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics/:topic/readers */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/topics/:topic/readers */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postTopicsByTopicSample: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: {
                /** @description `wait=N`: answer after N seconds at the latest (RFC 7240) */
                prefer?: string;
            };
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sample. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicSample"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics/:topic/sample */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics/:topic/sample */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics/:topic/sample */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/topics/:topic/sample */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/topics/:topic/sample */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/topics/:topic/sample */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics/:topic/sample */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/topics/:topic/sample */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics/:topic/sample */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics/:topic/sample */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics/:topic/sample */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE or SYS_DLQ_KAFKA_UNAVAILABLE, of /api/v1/topics/:topic/sample */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postTopicsByTopicDismiss: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default true */
                    dismissed?: boolean;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The candidate as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DismissedCandidate"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics/:topic/dismiss */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics/:topic/dismiss */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics/:topic/dismiss */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/topics/:topic/dismiss */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/topics/:topic/dismiss */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/topics/:topic/dismiss */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics/:topic/dismiss */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/topics/:topic/dismiss */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics/:topic/dismiss */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics/:topic/dismiss */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics/:topic/dismiss */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/topics/:topic/dismiss */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By pattern. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSubscriptionsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/subscriptions */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/subscriptions */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/subscriptions */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/subscriptions */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/subscriptions */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/subscriptions */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/subscriptions */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/subscriptions */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postSubscriptions: {
        parameters: {
            query?: {
                dry_run?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    pattern: string;
                    /** @default null */
                    cluster?: string | null;
                    /**
                     * @default ingest
                     * @enum {string}
                     */
                    mode?: "ingest" | "ignore";
                    /** @default null */
                    original?: string | null;
                    /**
                     * @default earliest
                     * @enum {string}
                     */
                    start?: "earliest" | "latest" | "time";
                    /** @default null */
                    start_at?: string | null;
                    /**
                     * @description What becomes of records from before the subscription: `manual` ones are sent only when somebody asks, `auto` ones by the policy.
                     * @default manual
                     * @enum {string}
                     */
                    backlog?: "manual" | "auto";
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Of a dry run: what would happen. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlannedSubscription"];
                };
            };
            /** @description The subscription. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/subscriptions */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/subscriptions */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/subscriptions */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/subscriptions */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/subscriptions */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/subscriptions */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/subscriptions */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/subscriptions */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/subscriptions */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/subscriptions */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/subscriptions */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/subscriptions */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSubscriptionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It as it was. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/subscriptions/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/subscriptions/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/subscriptions/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/subscriptions/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/subscriptions/:id */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/subscriptions/:id */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/subscriptions/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/subscriptions/:id */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/subscriptions/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/subscriptions/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/subscriptions/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/subscriptions/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postTopicsByTopicPause: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description What is paused: the retries of the topic, or the ingestion of a DLQ topic.
                     * @default retries
                     * @enum {string}
                     */
                    what?: "retries" | "ingestion";
                    /** @default null */
                    until?: string | null;
                    reason: string;
                };
            };
        };
        responses: {
            /** @description What is paused of the topic now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicPauses"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics/:topic/pause */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics/:topic/pause */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics/:topic/pause */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/topics/:topic/pause */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/topics/:topic/pause */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/topics/:topic/pause */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/topics/:topic/pause */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics/:topic/pause */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/topics/:topic/pause */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics/:topic/pause */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics/:topic/pause */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics/:topic/pause */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/topics/:topic/pause */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postTopicsByTopicResume: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description What is paused: the retries of the topic, or the ingestion of a DLQ topic.
                     * @default retries
                     * @enum {string}
                     */
                    what?: "retries" | "ingestion";
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description What is paused of the topic now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicPauses"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/topics/:topic/resume */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/topics/:topic/resume */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/topics/:topic/resume */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/topics/:topic/resume */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/topics/:topic/resume */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/topics/:topic/resume */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/topics/:topic/resume */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/topics/:topic/resume */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/topics/:topic/resume */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/topics/:topic/resume */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/topics/:topic/resume */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/topics/:topic/resume */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/topics/:topic/resume */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchConsumerGroupsByGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                group: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Null: the name of the configuration, or none. */
                    display_name: string | null;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsumerGroupName"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/consumer-groups/:group */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/consumer-groups/:group */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/consumer-groups/:group */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/consumer-groups/:group */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/consumer-groups/:group */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/consumer-groups/:group */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/consumer-groups/:group */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/consumer-groups/:group */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/consumer-groups/:group */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/consumer-groups/:group */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/consumer-groups/:group */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStatus: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status. */
            200: {
                headers: {
                    /** @description For If-None-Match. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            /** @description If-None-Match names the answer as it is. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/status */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/status */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/status */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/status */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/status */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/status */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/status */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/status */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getEvents: {
        parameters: {
            query?: {
                /** @description Seconds after which the stream ends, but not before its first event. Without it, the stream ends with the token. */
                seconds?: number;
            };
            header?: {
                /** @description The id of the last event: the stream continues behind it where it can. */
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/events */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/events */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/events */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/events */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/events */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/events */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/events */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/events */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPositions: {
        parameters: {
            query?: {
                topic?: string;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By cluster, topic and partition. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetPositionsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/positions */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/positions */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/positions */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/positions */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/positions */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/positions */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/positions */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/positions */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postPositionsReset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    cluster: string;
                    topic: string;
                    partition: number;
                    next_offset: string;
                    /** @description "TOPIC/PARTITION" again, to confirm. */
                    confirm: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The position as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Position"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/positions/reset */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/positions/reset */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/positions/reset */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/positions/reset */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/positions/reset */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/positions/reset */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/positions/reset */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/positions/reset */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/positions/reset */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/positions/reset */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/positions/reset */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/positions/reset */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRoutes: {
        parameters: {
            query?: {
                state?: "by_name" | "by_mapping" | "waiting" | "approved" | "blocked";
                dlq_topic?: string;
                original_topic?: string;
                limit?: number;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By DLQ topic and original topic. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRoutesAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/routes */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/routes */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/routes */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/routes */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/routes */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/routes */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/routes */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/routes */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putRoutesByDlqTopicByOriginalTopic: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                dlqTopic: string;
                originalTopic: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    state: "approved" | "blocked";
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The route as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Route"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/routes/:dlqTopic/:originalTopic */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/routes/:dlqTopic/:originalTopic */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/routes/:dlqTopic/:originalTopic */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/routes/:dlqTopic/:originalTopic */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/routes/:dlqTopic/:originalTopic */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/routes/:dlqTopic/:originalTopic */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/routes/:dlqTopic/:originalTopic */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/routes/:dlqTopic/:originalTopic */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/routes/:dlqTopic/:originalTopic */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/routes/:dlqTopic/:originalTopic */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/routes/:dlqTopic/:originalTopic */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getGroups: {
        parameters: {
            query?: {
                /** @description One or more states, repeated or with commas. */
                state?: ("open" | "snoozed" | "ignored" | "resolved") | ("open" | "snoozed" | "ignored" | "resolved")[];
                /** @description Groups of this DLQ topic. `with`, `consumer_group` and `sort` then look at its messages alone. */
                dlq_topic?: string;
                /** @description Text within the title, in any case. */
                q?: string;
                /** @description By time, the latest first; or by the number of messages, the most first. */
                sort?: "last_seen" | "first_seen" | "dead" | "pending" | "total";
                /** @description Groups in which a message arrived after they were set to resolved. */
                regressed?: "true";
                /** @description Exactly; `none`: groups without an owner. */
                owner?: string;
                /** @description Groups with a message in one of these statuses, repeated or with commas. */
                with?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                /** @description Exactly. */
                error_class?: string;
                /** @description Groups with a message of this consumer group. */
                consumer_group?: string;
                /** @description First seen at this time or later. */
                first_seen_from?: string;
                /** @description These groups, repeated or with commas, 100 at most. */
                ids?: string | string[];
                trend?: "true" | "false";
                limit?: number;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    /** @description For If-None-Match. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetGroupsAnswer"];
                };
            };
            /** @description If-None-Match names the answer as it is. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/groups */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/groups */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/groups */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/groups */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/groups */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/groups */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/groups */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/groups */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchGroups: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ids: string[];
                    /** @enum {string} */
                    state?: "open" | "snoozed" | "ignored" | "resolved";
                    /**
                     * Format: date-time
                     * @description With the state snoozed, and only then.
                     */
                    snoozed_until?: string;
                    dlq_topic?: string;
                    owner?: string | null;
                    note?: string | null;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The groups as they are now, in the order of their ids. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatchGroupsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/groups */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/groups */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/groups */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/groups */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/groups */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/groups */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/groups */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/groups */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/groups */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/groups */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/groups */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/groups */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getGroupsById: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The group. */
            200: {
                headers: {
                    /** @description Of what people say about the group, for If-Match of PATCH. Its counts do not change it. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorGroup"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/groups/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/groups/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/groups/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/groups/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/groups/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/groups/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/groups/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/groups/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/groups/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchGroupsById: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    state?: "open" | "snoozed" | "ignored" | "resolved";
                    /**
                     * Format: date-time
                     * @description With the state snoozed, and only then.
                     */
                    snoozed_until?: string;
                    dlq_topic?: string;
                    owner?: string | null;
                    note?: string | null;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The group as it is now. */
            200: {
                headers: {
                    /** @description As it is now. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorGroup"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/groups/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/groups/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/groups/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/groups/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/groups/:id */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/groups/:id */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/groups/:id */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/groups/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/groups/:id */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/groups/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/groups/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/groups/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/groups/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postGroupsByIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    original_topic?: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The original topics for which it is resumed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostGroupsByIdResumeAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/groups/:id/resume */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/groups/:id/resume */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/groups/:id/resume */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/groups/:id/resume */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/groups/:id/resume */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/groups/:id/resume */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/groups/:id/resume */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/groups/:id/resume */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/groups/:id/resume */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/groups/:id/resume */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/groups/:id/resume */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/groups/:id/resume */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/groups/:id/resume */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPolicies: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetPoliciesAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/policies */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/policies */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/policies */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/policies */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/policies */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/policies */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/policies */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/policies */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPoliciesByPattern: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pattern: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The policy. */
            200: {
                headers: {
                    /** @description For If-Match of PUT and DELETE. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetPoliciesByPatternAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/policies/:pattern */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/policies/:pattern */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/policies/:pattern */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/policies/:pattern */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/policies/:pattern */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/policies/:pattern */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/policies/:pattern */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/policies/:pattern */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/policies/:pattern */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putPoliciesByPattern: {
        parameters: {
            query?: {
                dry_run?: "true" | "false";
                reason?: string;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
                /** @description `*`: only a new policy; 412 where there is one */
                "if-none-match"?: "*";
            };
            path: {
                pattern: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    auto_retry?: (boolean | ("true" | "false")) | null;
                    max_retries?: (number | string) | null;
                    backoff?: ("exponential" | "fixed" | "list") | null;
                    initial_delay?: (number | string) | null;
                    multiplier?: (number | string) | null;
                    max_delay?: (number | string) | null;
                    backoff_list?: ((number | string)[] | string | unknown[]) | null;
                    run_every?: (number | string | 0) | null;
                    run_limit?: (number | string) | null;
                    rate_per_second?: (number | string) | null;
                    max_in_flight?: (number | string) | null;
                    paused?: (boolean | ("true" | "false")) | null;
                    redirect_topic?: string | null;
                    ordering?: ("none" | "per-key") | null;
                    timestamp?: ("keep" | "now") | null;
                    weight?: (number | string) | null;
                    payload?: ("stored" | "derived" | "auto") | null;
                    record?: ("dlq" | "origin" | "origin-if-available") | null;
                    scrub?: (string | string[]) | null;
                    refailure_threshold?: (number | string) | null;
                    refailure_share?: (number | string) | null;
                    refailure_window?: (number | string) | null;
                    staleness?: ("ignore" | "warn" | "hold") | null;
                    for_group_header?: (boolean | ("true" | "false")) | null;
                    verdict_group?: string | null;
                    verdict_horizon?: (number | string | 0) | null;
                    auto_resolve?: (number | string | 0) | null;
                    retention?: (number | string) | null;
                    delivery?: ("republish" | "pull") | null;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The policy as it is now, or would be. */
            200: {
                headers: {
                    /** @description Of the policy as it is now; absent with `dry_run`. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetPoliciesByPatternAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/policies/:pattern */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/policies/:pattern */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/policies/:pattern */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/policies/:pattern */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/policies/:pattern */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/policies/:pattern */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/policies/:pattern */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/policies/:pattern */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/policies/:pattern */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/policies/:pattern */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/policies/:pattern */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/policies/:pattern */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deletePoliciesByPattern: {
        parameters: {
            query?: {
                reason?: string;
            };
            header?: {
                /** @description The ETag that it was read with, or `*`: 412 where it has changed since */
                "if-match"?: string;
            };
            path: {
                pattern: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletePoliciesByPatternAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/policies/:pattern */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/policies/:pattern */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/policies/:pattern */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/policies/:pattern */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/policies/:pattern */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PRECONDITION_FAILED, of /api/v1/policies/:pattern */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/policies/:pattern */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/policies/:pattern */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/policies/:pattern */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/policies/:pattern */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/policies/:pattern */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/policies/:pattern */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/policies/:pattern */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postSchemasByNumberRefresh: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                number: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description It will be asked for. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostSchemasByNumberRefreshAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/schemas/:number/refresh */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/schemas/:number/refresh */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/schemas/:number/refresh */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/schemas/:number/refresh */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/schemas/:number/refresh */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/schemas/:number/refresh */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/schemas/:number/refresh */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/schemas/:number/refresh */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/schemas/:number/refresh */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/schemas/:number/refresh */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/schemas/:number/refresh */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/schemas/:number/refresh */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getNotificationsEvents: {
        parameters: {
            query?: {
                type?: "group.new" | "group.regressed" | "group.burst" | "group.paused" | "group.resumed" | "dead.threshold" | "loss.near" | "loss.happened" | "run.finished" | "run.failed" | "run.paused" | "sent.unread" | "service.silent" | "topic.found" | "delivery.dead";
                /** @description Only conditions that last. */
                open?: "true";
                /** @description Only those from before this time. */
                before?: string;
                limit?: number;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetNotificationsEventsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/notifications/events */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/notifications/events */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/notifications/events */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/notifications/events */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/notifications/events */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/notifications/events */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/notifications/events */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/notifications/events */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getChannels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetChannelsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/channels */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/channels */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/channels */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/channels */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/channels */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/channels */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/channels */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/channels */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postChannelsByNameTest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description A retrier will send it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PostChannelsByNameTestAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/channels/:name/test */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/channels/:name/test */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/channels/:name/test */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/channels/:name/test */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/channels/:name/test */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/channels/:name/test */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/channels/:name/test */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/channels/:name/test */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/channels/:name/test */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/channels/:name/test */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/channels/:name/test */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/channels/:name/test */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDeliveries: {
        parameters: {
            query?: {
                state?: "waiting" | "delivered" | "dead";
                /** @description Only those from before this time. */
                before?: string;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page; of the last 30 days. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetDeliveriesAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/deliveries */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/deliveries */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/deliveries */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/deliveries */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/deliveries */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/deliveries */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/deliveries */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/deliveries */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDeliveriesByIdRetry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description A retrier will send it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationDelivery"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/deliveries/:id/retry */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/deliveries/:id/retry */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/deliveries/:id/retry */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/deliveries/:id/retry */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/deliveries/:id/retry */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/deliveries/:id/retry */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/deliveries/:id/retry */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/deliveries/:id/retry */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/deliveries/:id/retry */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/deliveries/:id/retry */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/deliveries/:id/retry */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/deliveries/:id/retry */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getNotificationsRoutes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetNotificationsRoutesAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/notifications/routes */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/notifications/routes */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/notifications/routes */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/notifications/routes */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/notifications/routes */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/notifications/routes */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/notifications/routes */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/notifications/routes */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putNotificationsRoutesByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    channel: string;
                    /** @default [] */
                    types?: ("group.new" | "group.regressed" | "group.burst" | "group.paused" | "group.resumed" | "dead.threshold" | "loss.near" | "loss.happened" | "run.finished" | "run.failed" | "run.paused" | "sent.unread" | "service.silent" | "topic.found" | "delivery.dead")[];
                    /** @default [] */
                    topics?: string[];
                    /** @default [] */
                    owners?: string[];
                    /**
                     * @default info
                     * @enum {string}
                     */
                    min_severity?: "info" | "warning" | "critical";
                    /** @default 5m */
                    digest?: number | string;
                    /** @default 4h */
                    repeat_every?: number | string;
                    /** @default null */
                    quiet?: string | null;
                    /** @default null */
                    muted_until?: string | null;
                    /** @default null */
                    dead_threshold?: number | null;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The route as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationRoute"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/notifications/routes/:name */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/notifications/routes/:name */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/notifications/routes/:name */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/notifications/routes/:name */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/notifications/routes/:name */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/notifications/routes/:name */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/notifications/routes/:name */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/notifications/routes/:name */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/notifications/routes/:name */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/notifications/routes/:name */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/notifications/routes/:name */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteNotificationsRoutesByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description It is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/notifications/routes/:name */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/notifications/routes/:name */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/notifications/routes/:name */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/notifications/routes/:name */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/notifications/routes/:name */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/notifications/routes/:name */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/notifications/routes/:name */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/notifications/routes/:name */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/notifications/routes/:name */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/notifications/routes/:name */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/notifications/routes/:name */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/notifications/routes/:name */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAudit: {
        parameters: {
            query?: {
                actor?: string;
                action?: string;
                target_type?: string;
                target_id?: string;
                /** @description The original topic or the DLQ topic, exactly. */
                topic?: string;
                /** @description Text within the reason, in any case. */
                q?: string;
                /** @description With `target_type` group or run and a `target_id`, and nothing else: also the changes of its messages, and the runs over it. */
                related?: "true" | "false";
                from?: string;
                to?: string;
                limit?: number;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAuditAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/audit */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/audit */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/audit */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/audit */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/audit */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/audit */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/audit */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/audit */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getReads: {
        parameters: {
            query?: {
                actor?: string;
                /** @description Reads that showed this message. */
                message_id?: string;
                from?: string;
                to?: string;
                limit?: number;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetReadsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/reads */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/reads */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/reads */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/reads */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/reads */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/reads */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/reads */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/reads */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The one whose token or session the request has. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/me */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/me */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/me */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/me */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/me */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/me */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/me */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/me */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDlqStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DLQStatus"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /dlq-status */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /dlq-status */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /dlq-status */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /dlq-status */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /dlq-status */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /dlq-status */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /dlq-status */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /dlq-status */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteChannelByChannelIdConsumerByConsumerIdDlq: {
        parameters: {
            query?: never;
            header?: {
                /** @description The token of the channel; both instead of a bearer token. */
                "x-broker-channel-token"?: string;
                /** @description The token of the consumer; both instead of a bearer token. */
                "x-broker-consumer-token"?: string;
            };
            path: {
                channelId: string;
                consumerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many were deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteChannelByChannelIdConsumerByConsumerIdDlqAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /channel/:channelId/consumer/:consumerId/dlq */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /channel/:channelId/consumer/:consumerId/dlq */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /channel/:channelId/consumer/:consumerId/dlq */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /channel/:channelId/consumer/:consumerId/dlq */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /channel/:channelId/consumer/:consumerId/dlq */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /channel/:channelId/consumer/:consumerId/dlq */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /channel/:channelId/consumer/:consumerId/dlq */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /channel/:channelId/consumer/:consumerId/dlq */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /channel/:channelId/consumer/:consumerId/dlq */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /channel/:channelId/consumer/:consumerId/dlq */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /channel/:channelId/consumer/:consumerId/dlq */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteChannelByChannelIdConsumerByConsumerIdJobByJobId: {
        parameters: {
            query?: never;
            header?: {
                /** @description The token of the channel; both instead of a bearer token. */
                "x-broker-channel-token"?: string;
                /** @description The token of the consumer; both instead of a bearer token. */
                "x-broker-consumer-token"?: string;
            };
            path: {
                channelId: string;
                consumerId: string;
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteChannelByChannelIdConsumerByConsumerIdDlqAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /channel/:channelId/consumer/:consumerId/job/:jobId */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRuns: {
        parameters: {
            query?: {
                page?: number;
                page_size?: number;
                /** @description One or more, repeated or with commas. */
                status?: ("queued" | "running" | "paused" | "cancelling" | "completed" | "cancelled" | "failed") | ("queued" | "running" | "paused" | "cancelling" | "completed" | "cancelled" | "failed")[];
                kind?: "retry" | "redirect" | "dead" | "revive" | "delete" | "archive" | "restore" | "purge" | "edit" | "erase" | "origin";
                /** @description Who created it. */
                actor?: string;
                target_topic?: string;
                /** @description Runs over this error group. */
                group_id?: string;
                cursor?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    /** @description For If-None-Match. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRunsAnswer"];
                };
            };
            /** @description If-None-Match names the answer as it is. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postRuns: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: {
                /** @description Any text that is new for each thing to make. Asking again with it within 7 days makes nothing more. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    kind: "retry" | "redirect" | "dead" | "revive" | "delete" | "archive" | "restore" | "purge" | "edit" | "erase" | "origin";
                    selection: {
                        filter?: {
                            /** @description One or more statuses, repeated or with commas. */
                            status?: ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD") | ("PENDING" | "RETRYING" | "RESOLVED" | "DEAD")[];
                            /** @description A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names. */
                            topic?: string;
                            /** @description The consumer group that failed. */
                            consumer_group?: string;
                            /** @description The class of the error, exactly. */
                            error_class?: string;
                            /**
                             * Format: uuid
                             * @description The error group.
                             */
                            group_id?: string;
                            /** @description The partition of the original record. */
                            partition?: number;
                            /** @description The first offset of the original record. */
                            offset_from?: number | string;
                            /** @description The last offset of the original record. */
                            offset_to?: number | string;
                            /** @description The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are. */
                            key?: string;
                            /** @description Created at this time or later. */
                            from?: string;
                            /** @description Created before this time. */
                            to?: string;
                            /** @description Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts. */
                            arrived_from?: string;
                            /** @description Arrived before this time, by the time of its record. */
                            arrived_to?: string;
                            /** @description Failed last at this time or later. */
                            failed_from?: string;
                            /** @description Failed last before this time. */
                            failed_to?: string;
                            /** @description Attempts, at least. */
                            retry_count_min?: number;
                            /** @description Attempts, at most. */
                            retry_count_max?: number;
                            /** @description Text within the error's message or class, in any case. */
                            q?: string;
                            /** @description JSON that the payload contains, such as {"order_id":"123"}. */
                            payload?: string | (Record<string, never> | unknown[]);
                            /** @description Search the archive instead of the live messages. */
                            archived?: boolean;
                        };
                        ids?: string[];
                        group?: string;
                        /** @description The id of a run: its messages that were sent and failed again. */
                        failed_again_in?: string;
                        /** @description For kind "erase": all messages of these record keys, live and archived, also former keys. */
                        keys?: ({
                            text: string;
                        } | {
                            base64: string;
                        } | {
                            json: unknown;
                        })[];
                        /** @description With keys: original topics. */
                        topics?: string[];
                        /** @description The id of a run of kind dead or archive: what it changed, to undo that. */
                        changed_in?: string;
                    };
                    /** @default false */
                    all?: boolean;
                    expect_count?: number;
                    /** @default 0 */
                    expect_tolerance?: number | string;
                    /** @default null */
                    rate_per_second?: number | null;
                    /** @default null */
                    canary?: {
                        /** @default 1 */
                        first?: number;
                        /** @default 0.01 */
                        then?: number | string;
                        /** @default 60s */
                        wait?: string;
                        /** @default 0.05 */
                        max_refailure?: number | string;
                    } | null;
                    /**
                     * @default continue
                     * @enum {string}
                     */
                    on_refailure?: "continue" | "pause" | "cancel";
                    /** @default 0.05 */
                    max_refailure?: number | string;
                    /**
                     * @description With kind retry or redirect: nothing more is sent to a topic while a consumer group that failed there has more records than this to read.
                     * @default null
                     */
                    max_lag?: number | null;
                    /**
                     * @description With kind retry or redirect: also sends what a policy with "staleness": "hold" would hold, because it is superseded or not known to be fresh.
                     * @enum {string}
                     */
                    staleness?: "send";
                    /**
                     * @description May hold `{topic}` and `{group}`: the original topic and the consumer group of each message.
                     * @default null
                     */
                    target_topic?: string | null;
                    /** @description With kind retry or redirect, each message is changed as it is taken, so a canary tries the change. */
                    patch?: ({
                        /** @constant */
                        op: "add";
                        path: string;
                        value: unknown;
                    } | {
                        /** @constant */
                        op: "remove";
                        path: string;
                    } | {
                        /** @constant */
                        op: "replace";
                        path: string;
                        value: unknown;
                    } | {
                        /** @constant */
                        op: "move";
                        from: string;
                        path: string;
                    } | {
                        /** @constant */
                        op: "copy";
                        from: string;
                        path: string;
                    } | {
                        /** @constant */
                        op: "test";
                        path: string;
                        value: unknown;
                    })[];
                    /**
                     * @description With kind retry or redirect: sends DEAD messages too, whatever their budget. Needs a reason.
                     * @default false
                     */
                    force?: boolean;
                    /**
                     * @description Of a run that erases: the messages stay as empty rows, or are deleted.
                     * @enum {string}
                     */
                    mode?: "contents" | "rows";
                    /**
                     * @description With kind origin: an original that is proved and differs takes the place of its copy, as an edit.
                     * @default false
                     */
                    adopt?: boolean;
                    reason?: string;
                    /** @default false */
                    dry_run?: boolean;
                };
            };
        };
        responses: {
            /** @description The preview of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunSurvey"];
                };
            };
            /** @description The run. */
            202: {
                headers: {
                    /** @description Where to look after it. */
                    Location?: string;
                    /** @description `true` where an earlier request has made it. */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/runs */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/runs */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/runs */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/runs */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE or SYS_DLQ_KAFKA_UNAVAILABLE, of /api/v1/runs */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRunsById: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchRunsById: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    rate_per_second: number | null;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/runs/:id */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/runs/:id */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/runs/:id */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/runs/:id */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRunsByIdProof: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The proof. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id/proof */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id/proof */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id/proof */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id/proof */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/runs/:id/proof */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id/proof */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id/proof */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id/proof */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id/proof */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id/proof */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRunsByIdItems: {
        parameters: {
            query?: {
                outcome?: "waiting" | "resolved" | "failed" | "failed_again" | "skipped";
                verdict?: "sent" | "passed" | "consumed" | "confirmed" | "came_back" | "skipped" | "expired" | "unknown";
                after?: string;
                before?: string;
                show?: "message";
                limit?: number;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRunsByIdItemsAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id/items */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id/items */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id/items */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id/items */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id/items */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id/items */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id/items */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id/items */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id/items */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRunsByIdEvents: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id/events */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id/events */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id/events */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id/events */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id/events */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id/events */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id/events */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id/events */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id/events */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postRunsByIdPause: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id/pause */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id/pause */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id/pause */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id/pause */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/runs/:id/pause */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/runs/:id/pause */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/runs/:id/pause */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id/pause */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/runs/:id/pause */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id/pause */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id/pause */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id/pause */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id/pause */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postRunsByIdResume: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id/resume */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id/resume */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id/resume */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id/resume */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/runs/:id/resume */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/runs/:id/resume */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/runs/:id/resume */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id/resume */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/runs/:id/resume */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id/resume */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id/resume */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id/resume */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id/resume */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postRunsByIdCancel: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/runs/:id/cancel */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/runs/:id/cancel */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/runs/:id/cancel */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/runs/:id/cancel */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/runs/:id/cancel */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/runs/:id/cancel */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/runs/:id/cancel */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/runs/:id/cancel */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/runs/:id/cancel */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/runs/:id/cancel */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/runs/:id/cancel */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/runs/:id/cancel */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/runs/:id/cancel */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSagas: {
        parameters: {
            query?: {
                page?: number;
                page_size?: number;
                workflow_name?: string;
                status?: "STARTED" | "RUNNING" | "COMPLETED" | "COMPENSATING" | "FAILED" | "CANCELLED";
                correlation_id?: string;
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSagasAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/sagas */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/sagas */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/sagas */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/sagas */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/sagas */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/sagas */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/sagas */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/sagas */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSagasById: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
                /** @description With `unmask`: why, for the record; required where `audit.unmask_reason` says so. */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The saga, its steps in order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSagasByIdAnswer"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/sagas/:id */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/sagas/:id */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/sagas/:id */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/sagas/:id */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/sagas/:id */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/sagas/:id */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/sagas/:id */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/sagas/:id */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/sagas/:id */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postSagasByIdCancel: {
        parameters: {
            query?: {
                /** @description true: without masks. For tokens with `payloads: full`; what is shown so is recorded. */
                unmask?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The saga compensates its steps. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Saga"];
                };
            };
            /** @description SYS_DLQ_VALIDATION_ERROR, of /api/v1/sagas/:id/cancel */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAUTHENTICATED, of /api/v1/sagas/:id/cancel */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_FORBIDDEN, of /api/v1/sagas/:id/cancel */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_NOT_FOUND, of /api/v1/sagas/:id/cancel */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_REQUEST_TIMEOUT, of /api/v1/sagas/:id/cancel */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_CONFLICT, of /api/v1/sagas/:id/cancel */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_PAYLOAD_TOO_LARGE, of /api/v1/sagas/:id/cancel */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_URI_TOO_LONG, of /api/v1/sagas/:id/cancel */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNSUPPORTED_MEDIA_TYPE, of /api/v1/sagas/:id/cancel */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_TOO_MANY_REQUESTS, of /api/v1/sagas/:id/cancel */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_HEADERS_TOO_LARGE, of /api/v1/sagas/:id/cancel */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_INTERNAL_ERROR, of /api/v1/sagas/:id/cancel */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description SYS_DLQ_UNAVAILABLE, of /api/v1/sagas/:id/cancel */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
